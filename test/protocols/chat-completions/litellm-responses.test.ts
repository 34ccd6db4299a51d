import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'
import { chunk, codes, decodeStream, encodeStream } from './run.ts'

const { 'chat-completions': chat } = protocols
const item = {
  id: 'rs_1',
  type: 'reasoning',
  encrypted_content: 'R0FBQUE=',
  summary: [{ type: 'summary_text', text: 'Hm, well.' }],
}
const bare = { ...item, id: 'rs_2', encrypted_content: 'R0FBQUI=', summary: [] }
const outcome = (message: object) => ({
  id: 'c',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
})
const signatureOf = ({ encrypted_content: value }: { encrypted_content: string }) => ({
  value,
  issuer: 'chat-completions/reasoning_items',
  form: 'encrypted',
})
const thought = {
  type: 'reasoning',
  id: 'rs_1',
  segments: [{ kind: 'summary', text: 'Hm, well.' }],
  signature: signatureOf(item),
}
const hidden = {
  type: 'reasoning',
  id: 'rs_2',
  segments: [],
  redacted: true,
  signature: signatureOf(bare),
}
const text = { type: 'text', text: 'abc' }
/** LiteLLM sends the items in the chunk with the finish reason. */
const stream = (reasoning_items: unknown, ...before: object[]) => [
  ...before.map(delta => chunk(delta)),
  {
    ...chunk({}, 'stop'),
    choices: [{ index: 0, delta: { content: '', reasoning_items }, finish_reason: 'stop' }],
  },
  '[DONE]',
]
const chunks = [
  { role: 'assistant', reasoning_content: 'Hm, ' },
  { reasoning_content: 'well.' },
  { content: 'abc' },
]

describe('reasoning items in a response of LiteLLM', () => {
  test.each<[string, object, object[]]>([
    [
      'beside their text',
      { reasoning_content: 'Hm, well.', content: 'abc', reasoning_items: [item] },
      [thought, text],
    ],
    ['without text', { content: 'abc', reasoning_items: [bare] }, [hidden, text]],
    [
      'several, with their texts joined',
      { reasoning_content: 'Hm, well.', content: 'abc', reasoning_items: [item, bare] },
      [thought, hidden, text],
    ],
    [
      'without a signature',
      { content: 'abc', reasoning_items: [{ ...bare, encrypted_content: null }] },
      [{ type: 'reasoning', id: 'rs_2', segments: [] }, text],
    ],
  ])('are read once: %s', (_, message, parts) => {
    const { value } = chat.decodeResponse(outcome(message))
    expect(value.candidates[0]?.messages[0]?.parts).toMatchObject(parts)
    expect(value.candidates[0]?.messages[0]?.parts).toHaveLength(parts.length)
    expect(chat.encodeResponse(value)).toMatchObject({ wire: outcome(message), notes: [] })
  })

  test.each<[string, unknown, object[], object[]]>([
    ['after their text', [item], chunks, [thought, text]],
    ['while the reasoning is open', [item], chunks.slice(0, 2), [thought]],
    ['without text', [bare], [{ content: 'abc' }], [text, hidden]],
    ['without text, beside one with text', [bare, item], chunks.slice(0, 2), [thought, hidden]],
    ['of a server that sends no other text', [item], [{ content: 'abc' }], [text, thought]],
    [
      'after their text, without a signature',
      [{ ...item, encrypted_content: null }],
      chunks,
      [{ type: 'reasoning', segments: [{ text: 'Hm, well.' }] }, text],
    ],
    [
      'without a signature',
      [{ ...bare, encrypted_content: null }],
      chunks.slice(2),
      [text, { type: 'reasoning', id: 'rs_2', segments: [] }],
    ],
  ])('are read once from a stream: %s', (_, items, deltas, parts) => {
    const { events, notes } = decodeStream(stream(items, ...deltas))
    const [candidate] = collect(events).response.candidates
    expect(candidate?.messages[0]?.parts).toMatchObject(parts)
    expect(candidate?.messages[0]?.parts).toHaveLength(parts.length)
    expect(notes).toEqual([])
  })

  test('of a text that the stream has joined become parts of their own', () => {
    const second = { ...bare, summary: [{ type: 'summary_text', text: 'So.' }] }
    const { events, notes } = decodeStream(
      stream(
        [item, second],
        ...chunks.slice(0, 2),
        { reasoning_content: ' So.' },
        { content: 'abc' },
      ),
    )
    expect(collect(events).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { type: 'reasoning', segments: [{ text: 'Hm, well. So.' }] },
      text,
      { segments: [], id: 'rs_1', signature: signatureOf(item) },
      { segments: [], id: 'rs_2', signature: signatureOf(second) },
    ])
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'reasoning.joined /choices/0/message/reasoning_items/0',
      'reasoning.joined /choices/0/message/reasoning_items/1',
    ])
  })

  test('are written again unchanged, also from a stream and into one', () => {
    const { events } = decodeStream(stream([item, bare], ...chunks))
    const { response } = collect(events)
    const whole = chat.encodeResponse(response)
    expect(whole.wire).toMatchObject({
      choices: [{ message: { reasoning_content: 'Hm, well.', reasoning_items: [item, bare] } }],
    })
    expect(JSON.stringify(whole.wire)).not.toContain('reasoning_details')
    const { value } = chat.decodeResponse(
      outcome({ reasoning_content: 'Hm, well.', content: 'abc', reasoning_items: [item, bare] }),
    )
    for (const message of [encodeStream(events), encodeStream(explode(value))]) {
      const deltas = message.frames.flatMap(
        one => (one as { choices?: { delta: object }[] }).choices?.map(({ delta }) => delta) ?? [],
      )
      expect(deltas.filter(delta => 'reasoning_items' in delta)).toMatchObject([
        { reasoning_items: [item, bare] },
      ])
      expect(JSON.stringify(deltas)).not.toContain('reasoning_details')
      expect(message.notes).toEqual([])
    }
  })

  test.each([[[{ ...item, x: 1 }]], [[item, { type: 'other' }]], ['odd']])(
    'stay unknown if one has something else: %j',
    reasoning_items => {
      const { value } = chat.decodeResponse(outcome({ content: 'abc', reasoning_items }))
      const streamed = collect(
        decodeStream(stream(reasoning_items, { content: 'abc' })).events,
      ).response
      for (const one of [value, streamed]) {
        expect(one.candidates[0]?.messages[0]?.parts).toMatchObject([text])
        expect(chat.encodeResponse(one).wire).toMatchObject({
          choices: [{ message: { reasoning_items } }],
        })
        expect(codes(protocols.responses.encodeResponse(one).notes)).toContain('field.unknown')
      }
    },
  )

  test.each(['messages', 'responses'] as const)(
    'come back to LiteLLM through a client of the protocol %s',
    through => {
      const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
      const reported = outcome({
        reasoning_content: 'Hm, well.',
        content: null,
        reasoning_items: [item, bare],
        tool_calls: [call],
      })
      const { body, notes } = translateResponse(reported, { from: 'chat-completions', to: through })
      expect(codes(notes)).not.toContain('field.unknown')
      const { content, output = [] } = body as { content: object[]; output: object[] }
      const result = {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }],
      }
      const received =
        through === 'messages'
          ? {
              model: 'm',
              max_tokens: 9,
              messages: [{ role: 'user', content: 'hi' }, { role: 'assistant', content }, result],
            }
          : {
              model: 'm',
              input: [
                { role: 'user', content: 'hi' },
                ...output,
                { type: 'function_call_output', call_id: 'a', output: 'done' },
              ],
            }
      const again = translateRequest(received, { from: through, to: 'chat-completions' })
      const [, message] = (again.body as { messages: object[] }).messages
      expect(message).toMatchObject({ reasoning_items: [item, bare], tool_calls: [call] })
      expect(message).not.toHaveProperty('reasoning_details')
      // Only its own protocol accepts them.
      expect(
        codes(translateRequest(received, { from: through, to: 'generate-content' }).notes),
      ).toContain('reasoning.foreign-signature')
    },
  )
})
