import type { Logger, UsageRecord } from '../gateway/gateway.ts'
import { loggerTo } from '../gateway/log.ts'

/** `json`: one object per line. `pretty`: one line for people. `off`: warnings and errors only. */
export type LogFormat = 'json' | 'pretty' | 'off'

export const logFormats = ['json', 'pretty', 'off'] as const satisfies readonly LogFormat[]

type Line = (line: string) => void

/**
 * A logger that writes one line per request to `out`, and warnings and errors to `err`. The line holds no text of the conversation and no
 * secret. `seen`: gets the record of each request too.
 */
export function createAccessLog(
  format: LogFormat,
  { out, err, seen }: { out: Line; err: Line; seen?: (record: UsageRecord) => void },
): Logger {
  const warnings = loggerTo(err)
  return {
    ...warnings,
    info(details, message) {
      if (message !== 'exchange') return
      const record = details as UsageRecord
      seen?.(record)
      if (format === 'json') out(JSON.stringify(fieldsOf(record)))
      else if (format === 'pretty') out(prettyLine(record))
    },
  }
}

function fieldsOf(record: UsageRecord): object {
  const {
    time,
    requestId,
    key,
    protocolIn,
    protocolOut,
    requestedModel,
    modelServed,
    channel,
    status,
    usage,
    firstByteMs,
    totalMs,
    attempts,
    failure,
  } = record
  return {
    time,
    requestId,
    key,
    protocolIn,
    protocolOut,
    model: requestedModel,
    modelServed,
    channel,
    status,
    inputTokens: usage?.input,
    outputTokens: usage?.output,
    firstByteMs,
    totalMs,
    attempts,
    failure,
  }
}

/** Time, status, key, protocols, model and channel, tokens, milliseconds. */
export function prettyLine(record: UsageRecord): string {
  const {
    time,
    key,
    protocolIn,
    protocolOut = protocolIn,
    requestedModel,
    channel,
    status,
    usage,
    totalMs,
    attempts,
    failure,
  } = record
  const words = [
    time.slice(11, 19),
    String(status),
    key ?? '-',
    protocolIn === protocolOut ? protocolIn : `${protocolIn}→${protocolOut}`,
    requestedModel === undefined
      ? '-'
      : `${printable(requestedModel)}${channel === undefined ? '' : `@${channel}`}`,
    usage ? `${usage.input ?? '?'}→${usage.output ?? '?'} tokens` : '-',
    `${totalMs} ms`,
  ]
  if (attempts > 1) words.push(`${attempts} attempts`)
  if (failure !== undefined) words.push(failure)
  return words.join('  ')
}

/** A terminal executes control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to replace
const printable = (text: string) => text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, '?')
