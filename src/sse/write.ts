import { escapeLineSeparators } from './line-separators.ts'

/** The frame of one event. `json` must not contain line breaks, as `JSON.stringify` guarantees. */
export function writeFrame(json: string, event?: string, lineEnd = '\n'): string {
  const data = `data: ${escapeLineSeparators(json)}${lineEnd}${lineEnd}`
  return event === undefined ? data : `event: ${event}${lineEnd}${data}`
}

/** A comment, which keeps a connection open and which clients ignore. */
export const pingComment = ': ping\n\n'

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const
