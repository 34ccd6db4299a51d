export * from './address/check.ts'
export * from './api.ts'
export { collect } from './canonical/collect.ts'
export type { CanonicalError, ErrorKind } from './canonical/error.ts'
export type { CanonicalEvent, Delta } from './canonical/event.ts'
export { explode } from './canonical/explode.ts'
export { checkGrammar } from './canonical/grammar.ts'
export type * from './canonical/message.ts'
export type { Note, NoteKind } from './canonical/note.ts'
export { reasoningOf, textOf, toolCallsOf, usageOf } from './canonical/read.ts'
export type * from './canonical/request.ts'
export type * from './canonical/response.ts'
export type * from './canonical/tool.ts'
export { type ClientConfig, type ClientConfigOptions, type ClientName, clientConfig, clientConfigText, clientNames, type Snippet } from './clients/index.ts'
export { type ErrorCode, TranslationError } from './errors.ts'
export type {
  Address,
  CodecOptions,
  Decoded,
  Detection,
  Encoded,
  Frames,
  ModelInfo,
  NoteTable,
  Protocol,
  Signatures,
  StreamMachine,
  TranslationContext,
  WireError,
} from './protocol.ts'
export { type MappingOptions, type ProtocolName, protocols } from './protocols/index.ts'
export type { TranslatedResponse } from './translate/response.ts'
export type { StreamTranslator } from './translate/stream.ts'
