const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** The time and id source for a translation. Ids are different for each response. */
export function freshIds(): { now: number; newId: (prefix: string) => string } {
  return { now: Math.floor(Date.now() / 1000), newId }
}

/**
 * Has this id been seen before? Clients take two responses with one id for the same response.
 * Remembers at least the last 10,000 ids, in two sets: when the younger one is full, the older one
 * is dropped.
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

/** The prefix and random letters and digits. `length`: how many, at most 24. */
export function newId(prefix: string, length = idLength): string {
  if (drawn + length > randomBytes.length) {
    crypto.getRandomValues(randomBytes)
    drawn = 0
  }
  // Letter by letter, a string would be a chain of two strings each, and streams keep their ids.
  const letters: number[] = []
  for (const end = drawn + length; drawn < end; drawn++)
    letters.push(alphabet.charCodeAt((randomBytes[drawn] ?? 0) % 62))
  return prefix + String.fromCharCode(...letters)
}

/**
 * The id of a request. Its digits grow with each request of this process, whatever the clock does:
 * records of one millisecond are listed in the order of their ids. Digits only, because the
 * collation of a database may order letters in another way.
 */
export function newRequestId(): string {
  const now = Date.now()
  if (now > lastMs) [lastMs, inMs] = [now, 0]
  else if (++inMs === mostInMs) [lastMs, inMs] = [lastMs + 1, 0]
  return newId(`req_${lastMs}${String(inMs).padStart(4, '0')}`, 10)
}

const mostInMs = 10_000
let lastMs = 0
let inMs = 0

const idLength = 24
/**
 * Random bytes for many ids at once: a call for random bytes is the most expensive part of making
 * an id.
 */
const randomBytes = new Uint8Array(64 * idLength)
let drawn = randomBytes.length
