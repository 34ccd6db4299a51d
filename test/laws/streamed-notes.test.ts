import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Note } from '../../src/canonical/note.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { CodecOptions, Protocol } from '../../src/protocol.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { all, attempt, pairs, wiresOf } from '../../src/testing/bodies.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { notedTwice } from '../support/noted-twice.ts'
import { runs } from '../support/runs.ts'
import { decidedByStreams, facts } from '../support/streamed-notes.ts'

/** What changes which notes are made. Each protocol takes its own of them. */
const options = fc.record({
  reasoningField: fc.constantFrom('reasoning_content', 'reasoning', 'details', 'omit'),
  signatures: fc.constantFrom('field', 'id', 'store', 'none'),
  lastSignature: fc.constantFrom('block', 'drop'),
  unsignedReasoning: fc.constantFrom('bare', 'seal'),
})

/** A fact that is noted once has the first of its places, which come in another order. */
const factsIn = (notes: Note[]) =>
  facts(notes)
    .map(fact => fact.replaceAll(/\/\d+(?=\/|$)/g, '/'))
    .sort()

/** Undefined: one of the forms is only an error. */
function factsOf(to: Protocol, value: CanonicalResponse, given: CodecOptions) {
  const { candidates } = value
  if (candidates.length === 0 || candidates.some(({ finish }) => !finish)) return undefined
  const whole = attempt(() => to.encodeResponse(value, given))
  const streamed = encodeStream(to, explode(value), given)
  const received = attempt(() => decodeStream(to, streamed.wires))
  if (!whole || !received || received.some(({ type }) => type === 'error')) return undefined
  return { whole: factsIn(whole.notes), streamed: factsIn(streamed.notes) }
}

const isListed = (to: Protocol, only: 'whole' | 'streamed', fact: string) =>
  decidedByStreams.some(
    one => one.only === only && one.in.includes(to.name) && fact.startsWith(`${one.code} `),
  )

describe.each(pairs)('$name', ({ from, to }) => {
  test('the notes of a stream are those of the complete response', () => {
    fc.assert(
      fc.property(wiresOf(from).response, options, (wire, chosen) => {
        const decoded = attempt(() => from.decodeResponse(wire))
        if (!decoded) return
        const { value, fieldNames } = decoded
        const found = factsOf(to, value, {
          ...chosen,
          fieldNames: { ...from.fieldNames, ...fieldNames },
        } as CodecOptions)
        if (!found) return
        const { whole, streamed } = found
        expect({
          whole: whole.filter(one => !streamed.includes(one) && !isListed(to, 'whole', one)),
          streamed: streamed.filter(one => !whole.includes(one) && !isListed(to, 'streamed', one)),
        }).toEqual({ whole: [], streamed: [] })
      }),
      runs(1000),
    )
  })
})

describe.each(protocolNames)('%s', protocol => {
  test('decides each fact once, but for those that only a stream can decide', () => {
    expect(notedTwice(protocol).filter(({ isListed }) => !isListed)).toEqual([])
  })

  test('needs every such fact that both forms note', () => {
    const noted = notedTwice(protocol).map(({ fact }) => fact.split(' ')[0])
    const listed = decidedByStreams.filter(one => one.in.includes(protocol) && !one.only)
    expect(listed.filter(({ code }) => !noted.includes(code))).toEqual([])
  })
})

const say = (...parts: object[]) =>
  ({
    candidates: [
      {
        index: 0,
        finish: { reason: 'stop' },
        messages: [{ role: 'assistant', origin: 'message', parts }],
      },
    ],
  }) as CanonicalResponse

const kindsIn = ({ candidates }: CanonicalResponse) =>
  candidates.map(({ messages }) =>
    messages.flatMap(({ parts }) => parts.map(({ type, signature }) => [type, signature?.value])),
  )

const signature = { value: 'UVVF', issuer: 'x', form: 'thought' }
const audio = {
  type: 'media',
  kind: 'audio',
  source: { type: 'base64', mime: 'audio/wav', data: 'UklGRg==' },
  at: '/parts/0',
}
const citation = { kind: 'url', title: 't', protocol: 'x', raw: {} }

/** The same for what random responses seldom have. */
describe.each(all)('$name: the notes of a stream are those of the complete response', to => {
  test.each<[string, CanonicalResponse, object?]>([
    ['audio', say(audio)],
    ['audio that is signed', say({ ...audio, signature })],
    ['audio with its words', say({ ...audio, transcript: 'hi', signature })],
    ['a citation without a place', say({ type: 'text', text: 'a', citations: [citation] })],
    [
      'a citation of an empty text',
      say({ type: 'text', text: '', citations: [{ ...citation, url: 'https://e.org/' }] }),
    ],
    [
      'reasoning in details without signatures',
      say({ type: 'reasoning', segments: [{ kind: 'raw', text: 'a' }], signature, at: '/parts/0' }),
      { reasoningField: 'details', signatures: 'none' },
    ],
    [
      'the id of reasoning without a signature',
      say({
        type: 'reasoning',
        segments: [{ kind: 'raw', text: 'a' }],
        id: 'rs_1',
        at: '/parts/0',
      }),
      { signatures: 'none' },
    ],
  ])('%s', (_, value, given = {}) => {
    const found = factsOf(to, value, given as CodecOptions)
    expect(found?.streamed).toEqual(found?.whole)
  })

  test.each([{}, { transcript: 'hi' }])('signed audio leaves what it leaves whole: %o', words => {
    const value = say({ ...audio, ...words, signature })
    const streamed = collect(decodeStream(to, encodeStream(to, explode(value)).wires)).response
    const whole = to.decodeResponse(to.encodeResponse(value).wire).value
    expect(kindsIn(streamed)).toEqual(kindsIn(whole))
  })
})
