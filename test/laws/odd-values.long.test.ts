import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { TranslationError } from '../../src/errors.ts'
import type { FieldNames, Protocol } from '../../src/protocol.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { all, pairs } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  type Crossed,
  covers,
  cross,
  everyIndex,
  type Kind,
  kinds,
  parentOf,
} from '../support/cross.ts'
import { saysNothing } from '../support/loss.ts'
import { type OddValue, withOddValues } from '../support/odd-values.ts'
import { requests } from '../support/rich-requests.ts'
import { responses } from '../support/rich-responses.ts'
import { written } from '../support/written.ts'

type Protocols = { from: Protocol; to: Protocol }

const bodiesOf = (kind: Kind, { name }: Protocol) =>
  (kind === 'request' ? requests : responses)[name as ProtocolName]

const decode = (kind: Kind, protocol: Protocol, body: unknown) =>
  kind === 'request' ? protocol.decodeRequest(body) : protocol.decodeResponse(body)

function encode(kind: Kind, { from, to }: Protocols, body: unknown): unknown {
  const fieldNamesOf = ({ fieldNames }: { fieldNames?: FieldNames }) => ({
    ...from.fieldNames,
    ...fieldNames,
  })
  if (kind === 'response') {
    const decoded = from.decodeResponse(body)
    return to.encodeResponse(decoded.value, { fieldNames: fieldNamesOf(decoded) })
  }
  const decoded = from.decodeRequest(body)
  return written(decoded.value, to, { fieldNames: fieldNamesOf(decoded), onUnresolvable: 'note' })
}

/** For all pairs of a source, because refusing takes longer than reading. */
const readable = new Map<string, { body: unknown; oddBodies: OddValue[] }[]>()

function readableOf(kind: Kind, from: Protocol) {
  const key = `${kind} ${from.name}`
  const known =
    readable.get(key) ??
    bodiesOf(kind, from).map(body => ({
      body,
      oddBodies: withOddValues(body).filter(odd => !refusal(() => decode(kind, from, odd.body))),
    }))
  readable.set(key, known)
  return known
}

const shown = ({ path, before, after }: OddValue) => `${path} ${short(before)} → ${short(after)}`
const short = (value: unknown) => String(JSON.stringify(value)).slice(0, 60)

function refusal(act: () => unknown): TranslationError | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    if (TranslationError.is(error)) return error
    throw error
  }
}

/**
 * The fault is at the place, inside of it or in what holds it: of two keys that do not fit, it may
 * be either.
 */
const leadsTo = (error: string, place: string) => `${error}/`.startsWith(`${parentOf(place)}/`)

describe.each(all)('$name: a value that does not belong there', protocol => {
  test.each(kinds)('is read in a %s and comes back, or is refused at its path', kind => {
    const faults = bodiesOf(kind, protocol).flatMap(body =>
      withOddValues(body).flatMap(odd => {
        const error = refusal(() => decode(kind, protocol, odd.body))
        if (error)
          return error.code === 'malformed' && leadsTo(error.path, odd.path)
            ? []
            : [`refused at ${error.path}: ${shown(odd)}`]
        const again = cross(kind, odd.body, protocol, protocol)
        return !again || isDeepStrictEqual(again.wire, odd.body) ? [] : [`changed: ${shown(odd)}`]
      }),
    )
    expect(faults).toEqual([])
  })
})

describe.each(pairs)('$name: a value that does not belong there', pair => {
  test.each(kinds)('of a %s is carried, noted, or refused at its path', kind => {
    const faults = readableOf(kind, pair.from).flatMap(({ body, oddBodies }) => {
      const before = cross(kind, body, pair.from, pair.to)
      if (!before) throw new Error('a rich body has to get across')
      return oddBodies.flatMap(odd => {
        const after = cross(kind, odd.body, pair.from, pair.to)
        const fault = after
          ? faultOf(kind, odd, { before, after, ...pair })
          : misledBy(odd, kind, pair)
        return fault === undefined ? [] : [`${fault}: ${shown(odd)}`]
      })
    })
    expect(faults).toEqual([])
  })
})

/** What the refusal reports wrongly. A response without its end is refused for that. */
function misledBy(odd: OddValue, kind: Kind, pair: Protocols): string | undefined {
  const error = refusal(() => encode(kind, pair, odd.body))
  return !error || error.code === 'truncated' || leadsTo(error.path, odd.path)
    ? undefined
    : `refused at ${error.path}`
}

/**
 * The other wire has a field for the same, which holds the value of the upstream: another name of a
 * tool, time or probability helps no client.
 */
const isPassedOn = /\/(name|logprob|logProbability|created_at)$|\/audio\/data$/

/**
 * By rule these have nothing that another protocol could keep, or not unchanged; each row names the
 * rule.
 */
const withoutMeaning = [
  // "No limit" and "off", on some servers: as good as nothing.
  /^(chat-completions|responses|generate-content) → .* request .*\/(max_tokens|max_completion_tokens|max_output_tokens|maxOutputTokens) -1$/,
  /request .*\/(top_k|topK) -1$/,
  // Half a character cannot be part of an address, which names the model on that wire.
  /^(.* → (generate-content|converse)|(generate-content|converse) → .*) request \/(model|modelId) "Zq7\\ud800"$/,
  // The role of instructions is not read.
  /^generate-content → .* request \/system_?[iI]nstruction\/role /,
  // The speaker of a response does not matter.
  /^generate-content → .* response \/candidates\/\*\/content\/role /,
  // A time that cannot be read is made up, which is noted, and whole seconds are read.
  /response \/created(_at)? /,
  // It only says which entries belong together.
  /^chat-completions → .*\/reasoning_details\/\*\/index /,
  // Some servers do not add up.
  /^chat-completions → .* response \/usage\/total_tokens 0$/,
]

type Crossing = Protocols & { before: Crossed; after: Crossed }

function faultOf(kind: Kind, odd: OddValue, crossing: Crossing): string | undefined {
  const { before, after, from, to } = crossing
  if (!isJson(after.wire)) return 'no JSON'
  const illegal =
    kind === 'response' && !isPassedOn.test(odd.path)
      ? strictOf(to.name).checkResponse(after.wire)[0]
      : undefined
  if (illegal !== undefined) return `illegal, ${illegal}`
  if (isReported(odd, crossing) || addsNothing(odd.after)) return undefined
  const place = `${from.name} → ${to.name} ${kind} ${everyIndex(odd.path)}`
  if (saysNothing(place) || withoutMeaning.some(rule => rule.test(`${place} ${short(odd.after)}`)))
    return undefined
  if (isDeepStrictEqual([before.wire, before.path], [after.wire, after.path])) return 'silent'
  // Of two booleans the other one is there anyway.
  if (typeof odd.after === 'boolean' || holds(after, odd)) return undefined
  const back = cross(kind, after.wire, to, from, after.path)
  return !back || holds(back, odd) ? undefined : 'lost'
}

/** Is every value one that JSON has? A key without a value is none. */
function isJson(value: unknown): boolean {
  if (typeof value !== 'object' || value === null)
    return value === null || ['string', 'boolean'].includes(typeof value) || Number.isFinite(value)
  return (
    [Object.prototype, Array.prototype].includes(Object.getPrototypeOf(value)) &&
    Object.values(value).every(isJson)
  )
}

function isReported({ path, after: value }: OddValue, { before, after }: Crossing): boolean {
  const inside = ({ notes }: Crossed) =>
    notes.some(note => note.kind !== 'synthesized' && note.path.startsWith(`${path}/`))
  return (
    [before, after].some(({ notes }) => covers(notes, path)) ||
    inside(after) ||
    (isEmpty(value) && inside(before))
  )
}

const isEmpty = (value: unknown) =>
  value == null || value === '' || canonicalJson(value) === '[]' || canonicalJson(value) === '{}'

/** What says nothing cannot be lost. */
const addsNothing = (value: unknown) =>
  isEmpty(value) ||
  (Array.isArray(value) && value.length > 1 && canonicalJson(value.at(-1)) === '{}')

/** Is the value in it, alone or in a text? */
function holds(crossed: Crossed, { after }: OddValue): boolean {
  const text = JSON.stringify(after)
  const bare = typeof after === 'string' ? text.slice(1, -1) : text
  const message = JSON.stringify([crossed.wire, crossed.path])
  return [bare, JSON.stringify(bare).slice(1, -1)].some(spelling => message.includes(spelling))
}
