import type { ErrorKind } from '../../canonical/error.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/** The details of an error that chat-completions and responses have in common. */
export const sharedDetails = (details: unknown): { misalignment?: JsonObject } =>
  isObject(details) && isObject(details['misalignment'])
    ? { misalignment: details['misalignment'] }
    : {}

/**
 * Is the wire `type`, which alone decodes to the kind `ofType`, implied by the kind? Two types are
 * general: a fault of the client and one of the server imply every 4xx and 5xx type.
 */
export const impliesType = (ofType: ErrorKind, kind: ErrorKind, status: number): boolean =>
  ofType === kind || ofType === (status >= 500 ? 'internal' : 'invalid_request')
