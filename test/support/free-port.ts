import { createServer } from 'node:net'

/**
 * A port without a listener, for a server that starts later. It is below the ports that systems
 * give to clients (from 32768 or 49152): one of those could be taken by a connection before the
 * server listens, even by the connection that waits for it.
 */
export async function freePort(): Promise<number> {
  const port = 20_000 + Math.floor(Math.random() * 12_000)
  const server = createServer()
  const isFree = await new Promise<boolean>(resolve => {
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => resolve(true))
  })
  if (!isFree) return freePort()
  await new Promise(resolve => server.close(resolve))
  return port
}
