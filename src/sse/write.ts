/** The frame of one event. `json` must not contain line breaks, as `JSON.stringify` guarantees. */
export function writeFrame(json: string, event?: string): string {
  return event === undefined ? `data: ${json}\n\n` : `event: ${event}\ndata: ${json}\n\n`
}

/** A comment, which keeps a connection open and which clients ignore. */
export const pingComment = ': ping\n\n'

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const
