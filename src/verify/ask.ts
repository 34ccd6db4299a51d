import { protocols } from '../protocols/index.ts'

/** The response of a service to one request. `failure`: there was none, or it was cut off. */
export type Received = {
  /** The requested URL, and the one that responded after redirects. */
  requestedUrl: string
  final: string
  status: number
  type: string
  text: string
  headers: Headers
  firstByteMs: number
  totalMs: number
  failure?: string
  /** No key was sent. */
  isKeyless: boolean
}

export type Sender = (
  url: string,
  init: { headers: Record<string, string>; body?: unknown },
) => Promise<Received>

/** A POST if there is a body, otherwise a GET. Never rejects. */
export function createSender(
  send: typeof fetch,
  timeoutMs: number,
  key: string | undefined,
): Sender {
  const isKeyless = key === undefined
  return async (url, { headers, body }) => {
    const started = performance.now()
    const since = () => Math.round(performance.now() - started)
    const received: Received = {
      requestedUrl: url,
      final: url,
      status: 0,
      type: '',
      text: '',
      headers: new Headers(),
      firstByteMs: 0,
      totalMs: 0,
      isKeyless,
    }
    try {
      const response = await send(url, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(timeoutMs),
      })
      received.final = response.url || url
      received.status = response.status
      received.type = response.headers.get('content-type') ?? ''
      received.headers = response.headers
      const decoder = new TextDecoder()
      const binary = Object.values(protocols).find(
        ({ framing }) => framing && received.type.includes(framing.contentType),
      )
      const decode = binary?.framing?.decode()
      const reader = response.body?.getReader()
      for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
        received.firstByteMs ||= since()
        const text = decode ? decode(read.value) : read.value
        received.text += typeof text === 'string' ? text : decoder.decode(text, { stream: true })
      }
    } catch (error) {
      received.failure = failureOf(error, timeoutMs)
    }
    received.totalMs = since()
    return received
  }
}

function failureOf(error: unknown, timeoutMs: number): string {
  if (!(error instanceof Error)) return 'the request failed'
  if (error.name === 'TimeoutError') return `no complete response in ${timeoutMs / 1000} s`
  const { cause } = error
  if (!(cause instanceof Error)) return error.message
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message
}

/** Advice if there is no response, or something that is not one. */
export function fixFor(received: Received): string {
  const { status, failure, text, type, requestedUrl, final, isKeyless } = received
  if (failure !== undefined) {
    if (/ECONNREFUSED/.test(failure))
      return 'Nothing listens there: check host and port, and whether the gateway runs.'
    if (/ENOTFOUND|EAI_AGAIN/.test(failure))
      return 'The host does not exist: check the spelling of the address.'
    if (/CERT|SSL|TLS|EPROTO|wrong version/i.test(failure))
      return 'TLS fails: is it http instead of https, or is the certificate of another host?'
    if (/no complete response/.test(failure))
      return 'The service is too slow or never ends its responses: check its timeouts and those of the proxies before it.'
    return 'The connection broke: look at proxies and firewalls between here and the service.'
  }
  if (isHtml({ text, type }))
    return 'The response is a web page: this is the address of a console, a login or an error page. Use the address of the API.'
  if (requestedUrl !== final)
    return `The service redirects to ${final}: use that address, since a redirected POST loses its body.`
  if ((status === 401 || status === 403) && isKeyless)
    return 'No key was sent, and the service requires one: pass it as `key`, or to the command as the variable that --key-env names (else WIREGLOT_KEY).'
  if (status === 401 || status === 403)
    return 'The request reached the API, but the key was not accepted: check that it is complete, belongs to this service, and is not revoked.'
  if (status === 404 && speaksOfModel(received))
    return 'The path is right, but this key has no such model: copy the id from the listing of models.'
  if (status === 404)
    return 'The path does not exist: check that the address has exactly one /v1, and that the service speaks this protocol.'
  if (status === 405)
    return 'The path accepts no such request: the address is wrong, since only pages that are no API respond so.'
  if (status === 429)
    return 'A rate limit is reached: wait for the time in "retry-after", then verify again.'
  if (status >= 500)
    return 'The service or its upstream failed: look at its log; verify again later.'
  if (status >= 400)
    return 'The service refuses the smallest request of this protocol: its message names the field.'
  return 'The service responds, but not in this protocol: check the server, or a proxy that changes responses.'
}

/** The path may contain the word, too. */
export function speaksOfModel({ text, requestedUrl }: Received): boolean {
  return /\bmodel\b|model_/i.test(text.replaceAll(new URL(requestedUrl).pathname, ''))
}

export const isHtml = ({ text, type }: Pick<Received, 'text' | 'type'>): boolean =>
  /text\/html/i.test(type) || /^\s*<(?:!doctype|html)/i.test(text)

/** The message of an error body, on one short line. */
export function gist({ status, failure, text }: Received): string {
  if (failure !== undefined) return failure
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return `status ${status}${line ? `: ${line.length > 200 ? `${line.slice(0, 200)}…` : line}` : ''}`
}
