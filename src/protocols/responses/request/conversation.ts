import type { Message } from '../../../canonical/message.ts'
import { type JsonObject, same } from '../../../kit/json/json.ts'
import { append } from '../../../kit/text/append.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { limitMarks, withMarksInside } from '../content/cache.ts'
import { encodeMessage } from '../content/items.ts'
import { opensEnvelopes, type Writing } from '../content/writing.ts'
import type { ResponsesItemOf, ResponsesWrittenItem } from '../schema.ts'

/** The items of a whole history. */
export function encodeItems(
  messages: readonly Message[],
  writing: Writing,
): ResponsesWrittenItem[] {
  const marked = messages.map(message => withMarksInside(message, writing))
  if (!writing.native) limitMarks(marked, writing)
  const items: ResponsesWrittenItem[] = []
  for (const message of marked) append(items, encodeMessage(message, writing))
  const led =
    writing.native || opensEnvelopes(writing) || writing.reasoning.size === 0
      ? items
      : withoutRepeated(withoutLoose(items, writing), writing)
  writing.report.resolvePending(led, '/input')
  return led
}

/**
 * Leaves out reasoning that no item of its turn follows, which the server refuses: the turn was cut
 * off there, or its text is empty.
 */
function withoutLoose(
  items: ResponsesWrittenItem[],
  { reasoning, report }: Writing,
): ResponsesWrittenItem[] {
  const led: ResponsesWrittenItem[] = []
  let loose = true
  for (const item of items.toReversed()) {
    const thought = reasoning.get(item)
    if (thought && loose) report.leave('reasoning.loose', thought)
    else {
      led.push(item)
      loose =
        item.type === undefined ||
        item.type.endsWith('_output') ||
        (item.type === 'message' && item.role !== 'assistant')
    }
  }
  return led.reverse()
}

/**
 * Leaves out reasoning items that repeat an id, which the server refuses: clients repeat the
 * signature of a turn on several of its parts. Only the first item stays; one with another
 * signature stays too, but without the id.
 */
function withoutRepeated(
  items: ResponsesWrittenItem[],
  { reasoning, report }: Writing,
): ResponsesWrittenItem[] {
  const firsts = new Map<string, ResponsesItemOf<'reasoning'>>()
  return flatMap<ResponsesWrittenItem, ResponsesWrittenItem>(items, item => {
    const thought = reasoning.get(item)
    const { id } = item
    if (!thought || item.type !== 'reasoning' || id === undefined) return [item]
    const first = firsts.get(id)
    if (!first) {
      firsts.set(id, item)
      return [item]
    }
    if (item.encrypted_content !== first.encrypted_content) {
      report.add('reasoning.id-twice', thought.at)
      const { id: _, ...nameless } = item
      return [nameless]
    }
    const texts = segmentsIn(item)
    if (texts.length > 0 && !same(texts, segmentsIn(first)))
      report.leave('reasoning.repeated', thought)
    return []
  })
}

const segmentsIn = ({ summary, content }: JsonObject): unknown[] =>
  [summary, content].flatMap(list => (Array.isArray(list) ? (list as unknown[]) : []))
