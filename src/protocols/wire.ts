import type { Any } from '../kit/schema/sdk-types.ts'
import type {
  ChatCompletionsRequest as ReadChatCompletionsRequest,
  ChatCompletionsResponse as ReadChatCompletionsResponse,
} from './chat-completions/schema.ts'
import type { ChatCompletionsSdk } from './chat-completions/written.ts'
import type {
  ConverseRequest as ReadConverseRequest,
  ConverseResponse as ReadConverseResponse,
} from './converse/schema.ts'
import type { ConverseSdk } from './converse/written.ts'
import type {
  GenerateContentRequest as ReadGenerateContentRequest,
  GenerateContentResponse as ReadGenerateContentResponse,
} from './generate-content/schema.ts'
import type { GenerateContentSdk } from './generate-content/written.ts'
import type { ProtocolName } from './index.ts'
import type {
  MessagesRequest as ReadMessagesRequest,
  MessagesResponse as ReadMessagesResponse,
} from './messages/schema.ts'
import type { MessagesSdk } from './messages/written.ts'
import type {
  ResponsesRequest as ReadResponsesRequest,
  ResponsesResponse as ReadResponsesResponse,
} from './responses/schema.ts'
import type { ResponsesSdk } from './responses/written.ts'

export type {
  ChatCompletionsError,
  ChatCompletionsEvent,
  ChatCompletionsRequest,
  ChatCompletionsResponse,
} from './chat-completions/written.ts'
export type {
  ConverseError,
  ConverseEvent,
  ConverseRequest,
  ConverseResponse,
} from './converse/written.ts'
export type {
  GenerateContentError,
  GenerateContentEvent,
  GenerateContentRequest,
  GenerateContentResponse,
} from './generate-content/written.ts'
export type {
  MessagesError,
  MessagesEvent,
  MessagesRequest,
  MessagesResponse,
} from './messages/written.ts'
export type {
  ResponsesError,
  ResponsesEvent,
  ResponsesRequest,
  ResponsesResponse,
} from './responses/written.ts'
/**
 * By protocol: the bodies that wireglot returns. `openai` and `@anthropic-ai/sdk` take a `request`
 * without a cast, and code for the responses of these takes a `response`. The SDK of responses adds
 * `output_text` to its own. Bodies of generate-content and converse are those on the wire, from
 * which their SDKs differ.
 *
 * The types of the SDKs list the words of today, so words that may be others have the type `any`,
 * such as `service_tier`, and so have the fields that they require but servers leave out. Kinds of
 * content that the SDKs lack are left out.
 *
 * `response`: a complete response, or the body of an error. `event`: the data of one event of a
 * stream. `error`: the body of an error. A response of another protocol always gets the fields that
 * the SDKs require; notes name the model, time or usage that it lacked. Between equal protocols a
 * body has only what its server wrote.
 * @example
 * import type { Wire } from 'wireglot'
 *
 * const request: Wire['messages']['request'] = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'Hello' }] }
 * console.log(request.max_tokens) // 100
 */
export type Wire = {
  'chat-completions': ChatCompletionsSdk
  responses: ResponsesSdk
  messages: MessagesSdk
  'generate-content': GenerateContentSdk
  converse: ConverseSdk
}

/**
 * By protocol: the bodies that wireglot reads. Unknown fields are allowed everywhere: a new field
 * must never break a program.
 */
export type WireInput = {
  'chat-completions': {
    request: ChatCompletionsRequestInput
    response: ChatCompletionsResponseInput
  }
  responses: { request: ResponsesRequestInput; response: ResponsesResponseInput }
  messages: { request: MessagesRequestInput; response: MessagesResponseInput }
  'generate-content': {
    request: GenerateContentRequestInput
    response: GenerateContentResponseInput
  }
  converse: { request: ConverseRequestInput; response: ConverseResponseInput }
}

// Interfaces, so that an editor shows their names and not all of their fields.

/** A request of chat-completions that wireglot reads. */
export interface ChatCompletionsRequestInput extends Loose<ReadChatCompletionsRequest> {}
/** A response of chat-completions that wireglot reads. */
export interface ChatCompletionsResponseInput extends Loose<ReadChatCompletionsResponse> {}
/** A request of responses that wireglot reads. */
export interface ResponsesRequestInput extends Loose<ReadResponsesRequest> {}
/** A response of responses that wireglot reads. */
export interface ResponsesResponseInput extends Loose<ReadResponsesResponse> {}
/** A request of messages that wireglot reads. */
export interface MessagesRequestInput extends Loose<ReadMessagesRequest> {}
/** A response of messages that wireglot reads. */
export interface MessagesResponseInput extends Loose<ReadMessagesResponse> {}
/** A request of generate-content that wireglot reads. */
export interface GenerateContentRequestInput extends Loose<ReadGenerateContentRequest> {}
/** A response of generate-content that wireglot reads. */
export interface GenerateContentResponseInput extends Loose<ReadGenerateContentResponse> {}
/** A request of converse that wireglot reads. */
export interface ConverseRequestInput extends Loose<ReadConverseRequest> {}
/** A response of converse that wireglot reads. */
export interface ConverseResponseInput extends Loose<ReadConverseResponse> {}

/**
 * A request body of the protocol, or a value whose type says nothing about it, such as the result
 * of `JSON.parse`.
 */
export type RequestInput<Body, From extends ProtocolName> =
  IsUntyped<Body> extends true ? Body : WireInput[From]['request']

/**
 * A response of the protocol, the body of an error, or a value whose type says nothing about it.
 */
export type ResponseInput<Body, From extends ProtocolName> =
  IsUntyped<Body> extends true
    ? Body
    : WireInput[From]['response'] | Wire[From]['response'] | Wire[From]['error']

/** `unknown`, `any`, `object` and objects with any keys. */
type IsUntyped<T> = unknown extends T
  ? true
  : T extends object
    ? string extends keyof T
      ? true
      : [keyof T] extends [never]
        ? IsNoLiteral<T>
        : false
    : false

/** The literal `{}` is a body without fields. */
type IsNoLiteral<T> = string extends T ? false : true

/**
 * What a schema accepts, for types without an index signature, too, such as the interfaces of the
 * SDKs.
 */
type Loose<T> = T extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : T extends object
    ? {
        [Key in keyof T]: unknown extends T[Key]
          ? Any
          : Key extends 'type'
            ? LooseType<T[Key]>
            : Loose<T[Key]>
      } & LooseRules<T>
    : T

/**
 * What a type refuses although the schema accepts it: a message of a user without content, and a
 * tool or tool call of an unknown kind with a function that has no name. Without these rules, a
 * misspelled key compiles as an unknown field.
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
