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
  ChatCompletionsMessage,
  ChatCompletionsRequest,
  ChatCompletionsResponse,
  ChatCompletionsStreamEvent,
  ChatCompletionsTool,
} from './protocols/chat-completions/schema.ts'
export {
  ConverseErrorResponse,
  ConverseMessage,
  ConverseRequest,
  ConverseResponse,
  ConverseStreamEvent,
  ConverseTool,
} from './protocols/converse/schema.ts'
export {
  GenerateContentContent,
  GenerateContentErrorResponse,
  GenerateContentRequest,
  GenerateContentResponse,
  GenerateContentStreamEvent,
  GenerateContentTool,
} from './protocols/generate-content/schema.ts'
export {
  MessagesErrorResponse,
  MessagesMessage,
  MessagesRequest,
  MessagesResponse,
  MessagesStreamEvent,
  MessagesTool,
} from './protocols/messages/schema.ts'
export {
  ResponsesErrorResponse,
  ResponsesItem,
  ResponsesRequest,
  ResponsesResponse,
  ResponsesStreamEvent,
  ResponsesTool,
} from './protocols/responses/schema.ts'
