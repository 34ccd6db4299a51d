import type Anthropic from '@anthropic-ai/sdk'
import type OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import { ChatRequest, ChatResponse } from '../../src/protocols/chat-completions/schema.ts'
import { MessagesRequest, MessagesResponse } from '../../src/protocols/messages/schema.ts'
import { ResponsesRequest, ResponsesResponse } from '../../src/protocols/responses/schema.ts'

const kept = 'an unknown field: kept within the protocol, noted elsewhere'
const checked = 'any value is right here; the decoder reads it by name'
const dialect = 'other servers of this shape take it'
const older = 'an earlier version of the protocol has it'

/**
 * Every field that an official SDK knows is declared by our schema, or stands here with the reason why not. A new field
 * of a newer SDK does not compile: the error at `complete` names it.
 */
const undeclared = {
  chatRequest: {},
  chatResponse: { moderation: kept, system_fingerprint: kept },
  responsesRequest: {},
  responsesResponse: { output_text: 'the SDK makes it, it is on no wire' },
  messagesRequest: {
    betas: 'the SDK sends it as a header',
    container: checked,
    context_management: checked,
    diagnostics: checked,
    thread: checked,
    billing_policy: kept,
    compaction: kept,
    fallback_credit_token: kept,
    fallbacks: kept,
    inference_geo: kept,
    mcp_servers: kept,
    user_profile_id: kept,
    workspace_id: kept,
  },
  messagesResponse: { container: kept, context_management: kept, diagnostics: kept, input_transformations: checked },
} as const

/** Fields that the schema has and the SDK has not. */
const beyond = {
  chatRequest: {
    enable_thinking: dialect,
    min_p: dialect,
    reasoning: dialect,
    repetition_penalty: dialect,
    thinking: dialect,
    thinking_budget: dialect,
    top_k: dialect,
  },
  chatResponse: {},
  responsesRequest: { frequency_penalty: dialect, presence_penalty: dialect, max_tool_calls: older },
  responsesResponse: {},
  messagesRequest: { temperature: older, top_p: older, top_k: older },
  messagesResponse: {},
} as const

type Keys<T> = T extends unknown ? keyof T & string : never
/** Fields of the SDK that nobody has an answer for. */
type Open<Sdk, Shape, Exceptions> = Exclude<Keys<Sdk>, keyof Shape | keyof Exceptions>
const complete = <_Missing extends never>() => {}

complete<Open<OpenAI.Chat.ChatCompletionCreateParams, typeof ChatRequest.shape, typeof undeclared.chatRequest>>()
complete<Open<OpenAI.Chat.ChatCompletion, typeof ChatResponse.shape, typeof undeclared.chatResponse>>()
complete<Open<OpenAI.Responses.ResponseCreateParams, typeof ResponsesRequest.shape, typeof undeclared.responsesRequest>>()
// The answer repeats the request.
complete<Open<OpenAI.Responses.Response, typeof ResponsesResponse.shape & typeof ResponsesRequest.shape, typeof undeclared.responsesResponse>>()
complete<Open<Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams, typeof MessagesRequest.shape, typeof undeclared.messagesRequest>>()
complete<Open<Anthropic.Message | Anthropic.Beta.BetaMessage, typeof MessagesResponse.shape, typeof undeclared.messagesResponse>>()

complete<Open<typeof ChatRequest.shape, UnionKeys<OpenAI.Chat.ChatCompletionCreateParams>, typeof beyond.chatRequest>>()
complete<Open<typeof ChatResponse.shape, UnionKeys<OpenAI.Chat.ChatCompletion>, typeof beyond.chatResponse>>()
complete<Open<typeof ResponsesRequest.shape, UnionKeys<OpenAI.Responses.ResponseCreateParams>, typeof beyond.responsesRequest>>()
complete<Open<typeof ResponsesResponse.shape, UnionKeys<OpenAI.Responses.Response>, typeof beyond.responsesResponse>>()
complete<Open<typeof MessagesRequest.shape, UnionKeys<Anthropic.MessageCreateParams | Anthropic.Beta.MessageCreateParams>, typeof beyond.messagesRequest>>()
complete<Open<typeof MessagesResponse.shape, UnionKeys<Anthropic.Message | Anthropic.Beta.BetaMessage>, typeof beyond.messagesResponse>>()

type UnionKeys<T> = Record<Keys<T>, unknown>

const shapes: Record<keyof typeof undeclared, object> = {
  chatRequest: ChatRequest.shape,
  chatResponse: ChatResponse.shape,
  responsesRequest: ResponsesRequest.shape,
  responsesResponse: ResponsesResponse.shape,
  messagesRequest: MessagesRequest.shape,
  messagesResponse: MessagesResponse.shape,
}

describe.each(Object.keys(shapes) as (keyof typeof shapes)[])('%s and the official SDK', name => {
  test('every field that only one of them has is listed with a reason, and none is listed in vain', () => {
    const shape = Object.keys(shapes[name])
    for (const [field, reason] of Object.entries({ ...undeclared[name], ...beyond[name] })) expect(reason, field).toMatch(/\w+ \w+/)
    expect(Object.keys(undeclared[name]).filter(field => shape.includes(field))).toEqual([])
    expect(Object.keys(beyond[name]).filter(field => !shape.includes(field))).toEqual([])
  })
})
