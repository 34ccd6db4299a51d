import { isObject, type JsonObject } from '../kit/json/json.ts'
import type { TransportResponse } from '../transports/transport.ts'
import { readObject, withJson } from './wrapping.ts'

// What clouds that serve Claude have in common: requests of the messages protocol without `model`,
// with `anthropic_version`.

/** `/v1/messages` of a URL, or `/v1/messages/count_tokens`. */
export const messagesPath = /(?:\/v1)?\/messages(?:\/count_tokens)?$/

/** The fields that are not sent in the body. */
export const ownMembers = ['model', 'stream', 'anthropic_version', 'anthropic_beta']

/** Error types by status. Source: https://docs.anthropic.com/en/api/errors */
const typeOfStatus: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  424: 'api_error',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
}

export const errorBody = (type: string, message: string): object => ({
  type: 'error',
  error: { type, message },
})

/**
 * The response of a refusal, with its error as the messages protocol writes it. One that is written
 * so stays.
 */
export async function withError(
  response: TransportResponse,
  type?: string,
): Promise<TransportResponse> {
  const body = await readObject(response)
  if (body['type'] === 'error' && isObject(body['error'])) return withJson(response, body)
  return withJson(
    response,
    errorBody(
      type ?? typeOfStatus[response.status] ?? 'api_error',
      messageIn(body, response.status),
    ),
  )
}

function messageIn(body: JsonObject, status: number): string {
  const within = isObject(body['error']) ? body['error'] : body
  const message = within['message'] ?? within['Message']
  return typeof message === 'string' ? message : `the upstream failed with status ${status}`
}
