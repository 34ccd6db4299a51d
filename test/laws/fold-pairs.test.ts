import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Message, Part } from '../../src/canonical/message.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { Candidate, CanonicalResponse } from '../../src/canonical/response.ts'
import { parseObject } from '../../src/kit/json.ts'
import { attempt, pairs, wiresOf } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { everyIndex } from '../support/cross.ts'
import { runs } from '../support/runs.ts'

describe.each(pairs)('$name', ({ from, to }) => {
  const reply = wiresOf(from).response.map(wire => attempt(() => from.decodeResponse(wire).value))
  const { fieldNames } = from

  test('a reply that is streamed there and collected is the one that is written whole', () => {
    fc.assert(
      fc.property(reply, value => {
        fc.pre(
          value !== undefined &&
            isUsual(value) &&
            value.candidates.every(({ messages }) => messages.every(({ phase, parts }) => !phase && parts.every(isEven) && !isProvenLate(parts))),
        )
        const whole = attempt(() => to.encodeResponse(value, { fieldNames }).wire)
        fc.pre(whole !== undefined)
        const { response } = collect(decodeStream(to, encodeStream(to, explode(value), { fieldNames }).wires))
        expect(canonicalJson(to.encodeResponse(response).wire)).toBe(canonicalJson(whole))
      }),
      runs(1000),
    )
  })

  test('what its stream notes is what is noted of the whole', () => {
    fc.assert(
      fc.property(reply, value => {
        fc.pre(value !== undefined && isUsual(value))
        const whole = attempt(() => to.encodeResponse(value, { fieldNames }).notes)
        fc.pre(whole !== undefined)
        const { notes } = encodeStream(to, explode(value), { fieldNames })
        expect(told(notes)).toEqual(told(whole))
      }),
      runs(1000),
    )
  })
})

/** Replies as servers give them: each answer in its place and with an end, by the assistant, finished in all its parts, and in no part without anything. */
function isUsual({ id, model, error, candidates }: CanonicalResponse): boolean {
  const isAnswer = ({ finish, index, messages, logprobs }: Candidate, place: number) =>
    finish && index === place && !logprobs && messages.every(message => isSaid(message) && message.parts.every(isSound))
  return !error && id !== '' && model !== '' && candidates.length > 0 && candidates.every(isAnswer)
}

/** Streams have no names of messages, and probabilities beside their text alone. */
const isSaid = ({ role, name, status }: Message) => role === 'assistant' && name === undefined && status !== 'in_progress'

function isSound(part: Part): boolean {
  if (part.type === 'text' && part.text === '' && part.citations) return false
  if (part.cache || part.type === 'tool-result' || part.type === 'search-result') return false
  if (part.type === 'reasoning') return part.segments.some(({ text }) => text) || part.signature !== undefined
  return part.type !== 'tool-call' || (part.name !== '' && (part.kind === 'freeform' || parseObject(part.input || '{}') !== undefined))
}

/** What reads alike in both: elsewhere a text is cut where citations begin, and reasoning has been told before its kind, proof and place are. */
function isEven(part: Part): boolean {
  return (part.type === 'text' && !part.citations && !part.phase && part.text !== '') || part.type === 'tool-call'
}

/** Some wires tell the proof of a text at the end of the answer, when it is over for whoever has read on. */
const isProvenLate = (parts: readonly Part[]) => parts.slice(0, -1).some(part => part.type === 'text' && part.signature)

/** What was made up stands elsewhere in a stream. */
const told = (notes: Note[]) =>
  [
    ...new Set(
      notes.filter(({ code }) => !onlyOneWay.has(code)).map(({ code, kind, path }) => (kind === 'synthesized' ? code : `${code} ${everyIndex(path)}`)),
    ),
  ].sort()

/** What only one of the two ways does. */
const onlyOneWay = new Map([
  ['usage.late', 'a stream that begins with counts begins before they are known'],
  ['media.transcript', 'what a recording says is not known when it begins'],
  ['media.unsupported', 'and neither is that nobody tells it'],
  ['citation.span', 'a text that is told already cannot be cut where a citation begins'],
])
