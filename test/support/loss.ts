import { unwrapSignature } from '../../src/kit/signatures/envelope.ts'
import { unescaped } from '../../src/kit/text/text.ts'
import type { Protocol } from '../../src/protocol.ts'
import { type Change, changed, changeOf, keysOf, mark } from '../../src/testing/change.ts'
import { canonicalJson, leaves } from '../../src/testing/json.ts'
import { choosesAmongNone, isEmptyEither, lossless } from '../../src/testing/lossless.ts'
import { wordsOf } from '../../src/testing/typical.ts'
import { type Crossed, covers, cross, everyIndex, type Kind, sent } from './cross.ts'

/**
 * What is lost silently when one leaf of a body, chosen by number, is another one. Undefined:
 * nothing, or a note names it. If no note names the leaf, before or after, then the other body
 * changes too, and on the way back the new value turns up where it was not before. So nothing has
 * to be known of where a wire puts things, how it groups them, or how it spells its words: only
 * whether it says them.
 */
export function lossOf(
  kind: Kind,
  wire: unknown,
  pick: number,
  { from, to }: { from: Protocol; to: Protocol },
): string | undefined {
  const change = changeOf(wire, pick, wordsOf)
  return change && lossOfChange(kind, wire, change, { from, to })
}

/** The same of one change. */
export function lossOfChange(
  kind: Kind,
  wire: unknown,
  change: Change,
  { from, to }: { from: Protocol; to: Protocol },
): string | undefined {
  if (saysNothing(`${from.name} → ${to.name} ${kind} ${everyIndex(change.path)}`)) return undefined
  if (isEmptyEither(wire, change)) return undefined
  const other = changed(wire, change)
  const before = cross(kind, wire, from, to)
  const after = before && cross(kind, other, from, to)
  if (after && choosesAmongNone(before.wire, after.wire, change)) return undefined
  if (!after || covers(before.notes, change.path) || covers(after.notes, change.path))
    return undefined
  if (sent(before) === sent(after))
    return canonicalJson(before.notes) === canonicalJson(after.notes)
      ? `silent: ${shown(change)}`
      : undefined
  const back = cross(kind, before.wire, to, from, before.path)
  const backAfter = back && cross(kind, after.wire, to, from, after.path)
  if (!backAfter || lostOnTheWayBack(before, after, back, backAfter)) return undefined
  return hasReturned(change, reported(back), reported(backAfter))
    ? undefined
    : `lost: ${shown(change)}`
}

const reported = ({ wire, path = '' }: Crossed) => [wire, decodeURIComponent(path)]

const shown = ({ path, before, after }: Change) =>
  `${path} ${JSON.stringify(before)} → ${JSON.stringify(after)}`

/** By rule these say nothing that another protocol could keep; each row names the rule. */
const withoutMeaning = [
  ...lossless,
  // The name of an output schema is a label (2.9).
  /→ (messages|generate-content) request \/(response_format\/json_schema|text\/format|outputConfig\/textFormat\/structure\/jsonSchema)\/name$/,
  // Caching by itself is the default of one wire, and requested by marks in the other (2.11).
  /→ (messages|converse) request \/prompt_cache_options\/mode$/,
]

export const saysNothing = (place: string) => withoutMeaning.some(rule => rule.test(place))

/** What has changed in the body between is noted when it is read again. */
function lostOnTheWayBack(
  before: Crossed,
  after: Crossed,
  back: Crossed,
  backAfter: Crossed,
): boolean {
  const [earlier, later] = [before, after].map(
    ({ wire }) => new Map(leaves(wire).map(({ path, value }) => [path, value])),
  )
  if (!earlier || !later) return false
  const moved = [...new Set([...earlier.keys(), ...later.keys()])].filter(
    path => earlier.get(path) !== later.get(path),
  )
  return moved.some(path => covers(back.notes, path) || covers(backAfter.notes, path))
}

/**
 * Marked values stand there that did not stand there before; of a word that may be the default,
 * only something has changed.
 */
function hasReturned({ before, after }: Change, back: unknown, backAfter: unknown): boolean {
  if (typeof before === 'boolean' || (typeof after === 'string' && !after.includes(mark)))
    return canonicalJson(backAfter) !== canonicalJson(back)
  return count(backAfter, after) > count(back, after)
}

/**
 * Leaves that hold the value, alone or inside a text, which may be the text of a JSON value in its
 * turn.
 */
function count(body: unknown, wanted: Change['after']): number {
  const text = String(wanted)
  const inner = text.endsWith('}') || /^data:/i.test(text) ? mark : text
  const spellings = [inner, escaped(inner), escaped(escaped(inner)), ...inBase64(text)]
  return leaves(body).filter(({ path, value }) => {
    if (value === wanted) return true
    const bare = typeof value === 'string' ? (unwrapSignature(value)?.signature.value ?? value) : ''
    return spellings.some(
      spelling => bare.includes(spelling) || keysOf(path).some(key => key.includes(spelling)),
    )
  }).length
}

/** What a data URL writes with percent signs is base64 on other wires. */
function inBase64(text: string): string[] {
  const [, percent] = /^data:[^,;]*,(.*)$/is.exec(text) ?? []
  return percent === undefined ? [] : [Buffer.from(unescaped(percent), 'latin1').toString('base64')]
}

const escaped = (text: string) => JSON.stringify(text).slice(1, -1)
