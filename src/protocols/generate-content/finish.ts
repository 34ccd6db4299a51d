import type { CanonicalResponse, Finish } from '../../canonical/response.ts'
import { TranslationError } from '../../errors.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { GeminiReport } from './notes.ts'
import { protocolName } from './own.ts'
import { finishReason, finishWord, nearestFinishReason } from './vocabulary.ts'

/** How a reply ended. This wire has no word for calls: a reply with calls ends as any other. */

/** Undefined: the reply has not said how it ended. */
export function decodeFinish(told: unknown, message: string | null | undefined, hasCalls: boolean): Finish | undefined {
  const raw = finishWord(told)
  if (raw === undefined) return undefined
  const word = finishReason.toOurs(raw) ?? 'other'
  const category = word !== 'other' && finishReason.toWire(word) !== raw ? raw : undefined
  return { reason: word === 'stop' && hasCalls ? 'tool_calls' : word, raw, protocol: protocolName, ...defined({ message: message || undefined, category }) }
}

type Ending = { hasCalls: boolean; at: string | undefined; truncated?: 'error' | 'length' | undefined }

/**
 * `finishReason` and `finishMessage`. A reply that failed is none: it has to be written as an error.
 * @throws TranslationError `truncated` for a reply that does not say how it ended
 */
export function encodeFinish(finish: Finish | undefined, { hasCalls, at, truncated }: Ending, report: GeminiReport): JsonObject {
  if (!finish) {
    if (truncated !== 'length')
      throw new TranslationError({ code: 'truncated', protocol: protocolName, path: '/candidates' }, 'the reply does not say how it ended')
    report.add('finish.truncated-as-length', at, 'finish.reason')
    return { finishReason: 'MAX_TOKENS' }
  }
  const { reason, raw, protocol, message, sequence, category, details } = finish
  if (protocol === protocolName && raw !== undefined && decodeFinish(raw, undefined, reason === 'tool_calls')?.reason === reason)
    return { finishReason: raw, ...defined({ finishMessage: message }) }
  const near = nearestFinishReason[reason]
  const isExact = reason === 'other' ? raw === undefined : reason === 'stop' ? !hasCalls : reason === 'tool_calls' ? hasCalls : near === undefined
  if (!isExact) report.add('finish.approximated', at, 'finish.reason')
  if (sequence !== undefined) report.add('finish.details', at, 'finish.sequence')
  if (category !== undefined || details !== undefined) report.add('finish.details', at, 'finish.details')
  const told = message ?? (reason === 'pause' ? pausedText : undefined)
  return { finishReason: near ?? finishReason.toWire(reason) ?? 'OTHER', ...defined({ finishMessage: told }) }
}

const pausedText = 'The turn was paused and can be continued.'

/** `promptFeedback` of a prompt that was refused. Undefined: it was not, or has none. */
export function decodeBlocked(feedback: JsonObject | null | undefined): CanonicalResponse['promptBlocked'] {
  const reason = feedback?.['blockReason']
  if (!feedback || typeof reason !== 'string' || reason === '') return undefined
  const message = feedback['blockReasonMessage']
  return { reason, ...(typeof message === 'string' && { message }), raw: feedback }
}

/** As it came, where it came from this protocol and still says the same. */
export function encodeBlocked({ reason, message, raw }: NonNullable<CanonicalResponse['promptBlocked']>): unknown {
  return isObject(raw) && raw['blockReason'] === reason ? raw : { blockReason: reason, ...defined({ blockReasonMessage: message }) }
}
