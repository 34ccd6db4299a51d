import { describe, expect, test } from 'vitest'
import { translateBetween } from '../src/between.ts'
import * as api from '../src/index.ts'
import { chatCompletions } from '../src/protocols/chat-completions/client.ts'
import { chatCompletions as whole } from '../src/protocols/chat-completions/index.ts'
import { protocols } from '../src/protocols/index.ts'
import { messages } from '../src/protocols/messages/upstream.ts'

const pair = translateBetween(chatCompletions, messages)
const [client, upstream] = ['chat-completions', 'messages'] as const
const response = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi!' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 8, output_tokens: 3 },
} as const

describe('translateBetween', () => {
  test('translates requests to the upstream as the root does', () => {
    const request = { model: 'm', seed: 1, messages: [{ role: 'user', content: 'Hello' }] } as const
    expect(pair.translateRequest(request)).toEqual(
      api.translateRequest(request, { from: client, to: upstream }),
    )
    const options = { messages: { defaultMaxTokens: 5 } }
    expect(pair.translateRequest(request, options).body.max_tokens).toBe(5)
  })

  test('translates responses, errors and streams to the client as the root does', async () => {
    const back = { from: upstream, to: client }
    expect(pair.translateResponse(response)).toEqual(api.translateResponse(response, back))
    const error = {
      status: 529,
      body: { type: 'error', error: { type: 'overloaded_error', message: 'busy' } },
    }
    expect(pair.translateError(error)).toEqual(api.translateError(error, back))
    const text = api.explodeResponse(response, { protocol: upstream })
    const expected = api.createStreamTranslator(back)
    const whole = expected.push(text) + expected.end()
    const translator = pair.createStreamTranslator()
    expect(translator.push(text) + translator.end()).toBe(whole)
    expect(await new Response(api.toWebStream(pair.translateStream([text]))).text()).toBe(whole)
    expect(
      await new Response(new Response(text).body?.pipeThrough(pair.createTransformStream())).text(),
    ).toBe(whole)
  })

  test('refuses unknown options with a suggestion, and those of other protocols', () => {
    const request = { model: 'm', messages: [] }
    expect(() => pair.translateRequest(request, { stict: true } as object)).toThrow(
      'option stict: there is no such option; did you mean strict?',
    )
    expect(() => pair.translateRequest(request, { responses: {} })).toThrow(
      'option responses: there is no such option',
    )
    expect(() => pair.createStreamTranslator({ messages: { thinkin: 'auto' } as object })).toThrow(
      'did you mean messages.thinking?',
    )
  })

  test('throws with the path for a wrong body', () => {
    const wrong: unknown = { messages: [{ role: 'user', content: 5 }] }
    expect(() => pair.translateRequest(wrong)).toThrow(
      expect.objectContaining({ code: 'malformed', path: '/messages/0/content' }),
    )
  })

  test('accepts whole protocols, and refuses one protocol with itself', () => {
    const request = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] } as const
    expect(translateBetween(whole, protocols.messages).translateRequest(request)).toEqual(
      pair.translateRequest(request),
    )
    // @ts-expect-error
    expect(() => translateBetween(whole, whole)).toThrow(
      'both protocols are chat-completions; pass two different ones',
    )
    expect(() =>
      // @ts-expect-error The halves are in the wrong order.
      translateBetween(messages, chatCompletions).translateRequest({ messages: [] }),
    ).toThrow(TypeError)
  })

  test('types bodies by the pair', () => {
    expect([
      // @ts-expect-error
      () => pair.translateRequest({ mesages: [] }),
      // @ts-expect-error
      () => pair.translateResponse({ choices: [] }),
    ]).toHaveLength(2)
  })
})
