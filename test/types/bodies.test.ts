import Anthropic from '@anthropic-ai/sdk'
import { type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import { expect, expectTypeOf, test } from 'vitest'
import {
  collectStream,
  explodeResponse,
  historyOf,
  type NoteCode,
  normalizeResponse,
  referencesOf,
  TranslationError,
  translateError,
  translateRequest,
  translateResponse,
  type Wire,
  type WireInput,
} from '../../src/index.ts'

// The compiler is the test: what these functions hold must compile, and what is below an
// `@ts-expect-error` must not.

const openai = new OpenAI({ apiKey: 'unused' })
const anthropic = new Anthropic({ apiKey: 'unused' })
const google = new GoogleGenAI({ apiKey: 'unused' })

const chat: OpenAI.ChatCompletionCreateParams = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hello' }],
}
const messages: Anthropic.MessageCreateParams = {
  model: 'm',
  max_tokens: 1,
  messages: [{ role: 'user', content: 'Hello' }],
}

test('the official SDKs take a translated request without a cast', () => {
  expect([
    () =>
      openai.chat.completions.create(
        translateRequest(messages, { from: 'messages', to: 'chat-completions' }).body,
      ),
    () =>
      openai.responses.create(
        translateRequest(chat, { from: 'chat-completions', to: 'responses' }).body,
      ),
    () =>
      anthropic.messages.create(
        translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body,
      ),
    () =>
      anthropic.beta.messages.create(
        translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body,
      ),
    () =>
      anthropic.messages.countTokens(
        translateRequest(chat, { from: 'chat-completions', to: 'messages' }).body,
      ),
    () => {
      const { contents, systemInstruction, generationConfig, tools } = translateRequest(chat, {
        from: 'chat-completions',
        to: 'generate-content',
      }).body
      return google.models.generateContent({
        model: 'm',
        contents,
        config: {
          ...generationConfig,
          ...(systemInstruction && { systemInstruction }),
          ...(tools && { tools }),
        },
      })
    },
  ]).toHaveLength(6)
})

test('requests and responses of the official SDKs are accepted as they are', () => {
  expect([
    (body: OpenAI.ChatCompletionCreateParams) =>
      translateRequest(body, { from: 'chat-completions', to: 'messages' }),
    (body: OpenAI.Responses.ResponseCreateParams) =>
      translateRequest(body, { from: 'responses', to: 'messages' }),
    (body: Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams) =>
      translateRequest(body, { from: 'messages', to: 'responses' }),
    (body: OpenAI.ChatCompletion) =>
      translateResponse(body, { from: 'chat-completions', to: 'messages' }),
    (body: OpenAI.Responses.Response) => normalizeResponse(body, { protocol: 'responses' }),
    (body: Anthropic.Message) => explodeResponse(body, { protocol: 'messages' }),
    (request: Anthropic.MessageCreateParams, response: Anthropic.Message) =>
      historyOf(request, response, { protocol: 'messages' }),
    (body: OpenAI.Responses.ResponseCreateParams) => referencesOf(body, { protocol: 'responses' }),
  ]).toHaveLength(8)
})

test('code for the responses of the official SDKs takes translated ones without a cast', () => {
  const wire: unknown = {
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!' }, finish_reason: 'stop' }],
  }
  const toMessage = (): Anthropic.Message => {
    const { body } = translateResponse(wire, { from: 'chat-completions', to: 'messages' })
    if (body.type === 'error') throw new Error(body.error.message)
    return body
  }
  const toCompletion = (message: Anthropic.Message): OpenAI.ChatCompletion => {
    const { body } = translateResponse(message, { from: 'messages', to: 'chat-completions' })
    if ('error' in body) throw new Error(body.error.message)
    return body
  }
  const toResponse = (
    message: Anthropic.Message,
  ): Omit<OpenAI.Responses.Response, 'output_text'> => {
    const { body } = translateResponse(message, { from: 'messages', to: 'responses' })
    if (!('output' in body)) throw new Error(body.error.message)
    return body
  }
  const toGemini = (
    message: Anthropic.Message,
  ): Pick<GenerateContentResponse, 'candidates' | 'promptFeedback' | 'usageMetadata'> => {
    const { body } = translateResponse(message, { from: 'messages', to: 'generate-content' })
    if ('error' in body) throw new Error(body.error.message)
    return body
  }
  expect(toCompletion(toMessage()).choices[0]?.message.content).toBe('Hi!')
  expect(toResponse(toMessage()).output).toHaveLength(1)
  expect(toGemini(toMessage()).candidates?.[0]?.content?.parts?.[0]?.text).toBe('Hi!')
})

test('the next request of an official SDK takes the content of a translated response', () => {
  const received: unknown = {
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ type: 'text', text: 'Hi!' }],
    stop_reason: 'end_turn',
  }
  expect([
    () => {
      const { body } = translateResponse(received, { from: 'messages', to: 'chat-completions' })
      const message = 'choices' in body ? body.choices[0]?.message : undefined
      return openai.chat.completions.create({ model: 'm', messages: message ? [message] : [] })
    },
    () => {
      const { body } = translateResponse(received, { from: 'messages', to: 'responses' })
      return openai.responses.create({ model: 'm', input: 'output' in body ? body.output : [] })
    },
    () => {
      const { body } = translateResponse(received, { from: 'chat-completions', to: 'messages' })
      const content = body.type === 'message' ? body.content : []
      return anthropic.messages.create({
        model: 'm',
        max_tokens: 1,
        messages: [{ role: 'assistant', content }],
      })
    },
    () => {
      const { body } = translateResponse(received, { from: 'messages', to: 'generate-content' })
      const content = 'error' in body ? undefined : body.candidates?.[0]?.content
      return google.models.generateContent({ model: 'm', contents: content ? [content] : [] })
    },
  ]).toHaveLength(4)
})

test('events and errors have the types of the official SDKs, except for those that the SDKs lack', () => {
  type Data<Name extends keyof Wire, Other> = Exclude<
    Wire[Name]['event'],
    Wire[Name]['error'] | Other
  >
  expectTypeOf<Data<'messages', { type: 'ping' }>>().toExtend<Anthropic.MessageStreamEvent>()
  expectTypeOf<Data<'chat-completions', '[DONE]'>>().toExtend<OpenAI.ChatCompletionChunk>()
  expectTypeOf<
    Data<'responses', '[DONE]' | { type: 'error' }>
  >().toExtend<OpenAI.Responses.ResponseStreamEvent>()
  // The SDK expects the fields of its event `error` outside of `error`, where servers do not write
  // them.
  expectTypeOf<Extract<Wire['responses']['event'], { type: 'error' }>>().toExtend<{
    error: OpenAI.ErrorObject
  }>()
  expectTypeOf<Data<'generate-content', never>>().toExtend<
    Pick<GenerateContentResponse, 'candidates' | 'promptFeedback' | 'usageMetadata'>
  >()
  expectTypeOf<Wire['messages']['error']>().toExtend<Anthropic.ErrorResponse>()
  expectTypeOf<Wire['chat-completions']['error']>().toExtend<{ error: OpenAI.ErrorObject }>()
  expectTypeOf<Wire['responses']['error']>().toExtend<{ error: OpenAI.ErrorObject }>()
})

test('a body without its required fields, or with one of another type, does not compile', () => {
  expect([
    // @ts-expect-error
    () => translateRequest({ mesages: [] }, { from: 'chat-completions', to: 'messages' }),
    // @ts-expect-error
    () => translateRequest({}, { from: 'messages', to: 'responses' }),
    () =>
      translateRequest(
        // @ts-expect-error
        { model: 'm', messages: [{ role: 'user', content: 5 }] },
        { from: 'chat-completions', to: 'messages' },
      ),
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

test('accepts a body of unknown type, and `from` decides', () => {
  const parsed: unknown = { model: 'm', messages: [{ role: 'user', content: 'Hello' }] }
  const { body } = translateRequest(parsed, { from: 'chat-completions', to: 'messages' })
  expectTypeOf(body).toEqualTypeOf<Wire['messages']['request']>()
  expect(
    translateRequest(JSON.parse(JSON.stringify(parsed)), {
      from: 'chat-completions',
      to: 'messages',
    }).body,
  ).toEqual(body)
  const anyKeys: Record<string, unknown> = JSON.parse(JSON.stringify(parsed))
  expect(translateRequest(anyKeys, { from: 'chat-completions', to: 'messages' }).body).toEqual(body)
  const anyObject: object = anyKeys
  expect(translateRequest(anyObject, { from: 'chat-completions', to: 'messages' }).body).toEqual(
    body,
  )
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
  expectTypeOf(translateError(error, { from: 'messages', to: 'responses' }).body).toEqualTypeOf<
    Wire['responses']['error']
  >()
  expectTypeOf(
    translateResponse({ choices: [] }, { from: 'chat-completions', to: 'messages' }).body,
  ).toEqualTypeOf<Wire['messages']['response']>()
  const collect = () => collectStream([], { protocol: 'messages' })
  expectTypeOf(collect)
    .returns.resolves.toHaveProperty('body')
    .toEqualTypeOf<Wire['messages']['response']>()
  expectTypeOf<Wire['messages']['request']>().toExtend<WireInput['messages']['request']>()
  expectTypeOf<Wire['chat-completions']['request']>().toExtend<
    WireInput['chat-completions']['request']
  >()
  expectTypeOf<Wire['responses']['request']>().toExtend<WireInput['responses']['request']>()
  expectTypeOf<Wire['generate-content']['request']>().toExtend<
    WireInput['generate-content']['request']
  >()
})

test('content, tools and tool calls of a translated request have types', () => {
  const { body } = translateRequest(chat, { from: 'chat-completions', to: 'messages' })
  const [message] = body.messages
  const block = typeof message?.content === 'object' ? message.content[0] : undefined
  if (block?.type === 'tool_use') expectTypeOf(block.name).toEqualTypeOf<string>()
  if (block?.type === 'text') expectTypeOf(block.text).toEqualTypeOf<string>()
  expectTypeOf(block?.type).toEqualTypeOf<
    | 'text'
    | 'image'
    | 'document'
    | 'search_result'
    | 'tool_result'
    | 'tool_use'
    | 'thinking'
    | 'redacted_thinking'
    | 'web_search_tool_result'
    | 'server_tool_use'
    | undefined
  >()
  const chatBody = translateRequest(messages, { from: 'messages', to: 'chat-completions' }).body
  for (const written of chatBody.messages) {
    const call = written.role === 'assistant' ? written.tool_calls?.[0] : undefined
    if (call?.type === 'function') expectTypeOf(call.function.arguments).toEqualTypeOf<string>()
  }
  const item = translateRequest(messages, { from: 'messages', to: 'responses' }).body.input[0]
  if (item?.type === 'function_call') expectTypeOf(item.arguments).toEqualTypeOf<string>()
  expect(block).toBeUndefined()
})

test('content, tools and tool calls of another shape do not compile', () => {
  const head = { model: 'm', max_tokens: 1 }
  expect([
    (): Wire['messages']['request'] => ({
      ...head,
      // @ts-expect-error
      messages: [{ role: 'user', content: [{ tipe: 'text' }] }],
    }),
    (): Wire['messages']['request'] => ({
      ...head,
      // @ts-expect-error
      messages: [{ role: 'user', content: [{ type: 'text', txt: 'Hello' }] }],
    }),
    (): Wire['messages']['request'] => ({
      ...head,
      messages: [],
      // @ts-expect-error
      tools: [{ nam: 'f', input_schema: {} }],
    }),
    (): Wire['chat-completions']['request'] => ({
      model: 'm',
      // @ts-expect-error
      messages: [{ role: 'user', content: [{ tipe: 'text' }] }],
    }),
    (): Wire['chat-completions']['request'] => ({
      model: 'm',
      messages: [],
      // @ts-expect-error
      tools: [{ type: 'function', function: { nam: 'f' } }],
    }),
    (): Wire['chat-completions']['request'] => ({
      model: 'm',
      // @ts-expect-error
      messages: [{ role: 'assistant', tool_calls: [{ id: 'c', type: 'function' }] }],
    }),
    (): Wire['responses']['request'] => ({
      model: 'm',
      // @ts-expect-error
      input: [{ type: 'message', role: 'user', content: [{ type: 'input_text' }] }],
    }),
    (): Wire['responses']['request'] => ({
      model: 'm',
      // @ts-expect-error
      input: [{ type: 'function_call', call_id: 'c' }],
    }),
    (): Wire['generate-content']['request'] => ({
      // @ts-expect-error
      contents: [{ role: 'user', parts: [{ txt: 'Hello' }] }],
    }),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [{ role: 'user', content: [{ tipe: 'text' }] }] },
        { from: 'chat-completions', to: 'messages' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [{ role: 'user', content: [{ tipe: 'text' }] }] },
        { from: 'messages', to: 'responses' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { input: [{ role: 'user', content: [{ tipe: 'input_text' }] }] },
        { from: 'responses', to: 'messages' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [], tools: [{ name: 5 }] },
        { from: 'messages', to: 'chat-completions' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [], tools: [{ type: 'function', function: { nam: 'f' } }] },
        { from: 'chat-completions', to: 'messages' },
      ),
    (): Wire['chat-completions']['request'] => ({
      model: 'm',
      // @ts-expect-error
      messages: [{ role: 'user', contnt: 'Hello' }],
    }),
    // @ts-expect-error
    (): Wire['messages']['request'] => ({ ...head, messages: [{ role: 'user', contnt: 'Hello' }] }),
    (): Wire['responses']['request'] => ({
      model: 'm',
      // @ts-expect-error
      input: [{ type: 'message', role: 'user', contnt: 'Hello' }],
    }),
    (): Wire['responses']['request'] => ({
      model: 'm',
      input: [],
      // @ts-expect-error
      tools: [{ type: 'function', nam: 'f', parameters: {}, strict: null }],
    }),
    (): Wire['generate-content']['request'] => ({
      contents: [],
      // @ts-expect-error
      tools: [{ functionDeclarations: [{ nam: 'f' }] }],
    }),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [{ role: 'user', contnt: 'Hello' }] },
        { from: 'chat-completions', to: 'messages' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { messages: [{ role: 'user', contnt: 'Hello' }] },
        { from: 'messages', to: 'responses' },
      ),
    () =>
      translateRequest(
        // @ts-expect-error
        { input: [{ role: 'user', contnt: 'Hello' }] },
        { from: 'responses', to: 'messages' },
      ),
  ]).toHaveLength(22)
})

test('the notes of an error have codes of the catalog', () => {
  const error: unknown = new TranslationError(
    { code: 'inexpressible', protocol: 'messages', path: '' },
    'refused',
  )
  if (TranslationError.is(error))
    expectTypeOf(error.notes?.[0]?.code).toEqualTypeOf<NoteCode | undefined>()
  expect(error).toBeInstanceOf(TranslationError)
})
