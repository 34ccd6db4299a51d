/**
 * Requests, responses, stream events and errors of the protocols as schemas of zod, each with a
 * type of the same name: to validate, to extend and to infer from, together with the zod that you
 * have installed. wireglot checks requests and responses against them itself. All objects are
 * loose: a new field breaks nothing.
 * @module wireglot/schemas
 */
export {
  ChatChunk as ChatCompletionsChunk,
  ChatErrorResponse as ChatCompletionsErrorResponse,
  ChatStreamEvent as ChatCompletionsStreamEvent,
} from './protocols/chat-completions/event-schema.ts'
export {
  ChatMessage as ChatCompletionsMessage,
  ChatRequest as ChatCompletionsRequest,
  ChatResponse as ChatCompletionsResponse,
  ChatTool as ChatCompletionsTool,
} from './protocols/chat-completions/schema.ts'
export { ConverseErrorResponse, ConverseStreamEvent } from './protocols/converse/event-schema.ts'
export {
  ConverseMessage,
  ConverseRequest,
  ConverseResponse,
  ConverseTool,
} from './protocols/converse/schema.ts'
export {
  GeminiErrorResponse,
  GeminiStreamEvent,
} from './protocols/generate-content/event-schema.ts'
export {
  GeminiContent,
  GeminiRequest,
  GeminiResponse,
  GeminiTool,
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
