const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What a translation is told of the time and given for ids: every answer gets ids of its own. */
export function freshIds(): { now: number; newId: (prefix: string) => string } {
  return { now: Math.floor(Date.now() / 1000), newId }
}

export function newId(prefix: string): string {
  let id = prefix
  for (const byte of crypto.getRandomValues(new Uint8Array(24))) id += alphabet[byte % 62]
  return id
}
