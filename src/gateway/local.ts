/** The client of a request. `address`: of the network. */
type Client = {
  address: string | undefined
  headers: Record<string, string | string[] | undefined>
}

const isOfMachine = (address = '') => /^(127\.|::1$|::ffff:127\.)/.test(address)

/** HTTP/2 has the host in `:authority`. */
function hasLocalName({ host, ':authority': authority }: Client['headers']): boolean {
  const name = host ?? authority ?? 'localhost'
  return /^(127(\.\d+){3}|\[::1\]|([\w-]+\.)*localhost)(:\d+)?$/i.test(String(name))
}

/** Proxies on this machine name the client in a header. */
function isForwarded(headers: Client['headers']): boolean {
  for (const name in headers)
    if (/^(forwarded|x-forwarded-.+|x-real-ip|via)$/.test(name)) return true
  return false
}

/**
 * Does the client run on this machine? Not if it came through a proxy, and not if it used a public
 * host name: a web page can make its own name resolve to this machine (DNS rebinding).
 */
export const isLocal = ({ address, headers }: Client): boolean =>
  isOfMachine(address) && !isForwarded(headers) && hasLocalName(headers)

/** Is this a request of a browser on this machine, for a web page whose name resolves to it? */
export const isRebound = ({ address, headers }: Client): boolean =>
  isOfMachine(address) && !isForwarded(headers) && !hasLocalName(headers)
