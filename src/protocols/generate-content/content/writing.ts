import type {
  Part,
  Place,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { Options } from '../options.ts'
import type { GenerateContentReport } from '../own.ts'
import type { GenerateContentWrittenPart } from '../written.ts'

/** Context for reading a part. */
export type Reading = {
  report: GenerateContentReport
  /** JSON pointer to the body. Empty: it is not nested. */
  root: string
  /** A pointer in camelCase → the pointer into the body as received. */
  place(at: Place): Place
  /** Field names of this body that differ from the table `fieldNames`. Reading adds to it. */
  names: FieldNames
  /** Makes the id of a call that came without one. */
  inventedCallId(at: Place): string
  /** The role that sends the parts. Absent: it is not checked. */
  speaks?: 'model' | 'user' | 'instructions' | undefined
  /** The id of the call that a result belongs to. */
  resultCallId?:
    | ((result: { id: string | undefined; name: string | undefined }, at: Place) => string)
    | undefined
}

/**
 * Context for writing a part. In a request all keys are present from the start, which makes copies
 * with other values fast.
 */
export type Writing = {
  report: GenerateContentReport
  /**
   * Requests go to a provider, which checks signatures; responses go to a client, which only stores
   * them.
   */
  to: 'provider' | 'client'
  /**
   * The receiver keeps or opens envelopes: every client does, and a provider that is a gateway
   * itself.
   */
  opens: boolean
  /**
   * The request or response came from this protocol: nothing is repaired or made up, and its
   * provider's references are valid.
   */
  native: boolean
  /** The name of a tool on the wire. `at`: the path of its call, for notes. */
  toolName(name: string, namespace: string | undefined, at: Place | undefined): string
  /** The id that a call and its result are written with. Undefined: none. */
  writtenCallId(id: string, part: ToolCallPart | ToolResultPart): string | undefined
  /** Calls without a usable signature, which are written with the documented placeholder. */
  unsigned?: ReadonlySet<Part> | undefined
  /** The number of texts of earlier results that a result begins with. */
  repeated?: ReadonlyMap<Part, number> | undefined
  /** Are these instructions? There even an empty text that is left out gets a note. */
  instructs?: boolean
  /** The model that the request is for. */
  model?: string | undefined
  /** Is a result whose text is a JSON object written as that object? */
  /** Is it inside a result? There media have only their data. */
  inResult?: boolean
  unresolvable(part: Part): void
  /**
   * Receives each text whose citations and logprobs are written elsewhere in the response. Absent:
   * they cannot be written.
   */
  beside?: ((part: TextPart, written: GenerateContentWrittenPart) => void) | undefined
}

/**
 * Notes a call, result or thought inside another part, where it has no meaning. False: a part of
 * another type.
 */
export function isInner({ type, at }: Part, report: GenerateContentReport): boolean {
  const isOdd = type === 'tool-call' || type === 'tool-result' || type === 'reasoning'
  if (isOdd) report.add('part.unsupported', at)
  return isOdd
}

// ---- for requests

export type RequestWriting = Writing & {
  options: Options
}

export function startWriting(
  { model, messages }: CanonicalRequest,
  options: Options,
  report: GenerateContentReport,
  native: boolean,
): RequestWriting {
  // Ids that this protocol's own decoder made.
  const made = new Set<string>()
  if (native)
    for (const { parts } of messages)
      for (const part of parts)
        if (part.type === 'tool-call' && part.idOrigin === 'synthesized') made.add(part.id)
  return {
    report,
    options,
    to: 'provider',
    opens: options.foreignSignatures === 'wrap',
    native,
    unsigned: undefined,
    repeated: undefined,
    instructs: false,
    inResult: false,
    beside: undefined,
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    writtenCallId: id => (made.has(id) ? undefined : id),
    model,
    unresolvable: part => report.unresolvable(part.at, undefined, options),
  }
}
