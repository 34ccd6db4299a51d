/**
 * The codecs of all protocols, and what a codec of your own is made of: `Protocol`, the canonical
 * model, and its folds.
 * @module wireglot/protocols
 */
import type { Protocol } from './protocol.ts'
import { type ProtocolName, protocols as registry } from './protocols/index.ts'

export { collect } from './canonical/collect.ts'
export type { CanonicalError, ErrorKind } from './canonical/error.ts'
export type * from './canonical/event.ts'
export { explode } from './canonical/explode.ts'
export type * from './canonical/message.ts'
export type { NoteKind } from './canonical/note.ts'
export type * from './canonical/request.ts'
export type * from './canonical/response.ts'
export type * from './canonical/tool.ts'
export type {
  Address,
  ClientHalf,
  CodecOptions,
  Decoded,
  Demands,
  Detection,
  Emit,
  Encoded,
  EncodingContext,
  FieldNames,
  Frames,
  Framing,
  GrammarLimits,
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
  ProtocolFacts,
  RequestMatch,
  SchemaDialect,
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
  UpstreamHalf,
  WireError,
} from './protocol.ts'
export { type ProtocolName, protocolNames } from './protocols/index.ts'

/** The codec of every protocol, by its name. */
export const protocols: Readonly<Record<ProtocolName, Protocol>> = registry
