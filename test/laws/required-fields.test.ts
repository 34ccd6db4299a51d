import type Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { TranslationError, translateResponse, type Wire } from '../../src/index.ts'
import { pairs, wiresOf } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'

type Choice = OpenAI.ChatCompletion.Choice
type Response = OpenAI.Responses.Response

/** The fields that a type requires: a table that lacks one, or has another, does not compile. */
const required = <T>(keys: Record<{ [Key in keyof T]-?: object extends Pick<T, Key> ? never : Key }[keyof T], true>) => Object.keys(keys)

const message = required<Anthropic.Message>({
  id: true,
  container: true,
  content: true,
  diagnostics: true,
  model: true,
  role: true,
  stop_details: true,
  stop_reason: true,
  stop_sequence: true,
  type: true,
  usage: true,
})
const messageUsage = required<Anthropic.Usage>({
  cache_creation: true,
  cache_creation_input_tokens: true,
  cache_read_input_tokens: true,
  inference_geo: true,
  input_tokens: true,
  output_tokens: true,
  output_tokens_details: true,
  server_tool_use: true,
  service_tier: true,
  speed: true,
})
const completion = required<OpenAI.ChatCompletion>({ id: true, choices: true, created: true, model: true, object: true })
const choice = required<Choice>({ finish_reason: true, index: true, logprobs: true, message: true })
const chatMessage = required<Choice['message']>({ content: true, refusal: true, role: true })
/** The SDK computes `output_text`. */
const response = required<Omit<Response, 'output_text'>>({
  created_at: true,
  error: true,
  id: true,
  incomplete_details: true,
  instructions: true,
  metadata: true,
  model: true,
  object: true,
  output: true,
  parallel_tool_calls: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_p: true,
})
const outputMessage = required<OpenAI.Responses.ResponseOutputMessage>({ content: true, id: true, role: true, status: true, type: true })
const outputText = required<OpenAI.Responses.ResponseOutputText>({ annotations: true, text: true, type: true })
const reasoning = required<OpenAI.Responses.ResponseReasoningItem>({ id: true, summary: true, type: true })

type Missing = { at: string; key: string }

const missing = (at: string, value: object, keys: readonly string[]): Missing[] =>
  keys.filter(key => (value as Record<string, unknown>)[key] === undefined).map(key => ({ at, key }))

function inMessages(body: Wire['messages']['response']): Missing[] {
  if (body.type === 'error') return []
  return [...missing('', body, message), ...missing('usage', body.usage, messageUsage)]
}

function inChat(body: Wire['chat-completions']['response']): Missing[] {
  if ('error' in body) return []
  const choices = body.choices.flatMap(one => [...missing('choices', one, choice), ...missing('message', one.message, chatMessage)])
  return [...missing('', body, completion), ...choices]
}

function inResponses(body: Wire['responses']['response']): Missing[] {
  if (!('output' in body)) return []
  const items = body.output.flatMap(item => {
    if (item.type === 'reasoning') return missing('reasoning', item, reasoning)
    if (item.type !== 'message') return []
    const texts = item.content.flatMap(part => (part.type === 'output_text' ? missing('output_text', part, outputText) : []))
    return [...missing('message', item, outputMessage), ...texts]
  })
  return [...missing('', body, response), ...items]
}

const missingIn = {
  'chat-completions': (body: unknown) => inChat(body as Wire['chat-completions']['response']),
  messages: (body: unknown) => inMessages(body as Wire['messages']['response']),
  responses: (body: unknown) => inResponses(body as Wire['responses']['response']),
}

const isListed = (name: string): name is keyof typeof missingIn => name in missingIn

const translations = pairs.flatMap(({ name, from, to }) => (isListed(to.name) && from !== to ? [{ name, from, to: to.name }] : []))

describe.each(translations)('$name', ({ from, to }) => {
  test('a translated response has every field that the official SDK requires', () => {
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
        expect(missingIn[to](body)).toEqual([])
      }),
      runs(1000),
    )
    expect(translated).toBeGreaterThan(0)
  })
})
