import type { CanonicalError, ErrorKind } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/**
 * Splits the details of an error: `misalignment`, which chat-completions and responses have in
 * common, and all others.
 */
export function splitDetails(details: unknown): {
  shared: { misalignment?: JsonObject }
  others: unknown
} {
  if (!isObject(details) || !isObject(details['misalignment']))
    return { shared: {}, others: details }
  const { misalignment, ...others } = details
  return {
    shared: { misalignment: misalignment as JsonObject },
    others: Object.keys(others).length > 0 ? others : undefined,
  }
}

/**
 * Is the wire `type`, which alone decodes to the kind `ofType`, implied by the kind? Two types are
 * general: a fault of the client and one of the server imply every 4xx and 5xx type.
 */
export const impliesType = (ofType: ErrorKind, kind: ErrorKind, status: number): boolean =>
  ofType === kind || ofType === (status >= 500 ? 'internal' : 'invalid_request')

/**
 * Would the body of an error of another protocol, which decodes to `reported`, lose its status?
 * Overload has two. Errors that are synthesized here have no path in the source.
 */
export function losesStatus(
  { status, kind, protocol }: CanonicalError,
  reported: CanonicalError,
): boolean {
  return (
    protocol !== undefined &&
    protocol !== reported.protocol &&
    status !== reported.status &&
    kind !== 'overloaded'
  )
}

/**
 * A message that is not a text, such as a list of faults, as JSON text of at most 2000 characters.
 * Undefined: a text, or absent.
 */
export function listed(value: unknown): string | undefined {
  const isEmpty = typeof value === 'object' && Object.keys(value ?? {}).length === 0
  return value === undefined || typeof value === 'string' || isEmpty
    ? undefined
    : JSON.stringify(value).slice(0, 2000)
}

/**
 * The known keys of an error next to its message that hold no text, so that they are not read.
 * `isCode`: is it a code all the same?
 */
export function unreadOf(
  { type, code, param }: JsonObject,
  isCode: (code: unknown) => boolean,
): JsonObject {
  const isText = (value: unknown) => value == null || typeof value === 'string'
  return Object.fromEntries(
    Object.entries({ type, code, param }).filter(
      ([key, value]) => !isText(value) && !(key === 'code' && isCode(value)),
    ),
  )
}
