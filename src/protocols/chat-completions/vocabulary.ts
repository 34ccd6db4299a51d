import type { Place } from '../../canonical/message.ts'
import type { Finish, FinishReason } from '../../canonical/response.ts'
import { below } from '../../kit/notes/path.ts'
import { type ChatCompletionsReport, protocolName } from './own.ts'

export type ChatCompletionsFinishReason =
  | 'stop'
  | 'length'
  | 'tool_calls'
  | 'content_filter'
  | 'function_call'

/** Finish reasons of the protocol first, then those of servers that have copied it. */
const finishReasons = new Map<string, FinishReason>([
  ['stop', 'stop'],
  ['length', 'length'],
  ['tool_calls', 'tool_calls'],
  ['function_call', 'tool_calls'],
  ['content_filter', 'content_filter'],
  ['eos', 'stop'],
  ['eos_token', 'stop'],
  ['complete', 'stop'],
  ['COMPLETE', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop_sequence'],
  ['model_length', 'length'],
  ['max_tokens', 'length'],
  ['model_context_window_exceeded', 'context_window'],
  ['tool_use', 'tool_calls'],
  ['sensitive', 'content_filter'],
  ['error', 'error'],
  ['insufficient_system_resource', 'error'],
  ['abort', 'error'],
  ['network_error', 'error'],
])

/**
 * `exact: false`: the nearest finish reason. Undefined: an error, which is no finish reason here.
 */
const finishWords: Record<
  FinishReason,
  { word: ChatCompletionsFinishReason; exact: boolean } | undefined
> = {
  stop: { word: 'stop', exact: true },
  length: { word: 'length', exact: true },
  tool_calls: { word: 'tool_calls', exact: true },
  content_filter: { word: 'content_filter', exact: true },
  stop_sequence: { word: 'stop', exact: false },
  context_window: { word: 'length', exact: false },
  refusal: { word: 'content_filter', exact: false },
  recitation: { word: 'content_filter', exact: false },
  pause: { word: 'stop', exact: false },
  compaction: { word: 'stop', exact: false },
  malformed_tool_call: { word: 'stop', exact: false },
  cancelled: { word: 'stop', exact: false },
  other: { word: 'stop', exact: false },
  error: undefined,
}

/**
 * `calls`: those that the client can run. `broken`: those that it cannot. `empty`: there is nothing
 * else.
 */
type TurnHolds = { calls: boolean; broken: boolean; empty: boolean }

function meaningOf(raw: string, { calls, broken, empty }: TurnHolds): FinishReason {
  const meaning = finishReasons.get(raw) ?? 'other'
  if (meaning === 'stop' && (calls || (broken && empty))) return 'tool_calls'
  return meaning === 'tool_calls' && !calls && !empty ? 'stop' : meaning
}

/**
 * `finish_reason` of the choice at this path → canonical finish. Many servers, and the protocol
 * itself when a tool was forced, send `stop` although the client has calls to run. Next to content
 * but no calls the client has nothing to run, so `tool_calls` is read as `stop`.
 */
export function decodeFinish(
  raw: string | undefined,
  holds: TurnHolds,
  { at, report }: { at: Place; report: ChatCompletionsReport },
): Finish {
  if (!raw) {
    report.add('finish.missing', below(at, 'finish_reason'))
    return { reason: holds.calls ? 'tool_calls' : 'other', protocol: protocolName }
  }
  const reason = meaningOf(raw, holds)
  if (reason !== (finishReasons.get(raw) ?? 'other'))
    report.add('finish.repaired', below(at, 'finish_reason'))
  return { reason, raw, protocol: protocolName }
}

/**
 * Undefined: the response failed. The received finish reason is written unchanged if it still means
 * the same. `single`: the client knows only `function_call`.
 */
export function encodeFinish(
  { reason, raw, protocol }: Finish,
  { hasCalls, single }: { hasCalls: boolean; single: boolean },
): { word: string; exact: boolean } | undefined {
  if (raw && protocol === protocolName) {
    // Not `tool_calls` that was read as `stop`: clients would wait for calls.
    const withCalls = meaningOf(raw, { calls: true, broken: false, empty: false })
    if (withCalls === reason || finishReasons.get(raw) === reason) return { word: raw, exact: true }
  }
  // The source waits for a tool that has no call on this wire, so the client has nothing to run.
  if (reason === 'tool_calls' && !hasCalls) return { word: 'stop', exact: false }
  // Agents stop at `stop`, whatever stands next to it.
  const isCalled = reason === 'tool_calls' || (reason === 'stop' && hasCalls)
  return isCalled
    ? { word: single ? 'function_call' : 'tool_calls', exact: reason === 'tool_calls' }
    : finishWords[reason]
}

export const serviceTiers: ReadonlySet<string> = new Set([
  'auto',
  'default',
  'flex',
  'scale',
  'priority',
  'fast',
])
