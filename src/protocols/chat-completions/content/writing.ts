import type { Message, Part, Place } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import type { EncodingContext } from '../../../protocol.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import type { Options } from '../options.ts'

/** The state of encoding one request or response. */
export type Writing = {
  report: ChatCompletionsReport
  options: Options
  /**
   * The request or response was read from this protocol, so it is written without limits and
   * repairs.
   */
  native: boolean
  /** Is the tool of this name one that cannot be declared here? */
  isLost?(name: string): boolean
  /** How the response's text is wrapped, see `EncodingContext`. */
  output?: EncodingContext['output']
}

export type RequestWriting = Writing & { request: CanonicalRequest }

/** What writing media and calls needs of it, in streams as well. */
export type PartWriting = Pick<Writing, 'report' | 'options' | 'native'>

/**
 * Does the receiver keep or open envelopes? Every client does, and a server that is a gateway
 * itself.
 */
export const opensEnvelopes = (
  recipient: 'client' | 'server',
  { foreignSignatures }: Options,
): boolean => recipient === 'client' || foreignSignatures === 'wrap'

/**
 * The input for an assistant message on the wire. `reasoning`: whether reasoning parts are written.
 */
export type AssistantToWrite = {
  parts: readonly Part[]
  reasoning: 'all' | 'none'
  /**
   * The receiver. A client gets foreign signatures in envelopes, a server gets only those of
   * servers of this protocol.
   */
  recipient: 'client' | 'server'
  name?: string | undefined
  at?: Place | undefined
  ext?: Message['ext']
}

/** The context for decoding an assistant message. */
export type Reading = {
  /** The sender of the message. */
  from: 'client' | 'server'
  /** Reasoning between tags in the text becomes reasoning parts, see `extractThinkTags`. */
  thinkTags?: boolean | undefined
  /** Unsigned reasoning gets an empty signature, see `emptySignature`. */
  seals?: boolean | undefined
  report: ChatCompletionsReport
  /** For calls without an id: `ordinal` counts the calls of the message. */
  idOf(ordinal: number): string
  /** The same for the older single function call. */
  legacyId(): string
}
