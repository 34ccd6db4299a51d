import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { address } from '../../src/protocols/generate-content/address.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { covered } from '../support/covered.ts'
import { translateError, translateRequest, translateResponse } from '../support/untyped.ts'

/**
 * What went wrong elsewhere between generate-content and the others; the names are those of the
 * collection of such failures.
 */

const others = covered.filter(name => name !== 'generate-content')
const path = '/v1beta/models/m-1:generateContent'
const response = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  modelVersion: 'm-1',
  responseId: 'r1',
  ...more,
})
const toChat = (body: unknown) =>
  translateResponse(body, { from: 'generate-content', to: 'chat-completions', now: 1 })
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'x' }] }

describe.each(others)('in %s', to => {
  const strict = strictOf(to)
  const request = (body: object) =>
    translateRequest(body, { from: 'generate-content', to, path, onUnresolvable: 'note' })

  test('accepts snake_case spellings', () => {
    const { body } = request({
      contents: [{ role: 'user', parts: [{ text: 'x' }] }],
      system_instruction: { parts: [{ text: 'SYS-SNAKE' }] },
    })
    expect(JSON.stringify(body)).toContain('SYS-SNAKE')
    expect(strict.checkRequest(body)).toEqual([])
  })

  test('treats contents without a role as user contents', () => {
    const { body } = request({ contents: [{ parts: [{ text: 'no role here' }] }] })
    expect(strict.checkRequest(body)).toEqual([])
    expect(JSON.stringify(body)).toContain('no role here')
  })

  test.each<[what: string, body: object]>([
    [
      'a blocked prompt',
      {
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        modelVersion: 'm-1',
        responseId: 'r1',
      },
    ],
    [
      'a response that was blocked completely',
      { ...response([]), candidates: [{ finishReason: 'SAFETY', index: 0 }] },
    ],
    [
      'a limit that reasoning used up',
      {
        ...response([]),
        candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
      },
    ],
  ])('returns a legal response for %s', (_, body) => {
    expect(
      strict.checkResponse(translateResponse(body, { from: 'generate-content', to }).body),
    ).toEqual([])
  })

  test('returns an error for a malformed call', () => {
    const body = {
      ...response([]),
      candidates: [
        { finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed', index: 0 },
      ],
    }
    const { body: wire } = translateResponse(body, { from: 'generate-content', to })
    expect(wire).toMatchObject({ error: { message: 'Malformed' } })
  })

  test('unwraps an error from a list', () => {
    const body = [{ error: { code: 400, message: 'bad field', status: 'INVALID_ARGUMENT' } }]
    const error = translateError({ status: 400, body }, { from: 'generate-content', to })
    expect(error.status).toBe(400)
    expect(JSON.stringify(error.body)).toContain('bad field')
    expect(strict.checkError(error.body)).toEqual([])
  })

  test('does not add up counts that every chunk repeats', () => {
    const translator = createStreamTranslator({ from: 'generate-content', to })
    const frame = (parts: object[], counts: object, more: object = {}) =>
      `data: ${JSON.stringify({ ...response(parts), candidates: [{ index: 0, content: { role: 'model', parts }, ...more }], usageMetadata: counts })}\r\n\r\n`
    const text =
      translator.push(
        frame([{ text: 'plan', thought: true }], { promptTokenCount: 8, totalTokenCount: 8 }),
      ) +
      translator.push(
        frame([{ text: 'Now.' }], {
          promptTokenCount: 8,
          candidatesTokenCount: 2,
          thoughtsTokenCount: 5,
          totalTokenCount: 15,
        }),
      ) +
      translator.push(
        frame(
          [{ functionCall: { id: 'g1', name: 'w', args: { q: 'A' } } }],
          {
            promptTokenCount: 8,
            candidatesTokenCount: 6,
            thoughtsTokenCount: 5,
            totalTokenCount: 19,
          },
          { finishReason: 'STOP' },
        ),
      ) +
      translator.end()
    expect(strict.checkStream(framesOf(text).map(({ wire }) => wire))).toEqual([])
    expect(translator.usage).toMatchObject({ input: 8, output: 11, reasoning: 5 })
  })

  test('writes a generate-content stream without [DONE] and with complete calls', () => {
    const native = createStreamTranslator({ from: 'generate-content', to })
    const there =
      native.push(
        `data: ${JSON.stringify(response([{ functionCall: { id: 'g1', name: 'w', args: { q: 'A' } } }]))}\n\n`,
      ) + native.end()
    const back = createStreamTranslator({ from: to, to: 'generate-content' })
    const text = back.push(there) + back.end()
    expect(text).not.toContain('[DONE]')
    expect(JSON.stringify(framesOf(text).map(({ wire }) => wire))).toContain(
      '"functionCall":{"name":"w","args":{"q":"A"},"id":"g1"}',
    )
  })
})

test('counts reasoning tokens', () => {
  const usageMetadata = {
    promptTokenCount: 10,
    candidatesTokenCount: 5,
    thoughtsTokenCount: 20,
    cachedContentTokenCount: 4,
    totalTokenCount: 35,
  }
  expect(toChat(response([{ text: 'x' }], { usageMetadata })).body).toMatchObject({
    usage: {
      prompt_tokens: 10,
      completion_tokens: 25,
      total_tokens: 35,
      prompt_tokens_details: { cached_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 20 },
    },
  })
})

test('distinguishes calls without ids, and maps STOP to tool_calls', () => {
  const { body } = toChat(
    response([
      { functionCall: { name: 'w', args: { q: 'A' } } },
      { functionCall: { name: 'w', args: { q: 'B' } } },
    ]),
  )
  const [choice] = (
    body as {
      choices: {
        finish_reason: string
        message: { tool_calls: { id: string; function: { arguments: string } }[] }
      }[]
    }
  ).choices
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(choice?.message.tool_calls.map(({ function: { arguments: args } }) => args)).toEqual([
    '{"q":"A"}',
    '{"q":"B"}',
  ])
  expect(new Set(choice?.message.tool_calls.map(({ id }) => id)).size).toBe(2)
})

test('keeps every keyword of a schema, and properties named like keywords', () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'number', exclusiveMinimum: 0 }, const: { const: 'x' } },
  }
  const { body } = translateRequest(
    { ...chat, tools: [{ type: 'function', function: { name: 'f', parameters } }] },
    { from: 'chat-completions', to: 'generate-content' },
  )
  expect(body).toMatchObject({
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }],
  })
})

test('names the function of each result in any order of results', () => {
  const call = (id: string, name: string) => ({
    id,
    type: 'function',
    function: { name, arguments: '{}' },
  })
  const messages = [
    ...chat.messages,
    { role: 'assistant', content: null, tool_calls: [call('a', 'first'), call('b', 'second')] },
    { role: 'tool', tool_call_id: 'b', content: 'B' },
    { role: 'tool', tool_call_id: 'a', content: 'A' },
  ]
  const { body } = translateRequest(
    { ...chat, messages },
    { from: 'chat-completions', to: 'generate-content' },
  )
  const responses = JSON.stringify(body).match(/"functionResponse":\{[^}]*\{[^}]*\}[^}]*\}/g) ?? []
  expect(
    responses.map(text => [/"name":"(\w+)"/.exec(text)?.[1], /"output":"(\w+)"/.exec(text)?.[1]]),
  ).toEqual([
    ['first', 'A'],
    ['second', 'B'],
  ])
})

test.each(others)('restores the signature of a call through a client of %s', client => {
  const body = response([
    { functionCall: { id: 'g1', name: 'w', args: {} }, thoughtSignature: 'QUJD' },
    { functionCall: { id: 'g2', name: 'w', args: {} } },
  ])
  const there = translateResponse(body, { from: 'generate-content', to: client }).body
  const back = translateResponse(there, { from: client, to: 'generate-content' }).body
  const [candidate] = (
    back as {
      candidates: {
        content: { parts: { functionCall?: { id: string }; thoughtSignature?: string }[] }
      }[]
    }
  ).candidates
  const calls = candidate?.content.parts.filter(({ functionCall }) => functionCall)
  expect(
    calls?.map(({ functionCall, thoughtSignature }) => [functionCall?.id, thoughtSignature]),
  ).toEqual([
    ['g1', 'QUJD'],
    ['g2', undefined],
  ])
})

test('writes an image URL as fileUri', () => {
  const content = [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }]
  const { body } = translateRequest(
    { ...chat, messages: [{ role: 'user', content }] },
    { from: 'chat-completions', to: 'generate-content' },
  )
  expect(body).toMatchObject({
    contents: [{ parts: [{ fileData: { fileUri: 'https://example.org/a.png' } }] }],
  })
})

test('encodes a model id with slashes and colons once in a path', () => {
  const model = 'arn:aws:x/y z'
  const target = address.target({ operation: 'generate', model, stream: false })
  expect(target).not.toContain('%25')
  expect(address.match(target ?? '')).toMatchObject({ operation: 'generate', model })
})
