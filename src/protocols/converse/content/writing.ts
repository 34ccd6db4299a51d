import type { Part, Place, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { idOf } from '../../../kit/conversation/ids.ts'
import { startNames, type UsedNames } from '../../../kit/text/free-names.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import type { FieldNames } from '../../../protocol.ts'
import { familyOf } from '../models.ts'
import type { ConverseReport } from '../notes.ts'
import type { ConverseOptions, Options } from '../options.ts'
import { protocolName } from '../own.ts'
import { type ConverseFamily, signatureIssuers } from '../vocabulary.ts'

/** The context for reading a block. */
export type Reading = {
  report: ConverseReport
  /** Of the model that the request is for, or that the response is from. */
  family: ConverseFamily
  /**
   * Receives the names of fields in this body that differ from the protocol's own table, such as
   * the place of a cache point.
   */
  names: FieldNames
  /**
   * Of a response, whose tool results are those of the provider's own tools, whatever their type.
   */
  isResponse: boolean
}

/**
 * The context for encoding a part. In a request all keys are set from the start, so that a copy
 * with other values is fast.
 */
export type Writing = {
  report: ConverseReport
  /**
   * Requests go to a provider, which checks signatures; responses go to a client, which keeps
   * whatever it is given.
   */
  to: 'provider' | 'client'
  /**
   * The receiver keeps or opens envelopes: every client does, and a provider that is a gateway
   * itself.
   */
  opens: boolean
  /** The message came from this protocol, and its blocks are written as they were. */
  native: boolean
  /**
   * Of the model that the request is for. Of a response: of the model that its client requested.
   */
  family: ConverseFamily
  /** The model that the request is for. */
  model: string | undefined
  /** The id that a call and its result are written with. */
  callIdOfPart(part: ToolCallPart | ToolResultPart): string
  /** The name on the wire, with the namespace in front. */
  toolName(name: string, namespace: string | undefined, at: Place | undefined): string
  /**
   * Another provider took part in the conversation, so reasoning without a signature is not taken
   * for this provider's.
   */
  mixed: boolean
  convertMedia: ConverseOptions['convertMedia'] | undefined
  unresolvable(part: Part, field?: string): void
  /** The names of the documents so far, which must be unique in a request. */
  documents: UsedNames
}

// ---- for requests

export type RequestWriting = Writing & {
  options: Options
}

export function startWriting(
  { model, messages }: CanonicalRequest,
  options: Options,
  report: ConverseReport,
  native: boolean,
): RequestWriting {
  const family = familyOf(model, options)
  const issuer = signatureIssuers[family]
  return {
    report,
    options,
    to: 'provider',
    opens: options.foreignSignatures === 'wrap',
    native,
    family,
    model,
    callIdOfPart: idOf,
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    mixed: messages.some(({ parts }) =>
      parts.some(
        ({ signature }) =>
          signature && signature.issuer !== protocolName && signature.issuer !== issuer,
      ),
    ),
    convertMedia: options.convertMedia,
    unresolvable: part => report.unresolvable(part.at, undefined, options),
    documents: startNames(),
  }
}
