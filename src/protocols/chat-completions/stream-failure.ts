import type { CanonicalEvent } from '../../canonical/event.ts'
import type { JsonObject } from '../../kit/json.ts'
import { decodeErrorBody } from './error.ts'

/** Some servers send the error itself, without a frame around it. */
export const isFlatError = ({ object, type, choices }: JsonObject): boolean => !choices && (object === 'error' || type === 'error')

export type Failure = Omit<Extract<CanonicalEvent, { type: 'error' }>, 'type'>

/** No client looks for an error that stands elsewhere than under `error`, so it is put there. */
export function unframed(body: JsonObject): Failure {
  if (typeof body['message'] !== 'string') return { error: decodeErrorBody({ error: { message: decodeErrorBody(body).message } }), unheard: true }
  return { error: { ...decodeErrorBody({ error: body }), at: '' }, unheard: true }
}

/** What is no chunk may be an error in words of the server's framework. */
export const mayTellFailure = ({ message, detail }: JsonObject): boolean => typeof message === 'string' || Boolean(detail)
