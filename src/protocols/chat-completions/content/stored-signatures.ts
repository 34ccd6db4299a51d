import type { Part, Place } from '../../../canonical/message.ts'
import { isObject, type JsonObject, parseObject } from '../../../kit/json/json.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import type { ChatCompletionsWrittenAssistant } from '../schema.ts'

/**
 * Signatures of reasoning that the caller stores, for clients that send back only the fields they
 * know. They are returned next to the message as text, by the id of its first call: a tool loop
 * needs them, and of what such a client sends back only the call id is sure to be unique among
 * conversations. Nothing is stored here: the caller gets the text and passes it in again, so that
 * translation stays pure, whatever the store is and however slow.
 */
export type StoredSignatures = Record<string, string>

/**
 * Moves the signatures of a complete message into `stored`. Changes the message. False: it has
 * signatures, but no call whose id could be the key.
 */
export function takeOut(
  message: ChatCompletionsWrittenAssistant,
  stored: StoredSignatures,
): boolean {
  const { reasoning_details: details, tool_calls } = message
  const calls = callsOf(tool_calls)
  const extra = Object.fromEntries(
    flatMap(calls, call =>
      'extra_content' in call ? [[String(call['id']), call['extra_content']]] : [],
    ),
  )
  delete message.reasoning_details
  for (const call of calls) delete call['extra_content']
  return keep(stored, calls[0]?.['id'], { details, extra })
}

/** Puts signatures into `stored`, with the same result as `takeOut`. */
export function keep(
  stored: StoredSignatures,
  id: unknown,
  { details, extra }: { details: unknown; extra: JsonObject },
): boolean {
  const some = Array.isArray(details) && details.length > 0
  if (!some && Object.keys(extra).length === 0) return true
  if (typeof id !== 'string') return false
  Object.defineProperty(stored, id, {
    value: JSON.stringify({ ...(some && { details }), extra }),
    enumerable: true,
    configurable: true,
    writable: true,
  })
  return true
}

/** Makes the note for signatures of a message at this path that `keep` did not take. */
export function noteUnstored(
  parts: readonly Part[],
  at: Place | undefined,
  report: ChatCompletionsReport,
): void {
  const signed = parts.find(part => part.type === 'reasoning' && part.signature)
  report.add('reasoning.signature-dropped', signed ? signed.at : at, signed && 'signature')
}

/** Restores the stored fields of a message. Fields that the message already has are not changed. */
export function putBack<T extends JsonObject>(
  message: T,
  lookUp: ((callId: string) => string | undefined) | undefined,
): T {
  const calls = callsOf(message['tool_calls'])
  const id = calls[0]?.['id']
  const found = lookUp && typeof id === 'string' ? lookUp(id) : undefined
  const stored = found === undefined ? undefined : parseObject(found)
  if (!stored) return message
  const { details, extra } = stored
  const signatures = new Map(Object.entries(isObject(extra) ? extra : {}))
  return {
    ...message,
    ...(message['reasoning_details'] == null &&
      details !== undefined && { reasoning_details: details }),
    tool_calls: calls.map(call => {
      const signature = signatures.get(String(call['id']))
      return call['extra_content'] == null && signature !== undefined
        ? { ...call, extra_content: signature }
        : call
    }),
  }
}

/** The call ids that `putBack` will ask for. */
export function storedSignatureKeys(request: unknown): string[] {
  const messages = isObject(request) ? request['messages'] : undefined
  return flatMap(callsOf(messages), message => {
    const id = callsOf(message['tool_calls'])[0]?.['id']
    return typeof id === 'string' ? [id] : []
  })
}

const callsOf = (calls: unknown): JsonObject[] =>
  Array.isArray(calls) ? calls.filter(isObject) : []
