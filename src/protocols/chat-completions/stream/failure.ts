import type { CanonicalEvent } from '../../../canonical/event.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { decodeErrorBody } from '../errors.ts'

/** Some servers send the error object itself, without `error` around it. */
export const isFlatError = ({ object, type, choices }: JsonObject): boolean =>
  !choices && (object === 'error' || type === 'error')

export type Failure = Omit<Extract<CanonicalEvent, { type: 'error' }>, 'type'>

/** Clients look for an error only under `error`, so it is put there. */
export function unframed(body: JsonObject): Failure {
  if (typeof body['message'] !== 'string')
    return {
      error: decodeErrorBody({ error: { message: decodeErrorBody(body).message } }),
      unrecognized: true,
    }
  return { error: { ...decodeErrorBody({ error: body }), at: '' }, unrecognized: true }
}

/** Data that is not a chunk may be an error of the server's web framework. */
export const mayBeFailure = ({ message, detail }: JsonObject): boolean =>
  typeof message === 'string' || Boolean(detail)
