import type { ChatRequest, ChatResponse, ChatWire } from './chat-completions/schema.ts'
import type { GeminiRequest, GeminiResponse, GeminiWire } from './generate-content/schema.ts'
import type { ProtocolName } from './index.ts'
import type { MessagesRequest, MessagesResponse, MessagesWire } from './messages/schema.ts'
import type { ResponsesRequest, ResponsesResponse, ResponsesWire } from './responses/schema.ts'

// The only `any` of the source: nothing else is assignable to the enums and closed unions of the official SDKs.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Any = any

/**
 * By protocol: the bodies that wireglot returns. The official SDKs take a `request` without a cast. Their types list the words and blocks
 * of today, so what may be another one has the type `any`: open words such as `service_tier`, and the content of messages.
 *
 * `response`: a complete response, or the body of an error. `event`: the data of one event of a stream. `error`: the body of an error.
 * @example
 * import type { Wire } from 'wireglot'
 *
 * const request: Wire['messages']['request'] = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
 * console.log(request.max_tokens) // 100
 */
export type Wire = {
  'chat-completions': Omit<ChatWire, 'request'> & { request: Named<Sent<ChatWire['request']>> }
  responses: Omit<ResponsesWire, 'request'> & { request: Named<Omit<Sent<ResponsesWire['request']>, 'input' | 'tools'>> & { input: Any[]; tools?: Any[] } }
  messages: Omit<MessagesWire, 'request'> & {
    request: Named<Omit<Sent<MessagesWire['request']>, 'messages' | 'tools' | 'max_tokens'>> & {
      max_tokens: number
      messages: { role: Any; content: Any }[]
      tools?: Any[]
    }
  }
  'generate-content': Omit<GeminiWire, 'request'> & { request: Sent<GeminiWire['request']> }
}

/** By protocol: the bodies that wireglot reads. Unknown fields are allowed everywhere: a new field must never break a program. */
export type WireInput = {
  'chat-completions': { request: Loose<ChatRequest>; response: Loose<ChatResponse> }
  responses: { request: Loose<ResponsesRequest>; response: Loose<ResponsesResponse> }
  messages: { request: Loose<MessagesRequest>; response: Loose<MessagesResponse> }
  'generate-content': { request: Loose<GeminiRequest>; response: Loose<GeminiResponse> }
}

/** A request body of the protocol, or a value whose type says nothing about it, such as the result of `JSON.parse`. */
export type RequestInput<Body, From extends ProtocolName> = IsUntyped<Body> extends true ? Body : WireInput[From]['request']

/** A response of the protocol, the body of an error, or a value whose type says nothing about it. */
export type ResponseInput<Body, From extends ProtocolName> =
  IsUntyped<Body> extends true ? Body : WireInput[From]['response'] | Wire[From]['response'] | Wire[From]['error']

/** `unknown`, `any`, `object` and objects with any keys. */
type IsUntyped<T> = unknown extends T ? true : T extends object ? (string extends keyof T ? true : [keyof T] extends [never] ? IsNoLiteral<T> : false) : false

/** The literal `{}` is a body without fields. */
type IsNoLiteral<T> = string extends T ? false : true

/** What a schema accepts, for types without an index signature, too, such as the interfaces of the SDKs. */
type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? { [Key in keyof T]: unknown extends T[Key] ? Any : Key extends 'type' ? LooseType<T[Key]> : Loose<T[Key]> }
    : T

/** A kind that needs no `type` may have one. */
type LooseType<T> = [T] extends [null | undefined] ? string | T : T

type Named<T> = Omit<T, 'model'> & { model: string }

/** What an encoder writes, as the SDKs take it. Fields that may be absent are never null. */
type Sent<T> = unknown extends T
  ? Any
  : T extends readonly (infer Item)[]
    ? Sent<Item>[]
    : T extends object
      ? { [Key in keyof T]: SentField<T, Key> } & (string extends keyof T ? unknown : 'content' extends keyof T ? { content: Any } : unknown)
      : T
type SentField<T, Key extends keyof T> = Key extends OpenKey ? Any : Key extends WordKey ? Word<Present<T, Key>> : Sent<Present<T, Key>>
type Present<T, Key extends keyof T> = undefined extends T[Key] ? Exclude<T[Key], null | undefined> : T[Key]
type Word<T> = string extends T ? Any : T extends readonly string[] ? Any[] : Sent<T>

/** Keys of objects that the SDKs describe more closely than the encoders do. */
type OpenKey =
  | 'audio'
  | 'content'
  | 'format'
  | 'function_call'
  | 'input_schema'
  | 'mcp_servers'
  | 'mediaResolution'
  | 'output_format'
  | 'prediction'
  | 'prompt_cache_breakpoint'
  | 'response_format'
  | 'schema'
  | 'system'
  | 'thinking'
  | 'tool_choice'

/** Keys of words, in lists that grow. */
type WordKey =
  | 'allowed_callers'
  | 'behavior'
  | 'category'
  | 'context'
  | 'detail'
  | 'display'
  | 'effort'
  | 'execution'
  | 'include'
  | 'level'
  | 'media_type'
  | 'mode'
  | 'modalities'
  | 'phase'
  | 'prompt_cache_retention'
  | 'reasoning_effort'
  | 'responseModalities'
  | 'role'
  | 'search_context_size'
  | 'serviceTier'
  | 'service_tier'
  | 'speed'
  | 'status'
  | 'summary'
  | 'syntax'
  | 'thinkingLevel'
  | 'threshold'
  | 'truncation'
  | 'ttl'
  | 'type'
  | 'verbosity'
