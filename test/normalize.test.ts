import { describe, expect, test } from 'vitest'
import {
  detectProtocol,
  normalize,
  normalizeResponse,
  readStream,
  textOf,
  toolCallsOf,
} from '../src/index.ts'
import { protocolNames } from '../src/protocols/index.ts'
import { responses, streams } from './gateway/support.ts'

const textual = protocolNames.filter(name => name !== 'converse')
const blocked = {
  promptFeedback: { blockReason: 'SAFETY' },
  usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
}

describe.each(textual)('a text of %s from a log', protocol => {
  test('is recognized and read: a response, and a stream', async () => {
    const whole = JSON.stringify(responses[protocol], null, 2)
    expect(detectProtocol(whole)).toMatchObject({ protocol, kind: 'response' })
    const stream = streams[protocol].join('')
    expect(detectProtocol(stream)).toMatchObject({ protocol, kind: 'stream' })
    for (const [text, kind] of [
      [whole, 'response'],
      [stream, 'stream'],
      [`\uFEFF${stream.replaceAll('\n', '\r\n')}`, 'stream'],
    ] as const) {
      const found = await normalize(text)
      expect(found).toMatchObject({ protocol, kind })
      expect(textOf(found.response)).not.toBe('')
      expect((await normalize(text, { protocol })).response).toEqual(found.response)
    }
  })

  test('that stopped early is never complete', async () => {
    await expect(normalize(streams[protocol].slice(0, 1).join(''))).rejects.toMatchObject({
      code: 'truncated',
    })
  })
})

test('a list of events, as Gemini streams without alt=sse, is a stream', async () => {
  const first = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] } }] }
  const last = {
    candidates: [{ content: { role: 'model', parts: [{ text: '!' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  }
  const text = JSON.stringify([first, last], null, 2)
  expect(detectProtocol(text)).toMatchObject({ protocol: 'generate-content', kind: 'stream' })
  const { response } = await normalize(text)
  expect([textOf(response), response.candidates[0]?.finish?.reason]).toEqual(['Hi!', 'stop'])
})

test.each([
  [
    {
      output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
    },
    'converse',
    'response',
  ],
  [{ message: 'Too many', __type: 'ThrottlingException' }, 'converse', 'error'],
  [
    { error: { code: 429, message: 'No', status: 'RESOURCE_EXHAUSTED' } },
    'generate-content',
    'error',
  ],
  [{ type: 'error', error: { type: 'overloaded_error', message: 'No' } }, 'messages', 'error'],
  [
    { error: { message: 'No', type: 'invalid_request_error', param: null, code: 'x' } },
    'chat-completions',
    'error',
  ],
] as const)('%j is read as %s, a %s', async (body, protocol, kind) => {
  const found = await normalize(JSON.stringify(body))
  expect(found).toMatchObject({ protocol, kind })
  expect(found.response.error !== undefined).toBe(kind === 'error')
})

test('an error body that several protocols share is an error of none of them', () => {
  const body = { error: { message: 'No', type: 'invalid_request_error', param: null, code: 'x' } }
  const found = detectProtocol(JSON.stringify(body))
  expect(found.protocol).toBeUndefined()
  expect(found.kind).toBe('error')
  expect(found.reasons.join()).toContain('chat-completions, responses')
})

test.each([
  ['', 'empty'],
  ['<html><body>502</body></html>', 'HTML'],
  ['{"a":', 'neither JSON nor a stream'],
  ['data: {"x":1}\n\n', '1 events, none of a known protocol; it has the keys x'],
  ['data:', '1 events, none of a known protocol'],
  ['[1, 2]', 'no event of a protocol'],
  ['{"foo":1,"bar":2}', 'no sign of any protocol; it has the keys foo, bar'],
  ['5', 'no sign'],
])('%j has a reason why it is of no protocol', async (text, reason) => {
  const found = detectProtocol(text)
  expect(found.protocol).toBeUndefined()
  expect(found.reasons.join('; ')).toContain(reason)
  await expect(normalize(text)).rejects.toMatchObject({
    code: 'malformed',
    message: expect.stringContaining(reason),
  })
})

test('a request is no response', async () => {
  const request = JSON.stringify({ contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] })
  await expect(normalize(request)).rejects.toThrow('found request')
})

test('a prompt that was blocked ends with content_filter, whole and streamed', async () => {
  const finish = { reason: 'content_filter', raw: 'SAFETY' }
  const expected = { promptBlocked: { reason: 'SAFETY' }, candidates: [{ finish }] }
  const protocol = 'generate-content'
  expect(normalizeResponse(blocked, { protocol })).toMatchObject(expected)
  const stream = `data: ${JSON.stringify(blocked)}\n\n`
  expect(await readStream(stream, { protocol }).complete()).toMatchObject(expected)
  for (const text of [JSON.stringify(blocked), stream])
    expect((await normalize(text)).response).toMatchObject(expected)
})

test('toolCallsOf returns the documented fields alone', () => {
  const body = {
    candidates: [
      {
        content: { role: 'model', parts: [{ functionCall: { name: 'add', args: { a: 1 } } }] },
        finishReason: 'STOP',
      },
    ],
  }
  const calls = toolCallsOf(normalizeResponse(body, { protocol: 'generate-content' }))
  expect(calls).toEqual([
    {
      id: expect.any(String),
      name: 'add',
      kind: 'function',
      input: { a: 1 },
      inputText: '{"a":1}',
    },
  ])
})
