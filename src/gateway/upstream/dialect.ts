import type { CanonicalError } from '../../canonical/error.ts'
import { isOverflowMessage } from '../../kit/errors/full-context.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'

/**
 * An upstream's error for a client of `to`. `isOwn`: its body is one of that protocol already. Local
 * servers have errors of their own in every protocol, and a full context is told in the words that
 * clients look for before they shorten a conversation.
 */
export function told(
  error: CanonicalError,
  body: unknown,
  { from, to }: { from: Protocol; to: Protocol },
): { error: CanonicalError; isOwn: boolean } {
  const isFull = error.kind === 'invalid_request' && isOverflowMessage(error.message)
  const read: CanonicalError = isFull ? { ...error, kind: 'context_length' } : error
  if (from !== to || isOf(to, body, read)) return { error: read, isOwn: from === to }
  const { protocol: _, type: __, code: ___, details: ____, ext: _____, ...plain } = read
  return { error: plain, isOwn: false }
}

/** Is this how servers of the protocol report the error? */
function isOf(protocol: Protocol, body: unknown, { status, kind, message }: CanonicalError) {
  const given: unknown = Array.isArray(body) ? body[0] : body
  const ours = protocol.encodeError({ status, kind, message }).wire.body
  if (!isObject(given) || !isObject(ours)) return false
  if (ours['type'] !== undefined && given['type'] !== ours['type']) return false
  const isNested = isObject(ours['error'])
  const [said, words] = isNested ? [given['error'], ours['error']] : [given, ours]
  if (!isObject(said) || !isObject(words)) return false
  const { type, code } = said
  const text = said['message'] ?? said['Message']
  // The classes of Python servers, such as `BadRequestError`, are no types of any protocol.
  if (typeof text !== 'string' || (typeof type === 'string' && /^[A-Z]/.test(type))) return false
  const isSameCode = typeof words['code'] !== 'string' || words['code'] === code
  return kind !== 'context_length' || (words['message'] === text && isSameCode)
}
