/**
 * Pure functions that translate requests, responses, streams and errors between protocols.
 * @module wireglot
 */
export * from './address/check.ts'
export type { PathRule } from './address/paths.ts'
export * from './api.ts'
export { collect } from './canonical/collect.ts'
export type { CanonicalError, ErrorKind } from './canonical/error.ts'
export type * from './canonical/event.ts'
export { explode } from './canonical/explode.ts'
export { checkGrammar } from './canonical/grammar.ts'
export type * from './canonical/message.ts'
export type { NoteKind } from './canonical/note.ts'
export { reasoningOf, type ToolCall, textOf, toolCallsOf, usageOf } from './canonical/read.ts'
export type * from './canonical/request.ts'
export type * from './canonical/response.ts'
export type * from './canonical/tool.ts'
export {
  type ClientConfig,
  type ClientConfigOptions,
  type ClientName,
  clientConfig,
  clientConfigText,
  clientNames,
  type Language,
  type Snippet,
} from './clients/index.ts'
export type { ErrorCode } from './errors.ts'
export type { Note, NoteCode } from './notes.ts'
export type {
  Address,
  CodecOptions,
  Decoded,
  Demands,
  Detection,
  Emit,
  Encoded,
  EncodingContext,
  FieldNames,
  Frames,
  InstructionDemands,
  KeyPlaces,
  MachineState,
  ModelInfo,
  NoteTable,
  Operation,
  OptionWords,
  Outcome,
  OutputLimit,
  Protocol,
  RequestMatch,
  Shortcut,
  SignatureStorage,
  Signatures,
  StoredMatch,
  StoredResponse,
  StoredResponses,
  StreamMachine,
  StreamUsage,
  TokenCounting,
  ToolNameDemands,
  ToolOptions,
  ToolPairDemands,
  TranslationContext,
  WireError,
} from './protocol.ts'
export {
  type ChatCompletionsOptions,
  type GeminiLevel,
  type GeminiOptions,
  type MappingOptions,
  type MessagesOptions,
  type ProtocolName,
  protocols,
  type ResponsesOptions,
} from './protocols/index.ts'
export type { RequestInput, ResponseInput, Wire, WireInput } from './protocols/wire.ts'
export type { Settings } from './translate/settings.ts'
export type { StreamTranslator } from './translate/stream-translator.ts'
export type { VendorName } from './vendors/index.ts'
