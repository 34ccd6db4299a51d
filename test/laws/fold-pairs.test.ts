import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { MediaPart, Message, Part } from '../../src/canonical/message.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { Candidate, CanonicalResponse } from '../../src/canonical/response.ts'
import { parseObject } from '../../src/kit/json/json.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { attempt, pairs, wiresOf } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { everyIndex } from '../support/cross.ts'
import { runs } from '../support/runs.ts'

describe.each(pairs)('$name', ({ from, to }) => {
  const body = wiresOf(from).response.map(wire => attempt(() => from.decodeResponse(wire).value))
  const { fieldNames } = from

  test('collects a translated stream to the same response as the complete translation', () => {
    fc.assert(
      fc.property(body, value => {
        fc.pre(value !== undefined && isCommon(value) && !gapIn(value, to.name))
        const whole = attempt(() => to.encodeResponse(value, { fieldNames }).wire)
        // Arguments may hold `__proto__`, which no decoder reads.
        fc.pre(whole !== undefined && attempt(() => to.decodeResponse(whole)) !== undefined)
        const { response } = collect(
          decodeStream(to, encodeStream(to, explode(value), { fieldNames }).wires),
        )
        // Both as a reader of this protocol would write them.
        const again = (wire: unknown) => {
          const { source: _, ...read } = to.decodeResponse(wire).value
          return canonicalJson(to.encodeResponse(read).wire)
        }
        expect(again(to.encodeResponse(response).wire)).toBe(again(whole))
      }),
      runs(1000),
    )
  })

  test('makes the same notes for a stream as for the complete response', () => {
    fc.assert(
      fc.property(body, value => {
        fc.pre(value !== undefined && isCommon(value))
        const whole = attempt(() => to.encodeResponse(value, { fieldNames }).notes)
        fc.pre(whole !== undefined)
        const { notes } = encodeStream(to, explode(value), { fieldNames })
        expect(reported(notes)).toEqual(reported(whole))
      }),
      runs(1000),
    )
  })
})

/**
 * Responses of servers that did not fail: candidates in order and finished, by the assistant,
 * complete in all parts, and no empty part.
 */
function isCommon({ id, model, error, candidates }: CanonicalResponse): boolean {
  const isResponse = ({ finish, index, messages }: Candidate, place: number) =>
    finish &&
    finish.reason !== 'error' &&
    index === place &&
    messages.every(({ role, parts }) => role === 'assistant' && parts.every(isComplete))
  return (
    !error && id !== '' && model !== '' && candidates.length > 0 && candidates.every(isResponse)
  )
}

function isComplete(part: Part): boolean {
  if (part.type === 'text' && part.text === '' && part.citations) return false
  if (part.type === 'tool-result' || part.type === 'search-result') return false
  if (part.type === 'reasoning')
    return part.segments.some(({ text }) => text) || Boolean(part.signature?.value)
  return (
    part.type !== 'tool-call' ||
    (part.name !== '' &&
      (part.kind === 'freeform' || parseObject(part.input || '{}') !== undefined))
  )
}

/**
 * What a stream cannot express as a complete response does. `of`: applied to a candidate's parts,
 * in order, and their messages.
 */
type StreamGap = {
  to?: ProtocolName
  why: string
  of(parts: readonly Part[], messages: readonly Message[]): boolean
}

const isEmpty = ({ source, transcript }: MediaPart) =>
  !transcript && source.type === 'base64' && source.data === ''

const reasoningOf = (parts: readonly Part[]) => parts.filter(part => part.type === 'reasoning')

const streamGaps: StreamGap[] = [
  {
    why: 'a text, or refusal, has begun before it is known that it stays empty',
    of: parts =>
      parts.some(part => (part.type === 'text' || part.type === 'refusal') && part.text === ''),
  },
  {
    to: 'chat-completions',
    why: 'an empty recording has no delta that could begin it',
    of: parts =>
      parts.some(part => part.type === 'media' && part.kind === 'audio' && isEmpty(part)),
  },
  {
    to: 'chat-completions',
    why: 'the signature of a text comes last',
    of: parts => parts.slice(0, -1).some(part => part.type === 'text' && part.signature),
  },
  ...(['messages', 'converse'] as const).map(to => ({
    to,
    why: 'an emitted text cannot be cut where a citation begins',
    of: (parts: readonly Part[]) =>
      parts.some(part => part.type === 'text' && part.citations !== undefined),
  })),
  {
    to: 'chat-completions',
    why: 'deltas join reasoning, and the details that separate its parts come last',
    of: parts =>
      reasoningOf(parts).length > 1 ||
      reasoningOf(parts).some(({ segments }) => segments.length > 1),
  },
  {
    to: 'chat-completions',
    why: 'only the signature of a text, which comes last, shows that unsigned reasoning is a summary',
    of: parts =>
      reasoningOf(parts).some(({ signature }) => !signature) &&
      parts.some(part => part.type === 'text' && part.signature),
  },
  {
    to: 'chat-completions',
    why: 'reasoning without a text is only in the details, which come last',
    of: parts =>
      reasoningOf(parts).some(({ segments }) => segments.every(({ text }) => text === '')),
  },
  {
    to: 'chat-completions',
    why: 'deltas run texts together, and where each ends comes last',
    of: parts =>
      parts.filter(({ type }) => type === 'text').length > 1 &&
      (reasoningOf(parts).length > 0 || parts.some(({ signature }) => signature)),
  },
  {
    to: 'chat-completions',
    why: 'the phase of a text comes after the text',
    of: (parts, messages) =>
      messages.some(({ phase }) => phase) || parts.some(part => part.type === 'text' && part.phase),
  },
]

/** Why this response does not count for the property. */
const gapIn = ({ candidates }: CanonicalResponse, to: string): string | undefined =>
  streamGaps.find(
    rule =>
      (rule.to === undefined || rule.to === to) &&
      candidates.some(({ messages }) =>
        rule.of(
          messages.flatMap(({ parts }) => parts),
          messages,
        ),
      ),
  )?.why

/** Synthesized values have other paths in a stream. */
const reported = (notes: Note[]) =>
  [
    ...new Set(
      notes
        .filter(({ code }) => !onlyOneWay.has(code))
        .map(({ code, kind, path }) =>
          kind === 'synthesized' ? code : `${code} ${everyIndex(path)}`,
        ),
    ),
  ].sort()

/** What only one of the two ways does. */
const onlyOneWay = new Map([
  ['usage.late', 'a stream that begins with counts begins before they are known'],
  ['citation.span', 'an emitted text cannot be cut where a citation begins'],
])
