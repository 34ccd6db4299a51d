import { expect, test } from 'vitest'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { protocols } from '../../src/protocols/index.ts'

const { 'chat-completions': chat, 'generate-content': google } = protocols

const call = (id: string) =>
  ({ type: 'tool-call', id, name: 'f', kind: 'function', input: '{}' }) as const
const response: CanonicalResponse = {
  id: 'r',
  model: 'm',
  createdAt: 1,
  candidates: [
    {
      index: 0,
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [
            {
              type: 'reasoning',
              segments: [{ kind: 'raw', text: 'hm' }],
              signature: { value: 'QUJD', issuer: 'messages' },
            },
            { type: 'text', text: 'so' },
            call('a'),
            call('b'),
          ],
        },
      ],
      finish: { reason: 'tool_calls' },
    },
  ],
}

type Bearer = { thoughtSignature?: string; extra_content?: unknown }

test('restores reasoning that a client puts on both calls of a turn once, to generate-content', () => {
  const { wire } = google.encodeResponse(response, { signedReasoning: 'calls' })
  const { candidates } = wire as {
    candidates: { content: { parts: (Bearer & { functionCall?: object })[] } }[]
  }
  const parts = candidates[0]?.content.parts ?? []
  const thoughtSignature = parts.find(part => part.functionCall)?.thoughtSignature
  expect(thoughtSignature).toBeDefined()
  const kept = parts
    .filter(part => !('thought' in part))
    .map(part => (part.functionCall ? { ...part, thoughtSignature } : part))
  const { value } = google.decodeRequest(
    { contents: [{ role: 'model', parts: kept }] },
    { path: '/v1beta/models/m:generateContent' },
  )
  expect(value.messages.flatMap(({ parts: read }) => read.map(({ type }) => type))).toEqual([
    'reasoning',
    'text',
    'tool-call',
    'tool-call',
  ])
})

test('restores reasoning that a client puts on both calls of a turn once, over chat-completions', () => {
  const { wire } = chat.encodeResponse(response, { signedReasoning: 'calls' })
  const { choices } = wire as { choices: { message: { content: string; tool_calls: Bearer[] } }[] }
  const { content, tool_calls: calls = [] } = choices[0]?.message ?? {}
  const extra = calls[0]?.extra_content
  expect(extra).toBeDefined()
  const kept = calls.map(one => ({ ...one, extra_content: extra }))
  const { value } = chat.decodeRequest({
    model: 'm',
    messages: [{ role: 'assistant', content, tool_calls: kept }],
  })
  expect(value.messages.flatMap(({ parts: read }) => read.map(({ type }) => type))).toEqual([
    'reasoning',
    'text',
    'tool-call',
    'tool-call',
  ])
})
