/**
 * Pure functions that translate requests, responses, streams and errors between protocols.
 * @module wireglot
 */
export * from './api.ts'
export type { CanonicalError, ErrorKind } from './canonical/error.ts'
export type {
  CanonicalEvent,
  Delta,
  MessageEnd,
  MessageStart,
  PartDelta,
  PartEnd,
  PartStart,
} from './canonical/event.ts'
export type * from './canonical/message.ts'
export type { NoteKind } from './canonical/note.ts'
export { reasoningOf, type ToolCall, textOf, toolCallsOf, usageOf } from './canonical/read.ts'
export type { CanonicalRequest } from './canonical/request.ts'
export type {
  Candidate,
  CanonicalResponse,
  Finish,
  FinishReason,
  Usage,
} from './canonical/response.ts'
export type { ErrorCode } from './errors.ts'
export type { Note, NoteCode } from './notes.ts'
export type { StreamUsage, ToolOptions, TranslationContext, WireError } from './protocol.ts'
export type {
  ChatCompletionsOptions,
  ConverseFamily,
  ConverseOptions,
  GenerateContentOptions,
  MappingOptions,
  MessagesOptions,
  ProtocolName,
  ResponsesOptions,
} from './protocols/index.ts'
export type {
  ChatCompletionsError,
  ChatCompletionsEvent,
  ChatCompletionsRequest,
  ChatCompletionsRequestInput,
  ChatCompletionsResponse,
  ChatCompletionsResponseInput,
  ConverseError,
  ConverseEvent,
  ConverseRequest,
  ConverseRequestInput,
  ConverseResponse,
  ConverseResponseInput,
  GenerateContentError,
  GenerateContentEvent,
  GenerateContentRequest,
  GenerateContentRequestInput,
  GenerateContentResponse,
  GenerateContentResponseInput,
  MessagesError,
  MessagesEvent,
  MessagesRequest,
  MessagesRequestInput,
  MessagesResponse,
  MessagesResponseInput,
  RequestInput,
  ResponseInput,
  ResponsesError,
  ResponsesEvent,
  ResponsesRequest,
  ResponsesRequestInput,
  ResponsesResponse,
  ResponsesResponseInput,
  Wire,
  WireInput,
} from './protocols/wire.ts'
export type { Settings } from './translate/settings.ts'
export type { StreamTranslator } from './translate/stream-translator.ts'
export type { VendorName } from './vendors/index.ts'
