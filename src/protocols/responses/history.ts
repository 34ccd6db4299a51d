import type { Message, Part } from '../../canonical/message.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { type JsonObject, same } from '../../kit/json.ts'
import { withoutStaleResults } from '../../kit/stale-results.ts'
import { callIds, noResult } from '../../kit/turns.ts'
import { limitMarks, withMarksInside } from './cache.ts'
import { encodeMessage } from './items.ts'
import { opensEnvelopes, type Writing } from './writing.ts'

/** The items of a whole history. */
export function encodeItems(messages: readonly Message[], writing: Writing): JsonObject[] {
  const last = writing.native || writing.target === 'output' ? messages : withoutStaleResults(messages, writing.report)
  const marked = last.map(message => withMarksInside(message, writing))
  if (!writing.native) limitMarks(marked, writing)
  const repaired = writing.options.repairToolPairs === 'drop' ? dropLonely(marked, writing) : marked
  const items: JsonObject[] = []
  const answered = writing.options.repairToolPairs === 'synthesize' ? answeredCalls(repaired) : undefined
  const calls = answered && callIds(repaired)
  for (const message of repaired) {
    items.push(...encodeMessage(calls ? withoutOrphans(message, calls, writing) : message, writing))
    if (answered) items.push(...missingResults(message, answered, items.length, writing))
  }
  const led = writing.native || opensEnvelopes(writing) || writing.thoughts.size === 0 ? items : withoutRepeated(withoutLoose(items, writing), writing)
  writing.report.settle(led, '/input')
  return led
}

/** Leaves out reasoning that no item of its turn follows, which the server refuses: the turn was cut off there, or its text is empty. */
function withoutLoose(items: JsonObject[], { thoughts, report }: Writing): JsonObject[] {
  const led: JsonObject[] = []
  let loose = true
  for (const item of items.toReversed()) {
    const thought = thoughts.get(item)
    if (thought && loose) report.leave('reasoning.loose', thought)
    else {
      led.push(item)
      loose = item['type'] === undefined || String(item['type']).endsWith('_output') || (item['type'] === 'message' && item['role'] !== 'assistant')
    }
  }
  return led.reverse()
}

/**
 * Leaves out reasoning items that repeat an id, which the server refuses: clients repeat the signature of a turn on several
 * of its parts. Only the first item stays; one with another signature stays too, but without the id.
 */
function withoutRepeated(items: JsonObject[], { thoughts, report }: Writing): JsonObject[] {
  const firsts = new Map<string, JsonObject>()
  return flatMap(items, item => {
    const thought = thoughts.get(item)
    const { id } = item
    if (!thought || typeof id !== 'string') return [item]
    const first = firsts.get(id)
    if (!first) {
      firsts.set(id, item)
      return [item]
    }
    if (item['encrypted_content'] !== first['encrypted_content']) {
      report.add('reasoning.id-twice', thought.at)
      const { id: _, ...nameless } = item
      return [nameless]
    }
    const said = saidIn(item)
    if (said.length > 0 && !same(said, saidIn(first))) report.leave('reasoning.repeated', thought)
    return []
  })
}

const saidIn = ({ summary, content }: JsonObject): unknown[] => [summary, content].flatMap(list => (Array.isArray(list) ? (list as unknown[]) : []))

function answeredCalls(messages: readonly Message[]): Set<string> {
  return new Set(flatMap(messages, ({ parts }) => flatMap(parts, part => (part.type === 'tool-result' ? [part.callId] : []))))
}

/** A result without its call is left out: the server refuses it, and a call must not be invented. */
function withoutOrphans(message: Message, calls: ReadonlySet<string>, { report }: Writing): Message {
  if (!message.parts.some(({ type }) => type === 'tool-result')) return message
  const parts = message.parts.filter(part => {
    if (part.type !== 'tool-result' || calls.has(part.callId)) return true
    report.leave('tool-pair.dropped', part)
    return false
  })
  return { ...message, parts }
}

function missingResults({ parts }: Message, answered: Set<string>, index: number, writing: Writing): JsonObject[] {
  return flatMap(parts, part => {
    if (part.type !== 'tool-call' || answered.has(part.id)) return []
    writing.report.add('tool-result.synthesized', `/input/${index}`)
    const item = part.kind === 'freeform' ? 'custom_tool_call_output' : 'function_call_output'
    return encodeMessage({ role: 'tool', origin: 'item', parts: [noResult(part)] }, writing).map(wire => ({ ...wire, type: item }))
  })
}

/** Leaves out calls without result and results without call, and reasoning right before such a call: it must be followed by what it led to. */
function dropLonely(messages: readonly Message[], { report }: Writing): Message[] {
  const calls = callIds(messages)
  const answered = answeredCalls(messages)
  const lonely = (part: Part | undefined) => (part?.type === 'tool-call' && !answered.has(part.id)) || (part?.type === 'tool-result' && !calls.has(part.callId))
  const all = flatMap(messages, ({ parts }) => parts)
  const led = new Set(all.filter((part, index) => part.type === 'reasoning' && all[index + 1]?.type === 'tool-call' && lonely(all[index + 1])))
  return messages.map(message => {
    const parts = message.parts.filter(part => {
      if (!lonely(part) && !led.has(part)) return true
      report.leave('tool-pair.dropped', part)
      return false
    })
    return parts.length === message.parts.length ? message : { ...message, parts }
  })
}
