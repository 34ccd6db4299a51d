import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

/** As OpenRouter writes them, for the two calls of a turn. */
const details = {
  claude: [
    {
      type: 'reasoning.text',
      text: 'hm',
      signature: 'c2ln',
      format: 'anthropic-claude-v1',
      index: 0,
    },
    { type: 'reasoning.encrypted', data: 'cmVk', format: 'anthropic-claude-v1', index: 1 },
  ],
  gemini: [
    { type: 'reasoning.text', text: 'hm', format: 'google-gemini-v1', index: 0 },
    { type: 'reasoning.encrypted', data: 'dGh0', id: 'c2', format: 'google-gemini-v1', index: 1 },
  ],
}
const call = (id: string) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })
const turn = (of: keyof typeof details) => ({
  role: 'assistant',
  content: null,
  reasoning_details: details[of],
  tool_calls: [call('c1'), call('c2')],
})
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'done' })
const request = (of: keyof typeof details) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'go' }, turn(of), result('c1'), result('c2')],
})
const chat = 'chat-completions'

describe('reasoning that a reseller has passed on', () => {
  test('is that of Anthropic for its own protocol', () => {
    const { body, notes } = translateRequest(request('claude'), { from: chat, to: 'messages' })
    expect(body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { type: 'thinking', thinking: 'hm', signature: 'c2ln' },
            { type: 'redacted_thinking', data: 'cmVk' },
            { type: 'tool_use', id: 'c1' },
            { type: 'tool_use', id: 'c2' },
          ],
        },
        {},
      ],
    })
    expect(notes.filter(({ code }) => code.startsWith('reasoning'))).toEqual([])
  })

  test('is that of Anthropic for its models on Bedrock', () => {
    const { body } = translateRequest(request('claude'), {
      from: chat,
      to: 'converse',
      model: 'anthropic.claude-opus-4-6',
    })
    expect(body).toMatchObject({
      messages: [
        {},
        {
          content: [
            { reasoningContent: { reasoningText: { text: 'hm', signature: 'c2ln' } } },
            { reasoningContent: { redactedContent: btoa('cmVk') } },
            { toolUse: {} },
            { toolUse: {} },
          ],
        },
        {},
      ],
    })
  })

  test('is that of Google, at the call that it names', () => {
    const { body } = translateRequest(request('gemini'), {
      from: chat,
      to: 'generate-content',
      model: 'gemini-3-pro',
    })
    const [, { parts = [] } = {}] = (body as { contents: { parts?: object[] }[] }).contents
    expect(parts).toMatchObject([
      { text: 'hm', thought: true },
      { functionCall: {} },
      { functionCall: {}, thoughtSignature: 'dGh0' },
    ])
  })

  test.each<[keyof typeof details, ProtocolName]>([
    ['claude', 'responses'],
    ['claude', 'generate-content'],
    ['gemini', 'responses'],
    ['gemini', 'messages'],
    ['gemini', 'converse'],
  ])('of %s is not sent with %s', (of, to) => {
    const { body, notes } = translateRequest(request(of), { from: chat, to, model: 'm' })
    expect(JSON.stringify(body)).not.toMatch(/c2ln|cmVk|dGh0/)
    expect(notes.map(({ code }) => code)).toContain('reasoning.foreign-signature')
  })

  test('comes back to the reseller as it was, through a client of any protocol', () => {
    for (const of of ['claude', 'gemini'] as const)
      for (const client of Object.keys(protocols) as ProtocolName[]) {
        if (client === chat) continue
        const response = {
          id: 'r',
          object: 'chat.completion',
          created: 1,
          model: 'm',
          choices: [{ index: 0, message: turn(of), finish_reason: 'tool_calls' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }
        const { body } = translateResponse(response, { from: chat, to: client })
        const history = historyOf(client, body)
        const again = translateRequest(history, { from: client, to: chat, model: 'm' })
        const sent = JSON.stringify(again.body)
        for (const { format, ...entry } of details[of]) {
          expect(sent).toContain(format)
          const proof = 'data' in entry ? entry.data : 'signature' in entry && entry.signature
          if (proof) expect(sent).toContain(`"${proof}"`)
        }
      }
  })

  test('reaches its maker through a client of the own protocol', () => {
    const response = {
      id: 'r',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: turn('claude'), finish_reason: 'tool_calls' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    }
    const { body } = translateResponse(response, { from: chat, to: 'messages' })
    const again = translateRequest(historyOf('messages', body), {
      from: 'messages',
      to: 'messages',
    })
    expect(JSON.stringify(again.body)).toContain('"thinking":"hm","signature":"c2ln"')
    expect(JSON.stringify(again.body)).toContain('"data":"cmVk"')
  })
})

/** What a client sends after a response. */
function historyOf(protocol: ProtocolName, response: unknown): object {
  const { content, output, candidates } = response as Record<string, never>
  switch (protocol) {
    case 'messages':
      return { model: 'm', max_tokens: 9, messages: [{ role: 'assistant', content }] }
    case 'responses':
      return { model: 'm', input: output }
    case 'generate-content':
      return { contents: [(candidates as unknown as { content: object }[])[0]?.content] }
    case 'converse':
      return { messages: [(output as unknown as { message: object }).message] }
    default:
      return {}
  }
}
