/** Where a request arrived. `mount`: the path that the gateway is mounted at. */
type Place = { isEncrypted: boolean; host: string | null | undefined; mount: string }

/**
 * The URL that the gateway is mounted at, as its client sees it: proxies say in `x-forwarded-host`
 * and `x-forwarded-proto` what they were called by. For messages and generated settings only:
 * clients can send any host, so nothing else may depend on it. Only `mount` without a host.
 */
export function baseOf(
  { isEncrypted, host, mount }: Place,
  header: (name: string) => string | null | undefined,
): string {
  const proto = firstOf(header('x-forwarded-proto'))
  const named = firstOf(header('x-forwarded-host')) ?? host
  const isSecure = proto === 'https' || (isEncrypted && proto !== 'http')
  return named && /^[\w.:[\]-]+$/.test(named)
    ? `${isSecure ? 'https' : 'http'}://${named}${mount}`
    : mount
}

/** Each proxy adds a value; the first one is that of the client. */
const firstOf = (value: string | null | undefined): string | undefined =>
  value?.split(',', 1)[0]?.trim().toLowerCase() || undefined
