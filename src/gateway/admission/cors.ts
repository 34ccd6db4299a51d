import type { Headers } from '../../protocol.ts'
import type { ParsedConfig } from '../options.ts'
import type { GatewayRequest, GatewayResponse } from '../request.ts'

/** Which web pages of other origins may use the gateway (CORS). */
export type Cors = {
  /**
   * The response to a preflight request. Undefined: the request is none, or its origin is not
   * allowed.
   */
  preflight(request: Pick<GatewayRequest, 'method' | 'headers'>): GatewayResponse | undefined
  /** Headers for every response to this request. */
  headers(request: Pick<GatewayRequest, 'headers'>): Headers
}

/**
 * Undefined: CORS is not configured. `access-control-allow-credentials` is never sent, so browsers
 * send no cookies.
 */
export function createCors(config: ParsedConfig['cors']): Cors | undefined {
  if (!config) return undefined
  const { origins, maxAgeSeconds } = config
  const allowsAll = origins.includes('*')
  const allowed = new Set(origins)
  const headersFor = ({ headers: { origin } }: Pick<GatewayRequest, 'headers'>): Headers => {
    if (allowsAll) return everyOrigin
    return origin !== undefined && allowed.has(origin)
      ? { 'access-control-allow-origin': origin, ...exposed, vary: 'origin' }
      : otherOrigin
  }
  return {
    headers: headersFor,
    preflight({ method, headers }) {
      const {
        origin,
        'access-control-request-method': wanted,
        'access-control-request-headers': names,
      } = headers
      if (
        method !== 'OPTIONS' ||
        origin === undefined ||
        wanted === undefined ||
        !(allowsAll || allowed.has(origin))
      )
        return undefined
      const granted = {
        'access-control-allow-methods': 'GET, HEAD, POST, DELETE',
        // A `*` would not include `authorization`.
        ...(names !== undefined && { 'access-control-allow-headers': names }),
        'access-control-max-age': String(maxAgeSeconds),
        vary: 'origin, access-control-request-method, access-control-request-headers',
      }
      return { status: 204, headers: { ...headersFor({ headers }), ...granted }, body: '' }
    },
  }
}

/**
 * May a page of this origin open a WebSocket? Browsers let every page do so, and send no preflight
 * request. Other programs have no origin.
 */
export function isOriginAllowed(config: ParsedConfig['cors'], { origin, host }: Headers): boolean {
  if (
    origin === undefined ||
    config?.origins.some(allowed => allowed === '*' || allowed === origin)
  )
    return true
  return host !== undefined && URL.canParse(origin) && new URL(origin).host === host
}

/**
 * Is this a request of a web page of another origin, which `cors` does not list? Without an
 * `origin`, as of an image, the browser names the site.
 */
export function isOtherSite(config: ParsedConfig['cors'], headers: Headers): boolean {
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined) return !isOriginAllowed(config, headers)
  return site !== undefined && site !== 'same-origin' && site !== 'none'
}

const exposed: Headers = { 'access-control-expose-headers': '*' }
const everyOrigin: Headers = { 'access-control-allow-origin': '*', ...exposed }
/** Caches must not give this response to an allowed origin. */
const otherOrigin: Headers = { vary: 'origin' }
