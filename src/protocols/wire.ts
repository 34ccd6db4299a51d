import type { Written } from '../kit/schema/written.ts'
import type { ChatBlock, ChatBlockOf, ChatRequest, ChatResponse, ChatWire, ChatWrittenAssistant, ChatWrittenTool } from './chat-completions/schema.ts'
import type { ConverseRequest, ConverseResponse, ConverseWire } from './converse/schema.ts'
import type { GeminiRequest, GeminiResponse, GeminiWire } from './generate-content/schema.ts'
import type { ProtocolName } from './index.ts'
import type { MessagesRequest, MessagesResponse, MessagesWire, MessagesWrittenBlock, MessagesWrittenBlockOf, MessagesWrittenTool } from './messages/schema.ts'
import type {
  ResponsesClientCall,
  ResponsesClientResult,
  ResponsesContentOf,
  ResponsesFunctionTool,
  ResponsesHosted,
  ResponsesItemOf,
  ResponsesRequest,
  ResponsesResponse,
  ResponsesWire,
  ResponsesWrittenContent,
  ResponsesWrittenCustom,
  ResponsesWrittenItem,
} from './responses/schema.ts'

// The only `any` of the source: nothing else is assignable to the enums and closed unions of the official SDKs.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Any = any

/**
 * By protocol: the bodies that wireglot returns. The official SDKs take a `request` without a cast. Their types list the words of today,
 * so words that may be others have the type `any`, such as `service_tier`. Kinds of content that the SDKs lack are left out of the type.
 *
 * `response`: a complete response, or the body of an error. `event`: the data of one event of a stream. `error`: the body of an error.
 * @example
 * import type { Wire } from 'wireglot'
 *
 * const request: Wire['messages']['request'] = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
 * console.log(request.max_tokens) // 100
 */
export type Wire = {
  'chat-completions': Omit<ChatWire, 'request'> & { request: ChatSent }
  responses: Omit<ResponsesWire, 'request'> & { request: ResponsesSent }
  messages: Omit<MessagesWire, 'request'> & { request: MessagesSent }
  'generate-content': Omit<GeminiWire, 'request'> & { request: Sent<GeminiWire['request']> }
  converse: Omit<ConverseWire, 'request'> & { request: Sent<ConverseWire['request']> }
}

type ChatSent = Named<Omit<Sent<ChatWire['request']>, 'messages' | 'tools'>> & { messages: ChatSentMessage[]; tools?: Sent<ChatWrittenTool>[] }
type ChatSentPart<Type extends ChatBlock['type']> = Sent<ChatBlockOf<Type>>
type ChatSentImage = { type: 'image_url'; image_url: { url: string; detail?: Any } }
type ChatSentAssistant = Omit<Sent<ChatWrittenAssistant>, 'content'> & { content?: string | ChatSentPart<'text' | 'refusal'>[] | null }
type ChatSentMessage =
  | ChatSentAssistant
  | { role: 'developer' | 'system'; content: string | ChatSentPart<'text'>[]; name?: string }
  | { role: 'user'; content: string | (ChatSentPart<'text' | 'input_audio' | 'file'> | ChatSentImage)[]; name?: string }
  | { role: 'tool'; tool_call_id: string; content: string | ChatSentPart<'text'>[] }

type ResponsesSent = Named<Omit<Sent<ResponsesWire['request']>, 'input' | 'tools'>> & { input: ResponsesSentItem[]; tools?: ResponsesSentTool[] }
type ResponsesSentPart<Type extends ResponsesWrittenContent['type']> = Sent<ResponsesContentOf<Type>>
type ResponsesSentOf<Type extends ResponsesWrittenItem['type'], Key extends PropertyKey = never> = Omit<Sent<ResponsesItemOf<Type>>, Key>
type ResponsesSentItem =
  | { type: 'message'; role: 'user' | 'system' | 'developer'; content: string | ResponsesSentPart<'input_text' | 'input_image' | 'input_file'>[]; id?: string }
  | { type: 'message'; role: 'assistant'; content: (ResponsesSentText | ResponsesSentPart<'refusal'>)[]; id: Any; status: Any; phase?: Any }
  | (ResponsesSentOf<'reasoning', 'id'> & { id: Any })
  | ResponsesSentOf<'function_call'>
  | ResponsesSentOf<'custom_tool_call'>
  | { type: 'function_call_output'; call_id: string; output: ResponsesSentOutput; id?: string; status?: Any }
  | { type: 'custom_tool_call_output'; call_id: string; output: ResponsesSentOutput; id?: string }
  | ({ type: ResponsesClientType; call_id: string } & Record<'action' | 'arguments' | 'execution' | 'id' | 'operation' | 'output' | 'status' | 'tools', Any>)
type ResponsesSentCallable =
  | (Omit<Sent<Written<ResponsesFunctionTool>>, 'parameters' | 'strict'> & { parameters: Any; strict: Any })
  | Sent<ResponsesWrittenCustom>
/** Tools that the provider runs have settings that only the SDK lists. */
type ResponsesSentTool =
  | ResponsesSentCallable
  | { type: 'namespace'; name: string; description: string; tools: ResponsesSentCallable[] }
  | ({ type: ResponsesHosted['type'] } & Record<'container' | 'server_label' | 'server_url', Any>)
type ResponsesSentText = Omit<ResponsesSentPart<'output_text'>, 'logprobs'>
type ResponsesSentOutput = string | ResponsesSentPart<'input_text' | 'input_image' | 'input_file'>[]
type ResponsesClientType = (ResponsesClientCall | ResponsesClientResult)['type']

type MessagesSent = Named<Omit<Sent<MessagesWire['request']>, 'messages' | 'tools' | 'max_tokens' | 'system'>> & {
  max_tokens: number
  messages: { role: Any; content: string | MessagesSentBlock[] }[]
  system?: string | MessagesSentText[]
  tools?: MessagesSentTool[]
}
type MessagesSentText = Sent<MessagesWrittenBlockOf<'text'>>
type MessagesSentOf<Type extends MessagesWrittenBlock['type'], Key extends PropertyKey = never> = Omit<Sent<MessagesWrittenBlockOf<Type>>, Key>
type MessagesSentSearch = MessagesSentOf<'search_result', 'content'> & { content: MessagesSentText[] }
type MessagesSentSource = { type: 'base64'; media_type: Any; data: string } | { type: 'url'; url: string } | { type: 'file'; file_id: string }
type MessagesSentImage = MessagesSentOf<'image', 'source'> & { source: MessagesSentSource }
type MessagesSentDocument = MessagesSentOf<'document', 'source'> & {
  source: MessagesSentSource | { type: 'text'; media_type: Any; data: string } | { type: 'content'; content: MessagesSentText[] }
}
type MessagesSentHeld = MessagesSentText | MessagesSentImage | MessagesSentDocument | MessagesSentSearch
type MessagesSentBlock =
  | MessagesSentHeld
  | (MessagesSentOf<'tool_result', 'content'> & { content?: string | MessagesSentHeld[] })
  | (MessagesSentOf<'tool_use', 'input'> & { input: Any })
  | { type: 'thinking'; thinking: string; signature: string }
  | MessagesSentOf<'redacted_thinking'>
  | MessagesSentOf<'web_search_tool_result'>
  | { type: 'server_tool_use'; id: string; name: Any; input: Any }
type MessagesSentTool = Omit<Sent<MessagesWrittenTool>, 'name' | 'input_schema'> & { name: string; input_schema: Any }

/** By protocol: the bodies that wireglot reads. Unknown fields are allowed everywhere: a new field must never break a program. */
export type WireInput = {
  'chat-completions': { request: Loose<ChatRequest>; response: Loose<ChatResponse> }
  responses: { request: Loose<ResponsesRequest>; response: Loose<ResponsesResponse> }
  messages: { request: Loose<MessagesRequest>; response: Loose<MessagesResponse> }
  'generate-content': { request: Loose<GeminiRequest>; response: Loose<GeminiResponse> }
  converse: { request: Loose<ConverseRequest>; response: Loose<ConverseResponse> }
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
    ? { [Key in keyof T]: unknown extends T[Key] ? Any : Key extends 'type' ? LooseType<T[Key]> : Loose<T[Key]> } & LooseRules<T>
    : T

/**
 * What a type refuses although the schema accepts it: a message of a user without content, and a tool or tool call of an unknown kind with
 * a function that has no name. Without these rules, a misspelled key compiles as an unknown field.
 */
type LooseRules<T> = T extends { role: infer Role; content?: unknown }
  ? 'user' extends (string extends Role ? never : Role)
    ? { content: string | readonly object[] }
    : unknown
  : T extends { type: infer Type }
    ? string extends Type
      ? { function?: { name: string }; custom?: { name: string } }
      : unknown
    : unknown

/** A kind that needs no `type` may have one. */
type LooseType<T> = [T] extends [null | undefined] ? string | T : T

type Named<T> = Omit<T, 'model'> & { model: string }

/** What an encoder writes, as the SDKs take it. Fields that may be absent are never null. */
type Sent<T> = unknown extends T ? Any : T extends readonly (infer Item)[] ? Sent<Item>[] : T extends object ? { [Key in keyof T]: SentField<T, Key> } : T
type SentField<T, Key extends keyof T> = Key extends OpenKey ? Any : Key extends WordKey ? Word<Present<T, Key>> : Sent<Present<T, Key>>
type Present<T, Key extends keyof T> = undefined extends T[Key] ? Exclude<T[Key], null | undefined> : T[Key]
type Word<T> = string extends T ? Any : T extends readonly string[] ? Any[] : Sent<T>

/** Keys of objects that the SDKs describe more closely than the encoders do. */
type OpenKey =
  | 'audio'
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
