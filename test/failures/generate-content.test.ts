import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { address } from '../../src/protocols/generate-content/address.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { covered } from '../support/covered.ts'
import { translateError, translateRequest, translateResponse } from '../support/untyped.ts'

/** What went wrong elsewhere between generate-content and the others; the names are those of the collection of such failures. */

const others = covered.filter(name => name !== 'generate-content')
const path = '/v1beta/models/m-1:generateContent'
const response = (parts: object[], more: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 },
  modelVersion: 'm-1',
  responseId: 'r1',
  ...more,
})
const toChat = (body: unknown) => translateResponse(body, { from: 'generate-content', to: 'chat-completions', now: 1 })
const chat = { model: 'm-1', messages: [{ role: 'user', content: 'x' }] }

describe.each(others)('in %s', to => {
  const strict = strictOf(to)
  const request = (body: object) => translateRequest(body, { from: 'generate-content', to, path, onUnresolvable: 'note' })

  test('snake_case spellings are read (P033)', () => {
    const { body } = request({ contents: [{ role: 'user', parts: [{ text: 'x' }] }], system_instruction: { parts: [{ text: 'SYS-SNAKE' }] } })
    expect(JSON.stringify(body)).toContain('SYS-SNAKE')
    expect(strict.checkRequest(body)).toEqual([])
  })

  test('contents without a role are the user’s (P111)', () => {
    const { body } = request({ contents: [{ parts: [{ text: 'no role here' }] }] })
    expect(strict.checkRequest(body)).toEqual([])
    expect(JSON.stringify(body)).toContain('no role here')
  })

  test.each<[what: string, body: object]>([
    ['a blocked prompt', { promptFeedback: { blockReason: 'PROHIBITED_CONTENT' }, modelVersion: 'm-1', responseId: 'r1' }],
    ['a response that was blocked completely', { ...response([]), candidates: [{ finishReason: 'SAFETY', index: 0 }] }],
    ['a limit that reasoning used up', { ...response([]), candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }] }],
  ])('%s is a legal response (P038)', (_, body) => {
    expect(strict.checkResponse(translateResponse(body, { from: 'generate-content', to }).body)).toEqual([])
  })

  test('a malformed call is no silent stop (P038)', () => {
    const body = { ...response([]), candidates: [{ finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'Malformed', index: 0 }] }
    const { body: wire } = translateResponse(body, { from: 'generate-content', to })
    expect(wire).toMatchObject({ error: { message: 'Malformed' } })
  })

  test('a list around an error is none (P106)', () => {
    const body = [{ error: { code: 400, message: 'bad field', status: 'INVALID_ARGUMENT' } }]
    const error = translateError({ status: 400, body }, { from: 'generate-content', to })
    expect(error.status).toBe(400)
    expect(JSON.stringify(error.body)).toContain('bad field')
    expect(strict.checkError(error.body)).toEqual([])
  })

  test('counts that every chunk repeats are not added up (P052)', () => {
    const translator = createStreamTranslator({ from: 'generate-content', to })
    const frame = (parts: object[], counts: object, more: object = {}) =>
      `data: ${JSON.stringify({ ...response(parts), candidates: [{ index: 0, content: { role: 'model', parts }, ...more }], usageMetadata: counts })}\r\n\r\n`
    const text =
      translator.push(frame([{ text: 'plan', thought: true }], { promptTokenCount: 8, totalTokenCount: 8 })) +
      translator.push(frame([{ text: 'Now.' }], { promptTokenCount: 8, candidatesTokenCount: 2, thoughtsTokenCount: 5, totalTokenCount: 15 })) +
      translator.push(
        frame(
          [{ functionCall: { id: 'g1', name: 'w', args: { q: 'A' } } }],
          { promptTokenCount: 8, candidatesTokenCount: 6, thoughtsTokenCount: 5, totalTokenCount: 19 },
          { finishReason: 'STOP' },
        ),
      ) +
      translator.end()
    expect(strict.checkStream(framesOf(text).map(({ wire }) => wire))).toEqual([])
    expect(translator.usage).toMatchObject({ input: 8, output: 11, reasoning: 5 })
  })

  test('a stream for generate-content has no sentinel, and its calls are whole (P112)', () => {
    const native = createStreamTranslator({ from: 'generate-content', to })
    const there = native.push(`data: ${JSON.stringify(response([{ functionCall: { id: 'g1', name: 'w', args: { q: 'A' } } }]))}\n\n`) + native.end()
    const back = createStreamTranslator({ from: to, to: 'generate-content' })
    const text = back.push(there) + back.end()
    expect(text).not.toContain('[DONE]')
    expect(JSON.stringify(framesOf(text).map(({ wire }) => wire))).toContain('"functionCall":{"name":"w","args":{"q":"A"},"id":"g1"}')
  })
})

test('tokens of thought are counted (P036)', () => {
  const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 5, thoughtsTokenCount: 20, cachedContentTokenCount: 4, totalTokenCount: 35 }
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

test('calls without ids are distinguished, and STOP is a stop for them (P039)', () => {
  const { body } = toChat(response([{ functionCall: { name: 'w', args: { q: 'A' } } }, { functionCall: { name: 'w', args: { q: 'B' } } }]))
  const [choice] = (body as { choices: { finish_reason: string; message: { tool_calls: { id: string; function: { arguments: string } }[] } }[] }).choices
  expect(choice?.finish_reason).toBe('tool_calls')
  expect(choice?.message.tool_calls.map(({ function: { arguments: args } }) => args)).toEqual(['{"q":"A"}', '{"q":"B"}'])
  expect(new Set(choice?.message.tool_calls.map(({ id }) => id)).size).toBe(2)
})

test('a schema keeps every keyword, and properties that have the name of one (P023)', () => {
  const parameters = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { n: { type: 'number', exclusiveMinimum: 0 }, const: { const: 'x' } },
  }
  const { body } = translateRequest(
    { ...chat, tools: [{ type: 'function', function: { name: 'f', parameters } }] },
    { from: 'chat-completions', to: 'generate-content' },
  )
  expect(body).toMatchObject({ tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }] })
})

test('results have the name of their function, in whatever order they come (P024)', () => {
  const call = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{}' } })
  const messages = [
    ...chat.messages,
    { role: 'assistant', content: null, tool_calls: [call('a', 'first'), call('b', 'second')] },
    { role: 'tool', tool_call_id: 'b', content: 'B' },
    { role: 'tool', tool_call_id: 'a', content: 'A' },
  ]
  const { body } = translateRequest({ ...chat, messages }, { from: 'chat-completions', to: 'generate-content' })
  const responses = JSON.stringify(body).match(/"functionResponse":\{[^}]*\{[^}]*\}[^}]*\}/g) ?? []
  expect(responses.map(text => [/"name":"(\w+)"/.exec(text)?.[1], /"output":"(\w+)"/.exec(text)?.[1]])).toEqual([
    ['first', 'A'],
    ['second', 'B'],
  ])
})

test.each(others)('a signature of a call comes back to it through a client of %s (P025)', client => {
  const body = response([{ functionCall: { id: 'g1', name: 'w', args: {} }, thoughtSignature: 'QUJD' }, { functionCall: { id: 'g2', name: 'w', args: {} } }])
  const there = translateResponse(body, { from: 'generate-content', to: client }).body
  const back = translateResponse(there, { from: client, to: 'generate-content' }).body
  const [candidate] = (back as { candidates: { content: { parts: { functionCall?: { id: string }; thoughtSignature?: string }[] } }[] }).candidates
  const calls = candidate?.content.parts.filter(({ functionCall }) => functionCall)
  expect(calls?.map(({ functionCall, thoughtSignature }) => [functionCall?.id, thoughtSignature])).toEqual([
    ['g1', 'QUJD'],
    ['g2', undefined],
  ])
})

test('the URL of an image is not its data (P074)', () => {
  const content = [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }]
  const { body } = translateRequest({ ...chat, messages: [{ role: 'user', content }] }, { from: 'chat-completions', to: 'generate-content' })
  expect(body).toMatchObject({ contents: [{ parts: [{ fileData: { fileUri: 'https://example.org/a.png' } }] }] })
})

test('an id with slashes and colons is encoded once in an address (P083)', () => {
  const model = 'arn:aws:x/y z'
  const target = address.target({ operation: 'generate', model, stream: false })
  expect(target).not.toContain('%25')
  expect(address.match(target ?? '')).toMatchObject({ operation: 'generate', model })
})
