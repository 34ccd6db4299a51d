import type { Note } from '../canonical/note.ts'
import { type EventFrame, EventFrameError, EventFrameReader } from '../eventstream/frames.ts'
import { unreadable } from '../kit/errors/failed-response.ts'
import { isObject, parseObject, without } from '../kit/json/json.ts'
import { base64Of, bytesIn } from '../kit/media/base64.ts'
import { gatewayNote } from '../kit/notes/gateway.ts'
import { encoded, textOf } from '../sse/bytes.ts'
import type { TransportResponse } from '../transports/transport.ts'
import { changed } from './call.ts'
import { errorBody, messagesPath, ownMembers, withError } from './claude.ts'
import {
  baseBefore,
  objectOfMembers,
  readObject,
  takeMembers,
  type Wrapping,
  withJson,
} from './wrapping.ts'

/**
 * The version of the body. Source:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages.html
 */
const version = 'bedrock-2023-05-31'

/**
 * The beta flags that the service accepts; one that it does not know is a 400. Source: the page
 * above.
 */
const knownBetas = new Set([
  'claude-code-20250219',
  'computer-use-2024-10-22',
  'computer-use-2025-01-24',
  'computer-use-2025-11-24',
  'context-1m-2025-08-07',
  'context-management-2025-06-27',
  'effort-2025-11-24',
  'fine-grained-tool-streaming-2025-05-14',
  'interleaved-thinking-2025-05-14',
  'output-128k-2025-02-19',
  'token-efficient-tools-2025-02-19',
  'tool-examples-2025-10-29',
  'tool-search-tool-2025-10-19',
])

/**
 * Messages as InvokeModel of Amazon Bedrock: the model in the path, betas in the body, streams in
 * frames of AWS.
 */
export const invokeModel: Wrapping = call => {
  const base = baseBefore(call.url, messagesPath)
  const parts = base === undefined ? undefined : takeMembers(call.body, ownMembers)
  if (base === undefined || !parts) return undefined
  const { taken, others } = parts
  const { betas, notes } = betasIn(taken['anthropic_beta'], call.headers['anthropic-beta'])
  const added = {
    anthropic_version: taken['anthropic_version'] ?? version,
    ...(betas.length > 0 && { anthropic_beta: betas }),
  }
  const model = String(taken['model'])
  const sent = without(call.headers, ['anthropic-version', 'anthropic-beta'])
  if (new URL(call.url).pathname.endsWith('/count_tokens'))
    return { ...counting(call, base, { model, sent, added, others }), notes }
  const { action, accept } = taken['stream'] === true ? streamed : whole
  const url = `${base}/model/${encodeURIComponent(model)}/${action}`
  const headers = { ...sent, accept }
  const body = objectOfMembers(added, others)
  return { call: changed(call, { url, headers, body }), notes, unwrap }
}

const eventStream = 'application/vnd.amazon.eventstream'
const streamed = { action: 'invoke-with-response-stream', accept: eventStream }
const whole = { action: 'invoke', accept: 'application/json' }

const regionalPrefix = /^(?:us|us-gov|eu|apac|au|ca|jp|global)\./

type Parts = { model: string; sent: Record<string, string>; added: object; others: Uint8Array[] }

/**
 * CountTokens takes the whole body of an invocation, which needs a limit, and the model without the
 * prefix of its inference profile.
 */
function counting(
  call: Parameters<Wrapping>[0],
  base: string,
  { model, sent, added, others }: Parts,
): NonNullable<ReturnType<Wrapping>> {
  const thinking = parseObject(textOf(objectOfMembers({}, others)))?.['thinking']
  const { budget_tokens: budget } = isObject(thinking) ? thinking : {}
  const limit = (typeof budget === 'number' ? budget : 0) + 1
  const invocation = objectOfMembers({ ...added, max_tokens: limit }, others)
  const plainModel = model.replace(regionalPrefix, '')
  const url = `${base}/model/${encodeURIComponent(plainModel)}/count-tokens`
  const headers = { ...sent, accept: 'application/json' }
  const body = JSON.stringify({ input: { invokeModel: { body: base64Of(invocation) } } })
  return {
    call: changed(call, { url, headers, body }),
    async unwrap(response) {
      if (response.status >= 400) return unwrap(response)
      return withJson(response, { input_tokens: (await readObject(response))['inputTokens'] })
    },
  }
}

/** The flags that are sent, and notes about the others. A header has no path. */
function betasIn(written: unknown, header: string | undefined): { betas: string[]; notes: Note[] } {
  const own = Array.isArray(written) ? written.map(String) : []
  const sent = header?.split(',').map(beta => beta.trim()) ?? []
  const isUnknown = (beta: string) => beta !== '' && !knownBetas.has(beta)
  const paths = [
    ...own.flatMap((beta, index) => (isUnknown(beta) ? [`/anthropic_beta/${index}`] : [])),
    ...(sent.some(isUnknown) ? [''] : []),
  ]
  return {
    betas: [...new Set([...own, ...sent])].filter(beta => knownBetas.has(beta)),
    notes: paths.map(path => gatewayNote('gateway.beta-dropped', path)),
  }
}

async function unwrap(response: TransportResponse): Promise<TransportResponse> {
  const { headers, status, body } = response
  const id = headers['x-amzn-requestid']
  const named = id === undefined ? headers : { ...headers, 'request-id': id }
  if (status >= 400)
    return withError({ ...response, headers: named }, typeOf(headers['x-amzn-errortype']))
  if (!headers['content-type']?.startsWith(eventStream)) return { ...response, headers: named }
  return {
    ...response,
    headers: { ...named, 'content-type': 'text/event-stream; charset=utf-8' },
    body: eventsIn(body),
  }
}

/**
 * Exceptions of the service as error types of the messages protocol, without the ending
 * `Exception`.
 */
const types: Record<string, string> = {
  accessdenied: 'permission_error',
  expiredtoken: 'authentication_error',
  modelerror: 'api_error',
  modelnotready: 'overloaded_error',
  modeltimeout: 'timeout_error',
  resourcenotfound: 'not_found_error',
  servicequotaexceeded: 'rate_limit_error',
  serviceunavailable: 'overloaded_error',
  throttling: 'rate_limit_error',
  unrecognizedclient: 'authentication_error',
  validation: 'invalid_request_error',
}

/**
 * The type of an exception such as `ThrottlingException:http://internal.amazon.com/…`. Undefined:
 * an unknown one.
 */
function typeOf(exception: string | undefined): string | undefined {
  const [name = ''] = exception?.split(':') ?? []
  return types[name.toLowerCase().replace(/exception$/, '')]
}

/** Frames whose `bytes` are one event each → text/event-stream. */
async function* eventsIn(body: TransportResponse['body']): AsyncGenerator<string> {
  let due = ''
  const reader = new EventFrameReader(frame => {
    due += eventOf(frame)
  })
  try {
    for await (const chunk of body) {
      reader.push(encoded(chunk))
      if (due !== '') yield due
      due = ''
    }
  } catch (error) {
    if (!(error instanceof EventFrameError)) throw error
    yield due + errorEvent('api_error', `${unreadable}: ${error.message}`)
  }
}

function eventOf({ headers, payload }: EventFrame): string {
  if (headers[':message-type'] === 'error') {
    const message = headers[':error-message'] ?? headers[':error-code'] ?? 'the upstream failed'
    return errorEvent('api_error', message)
  }
  const value = parseObject(textOf(payload)) ?? {}
  const exception = headers[':exception-type']
  if (exception !== undefined) {
    const given = value['message'] ?? value['originalMessage']
    const message = typeof given === 'string' ? given : exception
    return errorEvent(typeOf(exception) ?? 'api_error', message)
  }
  const data = typeof value['bytes'] === 'string' ? textIn(value['bytes']) : ''
  const type = /^\s*\{\s*"type"\s*:\s*"(\w+)"/.exec(data)?.[1] ?? parseObject(data)?.['type']
  // Some gateways in front of the service send events without a type to keep the connection open.
  if (typeof type !== 'string') return ''
  return `event: ${type}\ndata: ${data.replaceAll(/[\r\n]+/g, ' ')}\n\n`
}

const errorEvent = (type: string, message: string) =>
  `event: error\ndata: ${JSON.stringify(errorBody(type, message))}\n\n`

/** The text in base64. */
function textIn(base64: string): string {
  const latin = atob(base64)
  for (let at = 0; at < latin.length; at++)
    if (latin.charCodeAt(at) > 0x7f) return textOf(bytesIn(base64))
  return latin
}
