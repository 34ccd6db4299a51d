/** The frame of one event; `json` must hold no line break, which JSON.stringify guarantees. */
export function writeFrame(json: string, event?: string): string {
  return event === undefined ? `data: ${json}\n\n` : `event: ${event}\ndata: ${json}\n\n`
}

/** A comment: keeps a connection open and means nothing. */
export const pingComment = ': ping\n\n'

export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const
