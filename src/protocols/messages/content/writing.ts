import type { Part, Place, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { idOf } from '../../../kit/conversation/ids.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { responseToolName } from '../../../kit/tools/tool-names.ts'
import type { MessagesReport } from '../notes.ts'
import type { MessagesOptions, Options } from '../options.ts'
import { ownUnder, protocolName } from '../own.ts'
import type { MessagesMark, MessagesWrittenBlock } from '../schema.ts'
import { encodeMark, type Mark } from './cache.ts'

/** Blocks that may only hold a signature, each with the path of its part. */
export type Carriers = Map<JsonObject, Place | undefined>

/**
 * The context for encoding a part. In a request all keys are set from the start, so that a copy
 * with other values is fast.
 */
export type Writing = {
  report: MessagesReport
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
   * Another provider took part in the conversation, so thinking without a signature is not taken
   * for this provider's.
   */
  mixed?: boolean
  /** The id that a call and its result are written with. */
  callIdOfPart(part: ToolCallPart | ToolResultPart): string
  /** The name on the wire, with the namespace in front. */
  toolName(name: string, namespace: string | undefined, at: Place | undefined): string
  /** The model that the request is for. */
  model?: string | undefined
  convertMedia?: MessagesOptions['convertMedia'] | undefined
  unresolvable(part: Part, field?: string): void
  marks: Mark[]
  place: Mark['place']
  /**
   * A complete response without calls: signatures go before their text, because some clients read
   * the last block. Before a call, they would be taken for its own.
   */
  endsInText?: boolean
  /** Collects blocks of a response that may only hold a signature. */
  carriers?: Carriers | undefined
}

/**
 * Adds the cache mark of a part to its block, which it changes. `limitMarks` may remove the mark
 * later.
 */
export function marked<T extends { cache_control?: MessagesMark | null | undefined }>(
  block: T,
  { cache, at, ext }: Part,
  { report, marks, place, to }: Writing,
): T {
  if (!cache || to === 'client') {
    if (cache) report.add('cache.unsupported', at, 'cache')
    if (block.cache_control) delete block.cache_control
    return block
  }
  const wire = encodeMark(cache, ownUnder(ext, 'cache_control'), () =>
    report.add('cache.ttl', at, 'cache.ttl'),
  )
  marks.push({ wire, at, place })
  return Object.assign(block, { cache_control: wire })
}

/** A single plain text is written as a string. */
export function contentOf(blocks: MessagesWrittenBlock[]): string | MessagesWrittenBlock[] {
  const [only] = blocks
  return blocks.length === 1 && only && isPlain(only) ? only.text : blocks
}

function isPlain(block: MessagesWrittenBlock): block is { type: 'text'; text: string } {
  return block.type === 'text' && Object.keys(block).length === 2
}

// ---- for requests

/** `continues`: a text of the assistant at the end may be one to go on with. */
export type RequestWriting = Writing & {
  options: Options
  continues: boolean
}

/** Their clients never leave a text for the model to go on with: a stream was cut off. */
const finished: ReadonlySet<string> = new Set(['responses', 'generate-content', 'converse'])

export function startWriting(
  { model, messages, source }: CanonicalRequest,
  options: Options,
  report: MessagesReport,
  native: boolean,
): RequestWriting {
  return {
    report,
    options,
    to: 'provider',
    opens: options.foreignSignatures === 'wrap',
    native,
    callIdOfPart: idOf,
    toolName: (name, namespace, at) => responseToolName(name, namespace, at, report),
    mixed: messages.some(({ parts }) =>
      parts.some(({ signature }) => signature !== undefined && signature.issuer !== protocolName),
    ),
    model,
    convertMedia: options.convertMedia,
    unresolvable: part => report.unresolvable(part.at, undefined, options),
    marks: [],
    place: 'conversation',
    continues: !finished.has(source?.protocol ?? ''),
  }
}
