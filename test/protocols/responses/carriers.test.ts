import { expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { Message, Part } from '../../../src/canonical/message.ts'
import { wrapSignature } from '../../../src/kit/signatures/envelope.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { decode, encode } from './support.ts'

const signature = { value: 'SEAL', issuer: 'generate-content', form: 'thought' as const }
const carrier = (attach: string, id = 'rs_c') => ({
  type: 'reasoning',
  id,
  summary: [],
  encrypted_content: wrapSignature({ signature, attach }),
})
const call = (id = 'c') => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: '{}',
  status: 'completed',
})
const text = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'x', annotations: [], logprobs: [] }],
}
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'hm' }],
  encrypted_content: 'OWN',
}

/** As servers announce an item: without what is known only at its end. */
function announced(item: Record<string, unknown>) {
  if (item['type'] === 'message') return { ...item, content: [], status: 'in_progress' }
  if (item['type'] === 'reasoning') return { type: 'reasoning', id: item['id'], summary: [] }
  return { ...item, arguments: '', status: 'in_progress' }
}

function streamOf(output: Record<string, unknown>[]) {
  const response = { id: 'resp_1', object: 'response', created_at: 1, model: 'm' }
  return [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    ...output.flatMap((item, output_index) => [
      { type: 'response.output_item.added', output_index, item: announced(item) },
      { type: 'keepalive' },
      { type: 'response.output_item.done', output_index, item },
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed', output } },
  ]
}

const signed = (messages: readonly Message[] = []) =>
  messages.map(({ parts }) => parts.map(({ type, signature: seal }) => [type, seal?.value]))

test.each<[string, Record<string, unknown>[], unknown, number]>([
  ['before its call', [carrier('next'), call()], [[['tool-call', 'SEAL']]], 0],
  ['before its text', [carrier('next'), text], [[['text', 'SEAL']]], 0],
  ['after its text', [text, carrier('prev')], [[['text', 'SEAL']]], 0],
  [
    'after its call, before another',
    [call(), carrier('prev'), call('d')],
    [[['tool-call', 'SEAL']], [['tool-call', undefined]]],
    0,
  ],
  [
    'one behind and one ahead',
    [text, carrier('prev'), carrier('next', 'rs_d'), call()],
    [[['text', 'SEAL']], [['tool-call', 'SEAL']]],
    0,
  ],
  [
    'between reasoning',
    [thought, carrier('next'), call()],
    [[['reasoning', 'OWN']], [['tool-call', 'SEAL']]],
    0,
  ],
  ['with nothing before it', [carrier('prev'), call()], [[['tool-call', undefined]]], 1],
  ['with nothing after it', [text, carrier('next')], [[['text', undefined]]], 1],
  ['before a thought, which has its own', [carrier('next'), thought], [[['reasoning', 'OWN']]], 1],
])(
  'decodes a carried signature %s alike from a stream and from a complete response',
  (_name, output, expected, orphans) => {
    const whole = responses.decodeResponse({
      id: 'resp_1',
      model: 'm',
      status: 'completed',
      output,
    })
    const { out, notes } = decode(streamOf(output))
    expect(checkGrammar(out)).toEqual([])
    expect(signed(whole.value.candidates[0]?.messages)).toEqual(expected)
    expect(signed(collect(out).response.candidates[0]?.messages)).toEqual(expected)
    expect(whole.notes.map(({ code }) => code)).toEqual(
      Array.from({ length: orphans }, () => 'reasoning.signature-orphaned'),
    )
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
      whole.notes.map(({ code, path }) => `${code} ${path}`),
    )
  },
)

test.each<[string, Part]>([
  [
    'a call',
    { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{"a":1}', signature },
  ],
  [
    'a freeform call',
    { type: 'tool-call', id: 'c', name: 'f', kind: 'freeform', input: 'raw', signature },
  ],
  ['a text', { type: 'text', text: 'x', signature }],
  ['a refusal', { type: 'refusal', text: 'x', signature }],
  [
    'a thought of another issuer',
    { type: 'reasoning', segments: [{ kind: 'summary', text: 'hm' }], signature },
  ],
])('restores the signature of %s from a stream', (_name, part) => {
  const messages: Message[] = [
    { role: 'assistant', origin: 'message', parts: [part, { type: 'text', text: 'after' }] },
  ]
  const { out } = encode(
    explode({
      id: 'r',
      model: 'm',
      candidates: [{ index: 0, messages, finish: { reason: 'stop' } }],
    }),
    { now: 1 },
  )
  const events = decode(out).out
  expect(checkGrammar(events)).toEqual([])
  expect(
    collect(events).response.candidates[0]?.messages.flatMap(({ parts }) => parts),
  ).toMatchObject([{ type: part.type, signature }, { type: 'text' }])
})

test('decodes nothing of a carrier at the end of a cut-off stream', () => {
  const wire = streamOf([carrier('next'), call()])
  expect(decode(wire.slice(0, 4)).out.map(({ type }) => type)).toEqual(['start', 'ping', 'end'])
})

test('emits reasoning without text when it ends', () => {
  const { out } = decode(
    streamOf([{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'OWN' }, text]),
  )
  expect(collect(out).response.candidates[0]?.messages).toMatchObject([
    { parts: [{ type: 'reasoning', id: 'rs_1', redacted: true }] },
    { id: 'msg_1' },
  ])
})
