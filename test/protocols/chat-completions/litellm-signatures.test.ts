import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import {
  collectStream,
  explodeResponse,
  translateRequest,
  translateResponse,
} from '../../support/untyped.ts'

const signature = 'R09PRw=='
const id = `call_1__thought__${signature}`
type Beside = Record<string, unknown>
const callOf = (beside: Beside = {}, inner: Beside = {}) => ({
  id: 'c1',
  type: 'function',
  function: { name: 'look', arguments: '{}', ...inner },
  ...beside,
})
const fields = { provider_specific_fields: { thought_signatures: [signature] } }
const history = (message: Beside, callId = 'c1') => [
  { role: 'user', content: 'x' },
  { role: 'assistant', ...message },
  ...(message['tool_calls'] ? [{ role: 'tool', tool_call_id: callId, content: 'y' }] : []),
  { role: 'user', content: 'z' },
]
const partsFor = (messages: unknown) =>
  (
    translateRequest({ model: 'm', messages }, { from: 'chat-completions', to: 'generate-content' })
      .body as { contents: { parts: object[] }[] }
  ).contents[1]?.parts

describe('a signature of Gemini in the field of LiteLLM', () => {
  test.each([
    ['in the id of a call', { tool_calls: [callOf({ id })] }, id],
    ['in a list beside a call', { tool_calls: [callOf(fields)] }, 'c1'],
    ['in a list inside the function', { tool_calls: [callOf({}, fields)] }, 'c1'],
    ['in the message again', { tool_calls: [callOf({ id })], ...fields }, id],
  ])('is read from history: %s', (_where, message, callId) => {
    expect(partsFor(history({ content: null, ...message }, callId))).toEqual([
      {
        functionCall: expect.objectContaining({ name: 'look', args: {} }),
        thoughtSignature: signature,
      },
    ])
  })

  test('is that of the text in a message without calls', () => {
    expect(partsFor(history({ content: 'Yes.', ...fields }))).toEqual([
      { text: 'Yes.', thoughtSignature: signature },
    ])
  })

  test.each([
    ['in the id of a call', { content: null, tool_calls: [callOf({ id })] }, id],
    ['in a list beside a call', { content: null, tool_calls: [callOf(fields)] }, 'c1'],
  ])('stays where it is for a server of the same protocol: %s', (_where, message, callId) => {
    const body = { model: 'm', temperature: 1, messages: history(message, callId) }
    const { body: written, notes } = translateRequest(body, {
      from: 'chat-completions',
      to: 'chat-completions',
      model: 'other',
    })
    expect(written).toEqual({ ...body, model: 'other' })
    expect(notes).toEqual([])
  })

  test.each(['whole', 'streamed'])(
    'comes back to the proxy from a client of messages: %s',
    async form => {
      const message = { role: 'assistant', content: null, tool_calls: [callOf({ id })] }
      const response = {
        id: 'r',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
      }
      const settings = { from: 'chat-completions', to: 'messages' } as const
      const translator = createStreamTranslator(settings)
      const text =
        form === 'whole'
          ? ''
          : translator.push(explodeResponse(response, { protocol: 'chat-completions' })) +
            translator.end()
      const received =
        form === 'whole'
          ? translateResponse(response, settings).body
          : (await collectStream([text], { protocol: 'messages' })).body
      const { content } = received as { content: { type: string; id: string }[] }
      const called = content.find(({ type }) => type === 'tool_use')
      const next = [
        { role: 'user', content: 'x' },
        { role: 'assistant', content },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: called?.id, content: 'y' }] },
      ]
      const again = translateRequest(
        { model: 'm', max_tokens: 9, messages: next },
        { from: 'messages', to: 'chat-completions' },
      ).body
      const { messages } = again as { messages: { tool_calls?: Beside[]; tool_call_id?: string }[] }
      const restored = messages[1]?.tool_calls?.[0]
      expect(restored?.['id']).toBe(messages[2]?.tool_call_id)
      expect(JSON.stringify(restored)).toContain(signature)
    },
  )
})
