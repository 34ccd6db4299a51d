import { describe, expect, test } from 'vitest'
import { createBridge } from '../../src/bridge/index.ts'
import { startLeaks, stepLeaks } from '../../src/bridge/leaks/events.ts'
import { bridgeReport } from '../../src/bridge/notes.ts'
import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part } from '../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse, Finish } from '../../src/canonical/response.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { translateRequest } from '../../src/translate/request.ts'
import { translateResponse } from '../../src/translate/response.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'

const all: readonly Protocol[] = Object.values(protocols)
const pairs = all.flatMap(client =>
  all.map(upstream => ({ name: `${client.name} ← ${upstream.name}`, client, upstream })),
)

const bridge = createBridge({ capabilities: { leaksToolCalls: true } })
const parameters = { type: 'object', properties: { city: { type: 'string' } } }
/** The second name is too long for every protocol, so that requests rename it. */
const long = `${'deep_'.repeat(26)}read`
const request: CanonicalRequest = {
  model: 'm',
  messages: [
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Weather in Rome?' }] },
  ],
  tools: ['weather', long].map(name => ({ type: 'function', name, parameters })),
  maxOutputTokens: 100,
  stream: { enabled: true, includeUsage: true },
}

function contextOf({ client, upstream }: { client: Protocol; upstream: Protocol }) {
  const { wire } = client.encodeRequest(request, { now: 0 })
  const path = client.address.target({ operation: 'generate', model: 'm', stream: true }) ?? ''
  return translateRequest(wire, client, upstream, all, { bridge, path }).context
}

const response = (parts: Part[], finish: Finish = { reason: 'stop' }): CanonicalResponse => ({
  id: 'r_1',
  model: 'm',
  candidates: [{ index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish }],
  usage: { input: 5, output: 7 },
})

const text = (one: string): Part => ({ type: 'text', text: one })
const call = (city: string, name = 'weather') =>
  `<tool_call>{"name": "${name}", "arguments": {"city": "${city}"}}</tool_call>`

/** Each text in deltas of a few characters. */
function* events({ candidates: [first], id, model }: CanonicalResponse): Generator<CanonicalEvent> {
  yield { type: 'start', ...(id && { id }), ...(model && { model }) }
  yield { type: 'message.start', candidate: 0, message: 0, role: 'assistant' }
  for (const [part, whole] of (first?.messages[0]?.parts ?? []).entries()) {
    if (whole.type === 'text') {
      yield {
        type: 'part.start',
        candidate: 0,
        message: 0,
        part,
        head: { ...whole, text: '' },
      }
      for (const piece of whole.text.match(/[\s\S]{1,3}/g) ?? [])
        yield { type: 'part.delta', candidate: 0, part, delta: { kind: 'text', text: piece } }
    } else if (whole.type === 'reasoning') {
      yield {
        type: 'part.start',
        candidate: 0,
        message: 0,
        part,
        head: { type: 'reasoning', segments: [] },
      }
      for (const piece of whole.segments[0]?.text.match(/[\s\S]{1,3}/g) ?? [])
        yield {
          type: 'part.delta',
          candidate: 0,
          part,
          delta: { kind: 'reasoning', segment: 0, of: 'raw', text: piece },
        }
    } else yield { type: 'part.start', candidate: 0, message: 0, part, head: whole }
    yield { type: 'part.end', candidate: 0, part }
  }
  yield { type: 'message.end', candidate: 0, message: 0 }
  yield { type: 'finish', candidate: 0, finish: first?.finish ?? { reason: 'stop' } }
  yield { type: 'usage', usage: { input: 5, output: 7 } }
  yield { type: 'end', clean: true }
}

const partsOf = ({ candidates }: CanonicalResponse) =>
  candidates.flatMap(({ messages }) =>
    messages.flatMap(({ parts }) =>
      parts.flatMap((part): unknown[] => {
        if (part.type === 'text') return part.text.trim() === '' ? [] : [part.text.trim()]
        return part.type === 'tool-call' ? [[part.name, JSON.parse(part.input)]] : []
      }),
    ),
  )

/** What the client gets of a leaking response. */
function whole(pair: { client: Protocol; upstream: Protocol }, given: CanonicalResponse) {
  const { client, upstream } = pair
  const { wire } = upstream.encodeResponse(given, { now: 0 })
  const context = contextOf(pair)
  const { body, notes } = translateResponse(wire, upstream, client, { bridge, context })
  return { got: client.decodeResponse(body).value, notes, context }
}

function streamed(pair: { client: Protocol; upstream: Protocol }, given: Iterable<CanonicalEvent>) {
  const { client, upstream } = pair
  const { text: sent } = encodeStream(upstream, given, { now: 0 })
  const translator = createStreamTranslator(upstream, client, {
    bridge,
    context: contextOf(pair),
  })
  let out = ''
  for (const piece of sent.match(/[\s\S]{1,50}/g) ?? []) out += translator.push(piece)
  out += translator.end()
  const got = decodeStream(
    client,
    framesOf(out).map(({ wire }) => wire),
  )
  return { got, notes: translator.notes, out, translator }
}

const leaking = response([text(`Let me look.\n${call('Rome')}\n${call('Oslo')}`)])
const calls = [
  ['weather', { city: 'Rome' }],
  ['weather', { city: 'Oslo' }],
]

describe.each(pairs)('$name', pair => {
  test('makes calls of those in a text', () => {
    const { got, notes } = whole(pair, leaking)
    expect(partsOf(got)).toEqual(['Let me look.', ...calls])
    expect(got.candidates[0]?.finish?.reason).toBe('tool_calls')
    expect(notes.filter(({ kind }) => kind === 'emulated')).toHaveLength(1)
  })

  test('makes calls of those in a streamed text', () => {
    const { got, notes, translator } = streamed(pair, events(leaking))
    expect(checkGrammar(got)).toEqual([])
    const collected = collect(got).response
    expect(partsOf(collected)).toEqual(['Let me look.', ...calls])
    expect(collected.candidates[0]?.finish?.reason).toBe('tool_calls')
    expect(notes.filter(({ kind }) => kind === 'emulated')).toHaveLength(1)
    expect(translator.finished).toBe(true)
    expect(collected.usage?.output).toBe(7)
  })

  test('gives calls back under the names of the client', () => {
    const { context } = whole(pair, leaking)
    const [, renamed = ''] = Object.keys(Object(context.bridge).tools)
    const given = response([text(call('Rome', renamed))])
    expect(partsOf(whole(pair, given).got)).toEqual([[long, { city: 'Rome' }]])
    expect(partsOf(collect(streamed(pair, events(given)).got).response)).toEqual([
      [long, { city: 'Rome' }],
    ])
  })

  test('leaves text without calls as it is', () => {
    const plain = 'Write `<tool_call>{"name": "other"}` or a < b [1] {"name": "weather"}.'
    const given = response([text(plain)])
    expect(partsOf(whole(pair, given).got)).toEqual([plain])
    const { got, notes } = streamed(pair, events(given))
    expect(partsOf(collect(got).response)).toEqual([plain])
    expect(collect(got).response.candidates[0]?.finish?.reason).toBe('stop')
    expect(notes.filter(({ kind }) => kind === 'emulated')).toEqual([])
  })

  test('makes no whole call of one that is cut off', () => {
    const cut = `Look: ${call('Rome').slice(0, -20)}`
    const given = [...events(response([text(cut)]))].slice(0, -5)
    const { got } = streamed(pair, given)
    expect(checkGrammar(got)).toEqual([])
    expect(got.at(-1)).toEqual({ type: 'end', clean: false })
    const isWhole = ({ input }: { input: string }) => {
      try {
        return Object.keys(JSON.parse(input)).length > 0
      } catch {
        return false
      }
    }
    const inputs = collect(got).response.candidates.flatMap(({ messages }) =>
      messages.flatMap(({ parts }) => parts.filter(part => part.type === 'tool-call')),
    )
    expect(inputs.filter(isWhole)).toEqual([])
  })
})

test('asks strict whether anything may be emulated', () => {
  const pair = { client: protocols.messages, upstream: protocols['chat-completions'] }
  const { wire } = pair.upstream.encodeResponse(leaking, { now: 0 })
  const settings = { bridge, context: contextOf(pair) }
  const translate = (strict: boolean | ['emulated']) =>
    translateResponse(wire, pair.upstream, pair.client, { ...settings, strict })
  expect(() => translate(['emulated'])).toThrow('refused by strict: The model wrote a call')
})

describe('events', () => {
  const tools = { names: ['weather'], schemas: { weather: parameters } }
  const recovered = (given: Iterable<CanonicalEvent>) => {
    const out: CanonicalEvent[] = []
    let state = startLeaks()
    const report = bridgeReport([])
    for (const event of given) {
      state = structuredClone(state)
      stepLeaks(state, event, { tools, report, emit: one => out.push(one) })
    }
    return out
  }
  const reasoning = (one: string): Part => ({
    type: 'reasoning',
    segments: [{ kind: 'raw', text: one }],
  })

  test.each([
    ['calls between texts', [text(`a ${call('x')} b ${call('y')} c`)], 5],
    ['a call alone', [text(call('x'))], 1],
    ['text, a call and another part', [text(`a ${call('x')}`), text('b')], 3],
    ['reasoning that ends with a call', [reasoning(`so ${call('x')}`)], 2],
    ['reasoning that ends with a call, and text', [reasoning(`so ${call('x')}`), text('b')], 2],
    ['reasoning about a call', [reasoning(`so ${call('x')} or not`)], 1],
    ['an empty text', [text('')], 1],
    ['white space', [text('\n\n')], 1],
  ] as [string, Part[], number][])('obey the grammar: %s', (_what, parts, count) => {
    const out = recovered(events(response(parts)))
    expect(checkGrammar(out)).toEqual([])
    expect(out.filter(({ type }) => type === 'part.start')).toHaveLength(count)
  })

  test('complete a call that the model did not end, unless a limit did', () => {
    const cut = `${call('Rome').slice(0, -14)}`
    const input = (finish: Finish) => {
      const out = recovered(events(response([text(cut)], finish)))
      expect(checkGrammar(out)).toEqual([])
      const [part] = collect(out).response.candidates[0]?.messages[0]?.parts ?? []
      return part?.type === 'tool-call' ? part.input : part
    }
    expect(input({ reason: 'stop' })).toBe('{"city":"Rome"}')
    expect(input({ reason: 'length' })).toBe('{"city": "Rome"')
  })

  test('leave every text without a call as it is', () => {
    const given = [...events(response([reasoning('hm <b>'), text('see `x` [1] now'), text('')]))]
    expect(collect(recovered(given))).toEqual(collect(given))
  })
})
