const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The time and id source for a translation. Ids are different for each response. */
export function freshIds(): { now: number; newId: (prefix: string) => string } {
  return { now: Math.floor(Date.now() / 1000), newId }
}

/**
 * Has this id been seen before? Clients take two responses with one id for the same response. Remembers at least the last 10,000 ids, in
 * two sets: when the younger one is full, the older one is dropped.
 */
export function createRepeats(): (id: string) => boolean {
  let young = new Set<string>()
  let old = new Set<string>()
  return id => {
    if (young.has(id) || old.has(id)) return true
    young.add(id)
    if (young.size === remembered) [young, old] = [new Set(), young]
    return false
  }
}

const remembered = 10_000

/** The prefix and 24 random letters and digits. */
export function newId(prefix: string): string {
  let id = prefix
  if (drawn + idLength > randomBytes.length) {
    crypto.getRandomValues(randomBytes)
    drawn = 0
  }
  for (const end = drawn + idLength; drawn < end; drawn++)
    id += alphabet[(randomBytes[drawn] ?? 0) % 62]
  return id
}

const idLength = 24
/** Random bytes for many ids at once: a call for random bytes is the most expensive part of making an id. */
const randomBytes = new Uint8Array(64 * idLength)
let drawn = randomBytes.length
