import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../../src/index.ts'
import { chatCompletions as chat } from '../../../src/protocols/chat-completions/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

/**
 * The field that Google's endpoint reads holds what Google made, and nothing else: clients also
 * send their history there.
 */

type Call = {
  extra_content?: Record<string, Record<string, string>>
  provider_specific_fields?: Record<string, string>
}
const response = {
  candidates: [
    {
      content: {
        role: 'model',
        parts: [
          { functionCall: { name: 'look', args: {}, id: 'c1' }, thoughtSignature: 'R09PRw==' },
        ],
      },
      finishReason: 'STOP',
    },
  ],
  modelVersion: 'gemini-3-pro',
  responseId: 'r1',
}

describe("the signature of a call in Google's field", () => {
  test('is bare in a complete response', () => {
    const { body } = translateResponse(response, {
      from: 'generate-content',
      to: 'chat-completions',
    })
    expect(body).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [{ extra_content: { google: { thought_signature: 'R09PRw==' } } }],
          },
        },
      ],
    })
  })

  test('is bare in a stream', () => {
    const translator = createStreamTranslator({ from: 'generate-content', to: 'chat-completions' })
    const frames = translator.push(`data: ${JSON.stringify(response)}\n\n`) + translator.end()
    expect(
      [...frames.matchAll(/"thought_signature":"([^"]*)"/g)].map(([, value]) => value),
    ).toEqual(['R09PRw=='])
  })

  test('is written to another field for another issuer, and comes back', () => {
    const signature = { value: 'OTHER', issuer: 'elsewhere', form: 'thought' as const }
    const { wire } = chat.encodeResponse({
      candidates: [
        {
          index: 0,
          messages: [
            {
              role: 'assistant',
              origin: 'message',
              parts: [
                {
                  type: 'tool-call',
                  id: 'c1',
                  name: 'look',
                  kind: 'function',
                  input: '{}',
                  signature,
                },
              ],
            },
          ],
          finish: { reason: 'tool_calls' },
        },
      ],
    })
    const { message } = (wire as unknown as { choices: [{ message: { tool_calls: [Call] } }] })
      .choices[0]
    expect(message.tool_calls[0].extra_content?.['google']).toBeUndefined()
    const { value } = chat.decodeRequest({
      model: 'm',
      messages: [message, { role: 'tool', tool_call_id: 'c1', content: 'found' }],
    })
    expect(value.messages[0]?.parts[0]?.signature).toEqual(signature)
  })
})

test.each(['messages', 'responses', 'generate-content'] as const)(
  'a proxy finds its signature where it wrote it, through %s clients',
  client => {
    const tool_calls = [
      {
        id: 'c1',
        type: 'function',
        function: { name: 'look', arguments: '{}' },
        provider_specific_fields: { thought_signature: 'R09PRw==' },
      },
    ]
    const response = {
      id: 'x',
      model: 'm',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: null, tool_calls },
          finish_reason: 'tool_calls',
        },
      ],
    }
    const { body } = translateResponse(response, { from: 'chat-completions', to: client })
    const reported = body as {
      content: unknown
      output: object[]
      candidates: { content: object }[]
    }
    const received = {
      messages: {
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'x' },
          { role: 'assistant', content: reported.content },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'found' }] },
        ],
      },
      responses: {
        input: [
          { role: 'user', content: 'x' },
          ...(reported.output ?? []),
          { type: 'function_call_output', call_id: 'c1', output: 'found' },
        ],
      },
      'generate-content': {
        contents: [
          { role: 'user', parts: [{ text: 'x' }] },
          reported.candidates?.[0]?.content,
          {
            role: 'user',
            parts: [
              { functionResponse: { name: 'look', id: 'c1', response: { output: 'found' } } },
            ],
          },
        ],
      },
    }
    const again = translateRequest(
      { model: 'm', ...received[client] },
      { from: client, to: 'chat-completions', model: 'm' },
    )
    expect(again.body).toMatchObject({
      messages: [
        {},
        { tool_calls: [{ provider_specific_fields: { thought_signature: 'R09PRw==' } }] },
        {},
      ],
    })
  },
)
