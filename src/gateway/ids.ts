const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** What a translation is told of the time and given for ids: every answer gets ids of its own. */
export function freshIds(): { now: number; newId: (prefix: string) => string } {
  return { now: Math.floor(Date.now() / 1000), newId }
}

/** Knows the ids that came before: clients take answers with one id for one answer. The oldest are forgotten. */
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

export function newId(prefix: string): string {
  let id = prefix
  if (drawn + idLength > dice.length) {
    crypto.getRandomValues(dice)
    drawn = 0
  }
  for (const end = drawn + idLength; drawn < end; drawn++) id += alphabet[(dice[drawn] ?? 0) % 62]
  return id
}

const idLength = 24
/** Drawn for many ids at once: a draw costs more than all else that is done for one. */
const dice = new Uint8Array(64 * idLength)
let drawn = dice.length
