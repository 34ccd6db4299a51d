import type { Part, Place, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CodecOptions, SharedOptions } from '../../protocol.ts'
import type { Report } from '../notes/report.ts'
import type { SharedNotes } from '../notes/shared.ts'
import { responseToolName } from '../tools/tool-names.ts'
import { idOf, responseCallId } from './ids.ts'

/**
 * The context for encoding a part as blocks. In a request all keys are set from the start, so that
 * a copy with other values is fast.
 */
export type BlockWriting<Report> = {
  report: Report
  /**
   * Requests go to a provider, which checks signatures; responses go to a client, which keeps them
   * unchecked.
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
   * Another provider took part in the conversation, so reasoning without a signature is not taken
   * for this provider's.
   */
  mixed: boolean
  /** The id that a call and its result are written with. */
  callIdOfPart(part: ToolCallPart | ToolResultPart): string
  /** The name on the wire, with the namespace in front. */
  toolName(name: string, namespace: string | undefined, at: Place | undefined): string
  /** The model that the request is for. */
  model: string | undefined
  convertMedia: SharedOptions['convertMedia'] | undefined
  unresolvable(part: Part, field?: string): void
}

type Options = CodecOptions & Pick<SharedOptions, 'convertMedia'> & { foreignSignatures?: string }
type Shared = Report<SharedNotes>

/** For requests. `issuers`: whose signatures are the provider's own. */
export function requestWriting<Some extends Shared>(
  { model, messages }: CanonicalRequest,
  options: Options,
  { report, native, issuers }: { report: Some; native: boolean; issuers: readonly unknown[] },
): BlockWriting<Some> {
  return {
    report,
    to: 'provider',
    opens: options.foreignSignatures === 'wrap',
    native,
    mixed: messages.some(({ parts }) =>
      parts.some(({ signature }) => signature && !issuers.includes(signature.issuer)),
    ),
    callIdOfPart: idOf,
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    model,
    convertMedia: options.convertMedia,
    unresolvable: part => report.unresolvable(part.at, undefined, options),
  }
}

/** For responses. `validCallId`: the ids of calls that clients send back. */
export function responseWriting<Some extends Shared>(
  report: Some,
  validCallId: RegExp,
  { context, convertMedia }: Options,
): BlockWriting<Some> {
  return {
    report,
    to: 'client',
    opens: true,
    native: false,
    mixed: false,
    callIdOfPart: part => responseCallId(part, validCallId, report),
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    model: context?.request?.model,
    convertMedia,
    unresolvable: part => report.add('state.unresolvable', part.at),
  }
}
