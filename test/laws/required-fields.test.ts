import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { TranslationError, translateResponse, type Wire } from '../../src/index.ts'
import { pairs, wiresOf } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'

type Choice = OpenAI.ChatCompletion.Choice
type Response = OpenAI.Responses.Response

type RequiredKey<T> = { [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T]
type Table<T> = { [Key in RequiredKey<T>]: null extends T[Key] ? 'or null' : 'value' }

/**
 * The fields that a type requires: a table that lacks one, has another, or takes null for a value
 * does not compile.
 */
const required = <T>(table: Table<T>): Record<string, 'or null' | 'value'> => table

const tables = {
  message: required<Anthropic.Message>({
    id: 'value',
    container: 'or null',
    content: 'value',
    diagnostics: 'or null',
    model: 'value',
    role: 'value',
    stop_details: 'or null',
    stop_reason: 'or null',
    stop_sequence: 'or null',
    type: 'value',
    usage: 'value',
  }),
  'message usage': required<Anthropic.Usage>({
    cache_creation: 'or null',
    cache_creation_input_tokens: 'or null',
    cache_read_input_tokens: 'or null',
    inference_geo: 'or null',
    input_tokens: 'value',
    output_tokens: 'value',
    output_tokens_details: 'or null',
    server_tool_use: 'or null',
    service_tier: 'or null',
    speed: 'or null',
  }),
  // Servers leave out `citations` where there are none.
  text: required<Omit<Anthropic.TextBlock, 'citations'>>({ text: 'value', type: 'value' }),
  thinking: required<Anthropic.ThinkingBlock>({
    signature: 'value',
    thinking: 'value',
    type: 'value',
  }),
  redacted_thinking: required<Anthropic.RedactedThinkingBlock>({ data: 'value', type: 'value' }),
  tool_use: required<Anthropic.ToolUseBlock>({
    caller: 'value',
    id: 'value',
    input: 'or null',
    name: 'value',
    type: 'value',
  }),
  'message error': required<Omit<Anthropic.ErrorResponse, 'request_id'>>({
    error: 'value',
    type: 'value',
  }),
  completion: required<OpenAI.ChatCompletion>({
    id: 'value',
    choices: 'value',
    created: 'value',
    model: 'value',
    object: 'value',
  }),
  'completion usage': required<OpenAI.CompletionUsage>({
    completion_tokens: 'value',
    prompt_tokens: 'value',
    total_tokens: 'value',
  }),
  choice: required<Choice>({
    finish_reason: 'value',
    index: 'value',
    logprobs: 'or null',
    message: 'value',
  }),
  'chat message': required<Choice['message']>({
    content: 'or null',
    refusal: 'or null',
    role: 'value',
  }),
  'chat call': required<OpenAI.ChatCompletionMessageFunctionToolCall>({
    function: 'value',
    id: 'value',
    type: 'value',
  }),
  error: required<OpenAI.ErrorObject>({
    code: 'or null',
    message: 'value',
    param: 'or null',
    type: 'value',
  }),
  // The SDK computes `output_text`.
  response: required<Omit<Response, 'output_text'>>({
    created_at: 'value',
    error: 'or null',
    id: 'value',
    incomplete_details: 'or null',
    instructions: 'or null',
    metadata: 'or null',
    model: 'value',
    object: 'value',
    output: 'value',
    parallel_tool_calls: 'value',
    temperature: 'or null',
    tool_choice: 'value',
    tools: 'value',
    top_p: 'or null',
  }),
  'response usage': required<OpenAI.Responses.ResponseUsage>({
    input_tokens: 'value',
    input_tokens_details: 'value',
    output_tokens: 'value',
    output_tokens_details: 'value',
    total_tokens: 'value',
  }),
  'output message': required<OpenAI.Responses.ResponseOutputMessage>({
    content: 'value',
    id: 'value',
    role: 'value',
    status: 'value',
    type: 'value',
  }),
  output_text: required<OpenAI.Responses.ResponseOutputText>({
    annotations: 'value',
    text: 'value',
    type: 'value',
  }),
  refusal: required<OpenAI.Responses.ResponseOutputRefusal>({ refusal: 'value', type: 'value' }),
  reasoning: required<OpenAI.Responses.ResponseReasoningItem>({
    id: 'value',
    summary: 'value',
    type: 'value',
  }),
  function_call: required<OpenAI.Responses.ResponseFunctionToolCall>({
    arguments: 'value',
    call_id: 'value',
    name: 'value',
    type: 'value',
  }),
  custom_tool_call: required<OpenAI.Responses.ResponseCustomToolCall>({
    call_id: 'value',
    input: 'value',
    name: 'value',
    type: 'value',
  }),
  image_generation_call: required<OpenAI.Responses.ResponseOutputItem.ImageGenerationCall>({
    id: 'value',
    result: 'or null',
    status: 'value',
    type: 'value',
  }),
}
type Name = keyof typeof tables

/** The fields that an object lacks, as `table.field`. */
function lacking(name: Name, value: object): string[] {
  const fields = value as Record<string, unknown>
  return Object.entries(tables[name]).flatMap(([key, kind]) =>
    fields[key] === undefined || (kind === 'value' && fields[key] === null)
      ? [`${name}.${key}`]
      : [],
  )
}

/** As `lacking`, if there is a table of this name. */
const lackingByType = (value: { type: string }) =>
  Object.hasOwn(tables, value.type) ? lacking(value.type as Name, value) : []

function inMessages(body: Wire['messages']['response']): string[] {
  if (body.type === 'error') return lacking('message error', body)
  return [
    ...lacking('message', body),
    ...lacking('message usage', body.usage),
    ...body.content.flatMap(lackingByType),
  ]
}

function inChat(body: Wire['chat-completions']['response']): string[] {
  if ('error' in body) return lacking('error', body.error)
  const choices = body.choices.flatMap(choice => [
    ...lacking('choice', choice),
    ...lacking('chat message', choice.message),
    ...(choice.message.tool_calls ?? []).flatMap(call =>
      call.type === 'function' ? lacking('chat call', call) : [],
    ),
  ])
  return [
    ...lacking('completion', body),
    ...(body.usage ? lacking('completion usage', body.usage) : []),
    ...choices,
  ]
}

function inResponses(body: Wire['responses']['response']): string[] {
  if (!('output' in body)) return lacking('error', body.error)
  const items = body.output.flatMap(item =>
    item.type === 'message'
      ? [...lacking('output message', item), ...item.content.flatMap(lackingByType)]
      : lackingByType(item),
  )
  return [
    ...lacking('response', body),
    ...(body.usage ? lacking('response usage', body.usage) : []),
    ...items,
  ]
}

const lackingIn = {
  'chat-completions': (body: unknown) => inChat(body as Wire['chat-completions']['response']),
  messages: (body: unknown) => inMessages(body as Wire['messages']['response']),
  responses: (body: unknown) => inResponses(body as Wire['responses']['response']),
}

const isListed = (name: string): name is keyof typeof lackingIn => name in lackingIn

const translations = pairs.flatMap(({ name, from, to }) =>
  isListed(to.name) && from !== to ? [{ name, from, to: to.name }] : [],
)

describe.each(translations)('$name', ({ from, to }) => {
  test('a translated response, not streamed, has every field that the official SDK requires', () => {
    let translated = 0
    fc.assert(
      fc.property(wiresOf(from).response, wire => {
        let body: unknown
        try {
          body = translateResponse(wire as object, { from: from.name as 'messages', to }).body
        } catch (error) {
          if (TranslationError.is(error)) return
          throw error
        }
        translated++
        expect(lackingIn[to](body)).toEqual([])
      }),
      runs(1000),
    )
    expect(translated).toBeGreaterThan(0)
  })
})
