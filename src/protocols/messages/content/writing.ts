import type { Part, Place } from '../../../canonical/message.ts'
import type { CanonicalRequest } from '../../../canonical/request.ts'
import { type BlockWriting, requestWriting } from '../../../kit/conversation/block-writing.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import type { Options } from '../options.ts'
import { type MessagesReport, ownUnder, protocolName } from '../own.ts'
import type { MessagesMark, MessagesWrittenBlock } from '../written.ts'
import { encodeMark, type Mark } from './cache.ts'

/** Blocks that may only hold a signature, each with the path of its part. */
export type Carriers = Map<JsonObject, Place | undefined>

/** The context for encoding a part. */
export type Writing = BlockWriting<MessagesReport> & {
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

export const startWriting = (
  request: CanonicalRequest,
  options: Options,
  report: MessagesReport,
  native: boolean,
): RequestWriting => ({
  options,
  marks: [],
  place: 'conversation',
  continues: !finished.has(request.source?.protocol ?? ''),
  ...requestWriting(request, options, { report, native, issuers: [protocolName] }),
})
