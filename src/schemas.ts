/**
 * Requests, responses, stream events and errors of the protocols as schemas of zod, each with a
 * type of the same name: to validate, to extend and to infer from, together with the zod that you
 * have installed. wireglot checks requests and responses against them itself. All objects are
 * loose: a new field breaks nothing.
 * @module wireglot/schemas
 */
export {
  ChatCompletionsChunk,
  ChatCompletionsErrorResponse,
  ChatCompletionsStreamEvent,
} from './protocols/chat-completions/event-schema.ts'
export {
  ChatCompletionsMessage,
  ChatCompletionsRequest,
  ChatCompletionsResponse,
  ChatCompletionsTool,
} from './protocols/chat-completions/schema.ts'
export { ConverseErrorResponse, ConverseStreamEvent } from './protocols/converse/event-schema.ts'
export {
  ConverseMessage,
  ConverseRequest,
  ConverseResponse,
  ConverseTool,
} from './protocols/converse/schema.ts'
export {
  GenerateContentErrorResponse,
  GenerateContentStreamEvent,
} from './protocols/generate-content/event-schema.ts'
export {
  GenerateContentContent,
  GenerateContentRequest,
  GenerateContentResponse,
  GenerateContentTool,
} from './protocols/generate-content/schema.ts'
export { MessagesErrorResponse, MessagesStreamEvent } from './protocols/messages/event-schema.ts'
export {
  MessagesMessage,
  MessagesRequest,
  MessagesResponse,
  MessagesTool,
} from './protocols/messages/schema.ts'
export { ResponsesErrorResponse, ResponsesStreamEvent } from './protocols/responses/event-schema.ts'
export {
  ResponsesItem,
  ResponsesRequest,
  ResponsesResponse,
  ResponsesTool,
} from './protocols/responses/schema.ts'
