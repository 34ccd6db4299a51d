import type { Logger, UsageRecord } from '../gateway/gateway.ts'
import { loggerTo } from '../gateway/log.ts'
import { withoutSecrets } from '../gateway/secret-shapes.ts'

/** `json`: one object per line. `pretty`: one line for people. `off`: warnings and errors only. */
export type LogFormat = 'json' | 'pretty' | 'off'

export const logFormats = ['json', 'pretty', 'off'] as const satisfies readonly LogFormat[]

type Line = (line: string) => void

/**
 * What the gateway logs of a request: its record, with what was requested. `path`: without the
 * query.
 */
type Logged = UsageRecord & { method: string; path: string }

/**
 * A logger that writes one line per request to `out`, and everything else to `err`. The line holds
 * no text of the conversation and no secret. `seen`: gets the record of each request too.
 */
export function createAccessLog(
  format: LogFormat,
  { out, err, seen }: { out: Line; err: Line; seen?: (record: UsageRecord) => void },
): Logger {
  const others = loggerTo(err)
  return {
    ...others,
    info(details, message) {
      if (message !== 'exchange') {
        if (format !== 'off') others.info(details, message)
        return
      }
      const logged = details as Logged
      seen?.(logged)
      if (format === 'json') out(JSON.stringify(fieldsOf(logged)))
      else if (format === 'pretty') out(prettyLine(logged))
    },
  }
}

function fieldsOf(logged: Logged): object {
  const {
    time,
    requestId,
    method,
    path,
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
    errorMessage,
  } = logged
  return {
    time,
    requestId,
    method: shown(method),
    path: shown(path),
    key,
    protocolIn,
    protocolOut,
    model: requestedModel,
    modelServed,
    channel,
    status,
    inputTokens: usage?.input,
    outputTokens: usage?.output,
    estimated: usage?.estimated,
    firstByteMs,
    totalMs,
    attempts,
    failure,
    error: errorMessage === undefined ? undefined : shown(errorMessage),
  }
}

/**
 * Time, status, method and path, key, protocols, model and channel, tokens, milliseconds, and what
 * failed.
 */
export function prettyLine(logged: Logged): string {
  const {
    time,
    method,
    path,
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
    errorMessage,
  } = logged
  const words = [
    time.slice(11, 19),
    String(status),
    `${shown(method)} ${shown(path)}`,
    printable(key ?? '-'),
    protocolsOf(protocolIn, protocolOut),
    requestedModel === undefined
      ? '-'
      : `${printable(requestedModel)}${channel === undefined ? '' : `@${channel}`}`,
    usage
      ? `${usage.estimated ? '~' : ''}${usage.input ?? '?'}→${usage.output ?? '?'} tokens`
      : '-',
    `${totalMs} ms`,
  ]
  if (attempts > 1) words.push(`${attempts} attempts`)
  if (failure !== undefined) words.push(failure)
  if (errorMessage !== undefined) words.push(shown(errorMessage))
  return words.join('  ')
}

function protocolsOf(source: string, target: string): string {
  if (source === 'none') return '-'
  return source === target ? source : `${source}→${target}`
}

/** In UTF-16 units. */
const longest = 300

/** A text that a client may have chosen. Cut first: the search for secrets should not take long. */
const shown = (text: string) =>
  printable(withoutSecrets(text.length > longest ? `${text.slice(0, longest)}…` : text))

/** A terminal executes control characters, and a line break would forge another line. */
const printable = (text: string) =>
  text.replaceAll(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones to replace
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
