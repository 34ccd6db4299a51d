import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, parseObject } from '../../kit/json.ts'

/**
 * Proofs of reasoning kept by the caller, for clients that send back nothing but the fields they know. What would have
 * stood in the message goes out beside it as text, by the id of its first call: a tool loop needs it, and nothing else that
 * such a client sends back is sure to be unlike that of another conversation. Nothing is kept here: translation gives the
 * text out and is given it again, so that it stays pure whatever the caller's store is, and however long that takes.
 */
export type StoredProofs = Record<string, string>

/** Moves the proofs of a whole message into `stored`. False: it has some, and no call to keep them by. Changes the message. */
export function takeOut(message: JsonObject, stored: StoredProofs): boolean {
  const { reasoning_details: details, tool_calls } = message
  const calls = callsOf(tool_calls)
  const extra = Object.fromEntries(flatMap(calls, call => ('extra_content' in call ? [[String(call['id']), call['extra_content']]] : [])))
  delete message['reasoning_details']
  for (const call of calls) delete call['extra_content']
  return keep(stored, calls[0]?.['id'], { details, extra })
}

/** What has come of a reply goes into `stored`, as above. */
export function keep(stored: StoredProofs, id: unknown, { details, extra }: { details: unknown; extra: JsonObject }): boolean {
  const some = Array.isArray(details) && details.length > 0
  if (!some && Object.keys(extra).length === 0) return true
  if (typeof id !== 'string') return false
  Object.defineProperty(stored, id, { value: JSON.stringify({ ...(some && { details }), extra }), enumerable: true, configurable: true, writable: true })
  return true
}

/** The message as a client sends it that keeps every field. What stands there already is left alone. */
export function putBack<T extends JsonObject>(message: T, lookUp: ((callId: string) => string | undefined) | undefined): T {
  const calls = callsOf(message['tool_calls'])
  const id = calls[0]?.['id']
  const found = lookUp && typeof id === 'string' ? lookUp(id) : undefined
  const stored = found === undefined ? undefined : parseObject(found)
  if (!stored) return message
  const { details, extra } = stored
  const proofs = new Map(Object.entries(isObject(extra) ? extra : {}))
  return {
    ...message,
    ...(message['reasoning_details'] == null && details !== undefined && { reasoning_details: details }),
    tool_calls: calls.map(call => {
      const proof = proofs.get(String(call['id']))
      return call['extra_content'] == null && proof !== undefined ? { ...call, extra_content: proof } : call
    }),
  }
}

/** The call ids that `putBack` will ask for. */
export function proofKeys(request: unknown): string[] {
  const messages = isObject(request) ? request['messages'] : undefined
  return flatMap(callsOf(messages), message => {
    const id = callsOf(message['tool_calls'])[0]?.['id']
    return typeof id === 'string' ? [id] : []
  })
}

const callsOf = (calls: unknown): JsonObject[] => (Array.isArray(calls) ? calls.filter(isObject) : [])
