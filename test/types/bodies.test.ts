import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { expect, expectTypeOf, test } from 'vitest'
import {
  collectStream,
  explodeResponse,
  historyOf,
  normalizeResponse,
  referencesOf,
  translateError,
  translateRequest,
  translateResponse,
  type Wire,
  type WireInput,
} from '../../src/index.ts'

// The compiler is the test: what these functions hold must compile, and what an `@ts-expect-error` stands above must not.

const openai = new OpenAI({ apiKey: 'unused' })
const anthropic = new Anthropic({ apiKey: 'unused' })
const google = new GoogleGenAI({ apiKey: 'unused' })

const chat: OpenAI.ChatCompletionCreateParams = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
const messages: Anthropic.MessageCreateParams = { model: 'm', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] }

test('the official SDKs take a translated request without a cast', () => {
  expect([
    () => openai.chat.completions.create(translateRequest(messages, { from: 'messages', to: 'chat-completions' }).body),
    () => openai.responses.create(translateRequest(chat, { from: 'chat-completions', to: 'responses' }).body),
    () => anthropic.messages.create(translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body),
    () => anthropic.beta.messages.create(translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body),
    () => anthropic.messages.countTokens(translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body),
    () => {
      const { contents, systemInstruction, generationConfig, tools } = translateRequest(chat, { from: 'chat-completions', to: 'generate-content' }).body
      return google.models.generateContent({
        model: 'm',
        contents,
        config: { ...generationConfig, ...(systemInstruction && { systemInstruction }), ...(tools && { tools }) },
      })
    },
  ]).toHaveLength(6)
})

test('requests and responses of the official SDKs are accepted as they are', () => {
  expect([
    (body: OpenAI.ChatCompletionCreateParams) => translateRequest(body, { from: 'chat-completions', to: 'messages' }),
    (body: OpenAI.Responses.ResponseCreateParams) => translateRequest(body, { from: 'responses', to: 'messages' }),
    (body: Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams) => translateRequest(body, { from: 'messages', to: 'responses' }),
    (body: OpenAI.ChatCompletion) => translateResponse(body, { from: 'chat-completions', to: 'messages' }),
    (body: OpenAI.Responses.Response) => normalizeResponse(body, { protocol: 'responses' }),
    (body: Anthropic.Message) => explodeResponse(body, { protocol: 'messages' }),
    (request: Anthropic.MessageCreateParams, response: Anthropic.Message) => historyOf(request, response, { protocol: 'messages' }),
    (body: OpenAI.Responses.ResponseCreateParams) => referencesOf(body, { protocol: 'responses' }),
  ]).toHaveLength(8)
})

test('a body without its required fields, or with one of another type, does not compile', () => {
  expect([
    // @ts-expect-error
    () => translateRequest({ mesages: [] }, { from: 'chat-completions', to: 'messages' }),
    // @ts-expect-error
    () => translateRequest({}, { from: 'messages', to: 'responses' }),
    // @ts-expect-error
    () => translateRequest({ model: 'm', messages: [{ role: 'user', content: 5 }] }, { from: 'chat-completions', to: 'messages' }),
    // @ts-expect-error
    () => translateRequest({ contents: 'Hello' }, { from: 'generate-content', to: 'messages' }),
    // @ts-expect-error
    () => translateRequest('Hello', { from: 'responses', to: 'messages' }),
    // @ts-expect-error
    () => translateResponse({ content: 'Hello' }, { from: 'messages', to: 'responses' }),
    // @ts-expect-error
    () => normalizeResponse({ choises: [] }, { protocol: 'chat-completions' }),
    // @ts-expect-error
    () => translateRequest(chat, { from: 'morse', to: 'messages' }),
    // @ts-expect-error
    () => translateRequest(chat, { from: 'chat-completions', to: 'messages', stict: true }),
  ]).toHaveLength(9)
})

test('a body of no known type is accepted, and `from` decides', () => {
  const parsed: unknown = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
  const { body } = translateRequest(parsed, { from: 'chat-completions', to: 'messages' })
  expectTypeOf(body).toEqualTypeOf<Wire['messages']['request']>()
  expect(translateRequest(JSON.parse(JSON.stringify(parsed)), { from: 'chat-completions', to: 'messages' }).body).toEqual(body)
  const anyKeys: Record<string, unknown> = JSON.parse(JSON.stringify(parsed))
  expect(translateRequest(anyKeys, { from: 'chat-completions', to: 'messages' }).body).toEqual(body)
  const anyObject: object = anyKeys
  expect(translateRequest(anyObject, { from: 'chat-completions', to: 'messages' }).body).toEqual(body)
})

test('unknown fields compile', () => {
  const { body } = translateRequest(
    { model: 'm', messages: [{ role: 'user', content: 'Hello', x_extra: 1 }], x_vendor: true },
    { from: 'chat-completions', to: 'messages' },
  )
  expect(body.max_tokens).toBe(32_000)
})

test('results have the type of the target', () => {
  const error = { status: 400, body: {} }
  expectTypeOf(translateError(error, { from: 'messages', to: 'responses' }).body).toEqualTypeOf<Wire['responses']['error']>()
  expectTypeOf(translateResponse({ choices: [] }, { from: 'chat-completions', to: 'messages' }).body).toEqualTypeOf<Wire['messages']['response']>()
  const collect = () => collectStream([], { protocol: 'messages' })
  expectTypeOf(collect).returns.resolves.toHaveProperty('body').toEqualTypeOf<Wire['messages']['response']>()
  expectTypeOf<Wire['messages']['request']>().toExtend<WireInput['messages']['request']>()
  expectTypeOf<Wire['chat-completions']['request']>().toExtend<WireInput['chat-completions']['request']>()
  expectTypeOf<Wire['responses']['request']>().toExtend<WireInput['responses']['request']>()
  expectTypeOf<Wire['generate-content']['request']>().toExtend<WireInput['generate-content']['request']>()
})
