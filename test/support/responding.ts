/** For clients whose errors show the headers of the response. */
export const retryAfter = (error: unknown) =>
  (error as { headers: Headers }).headers.get('retry-after')

/** A fetch that always returns this response. */
export function responding(body: string, type: string): typeof fetch {
  return async () => new Response(body, { headers: { 'content-type': type } })
}

export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text || '{}')
  } catch {
    return text
  }
}
