/**
 * Loads the package `ws`, which only those need who use WebSocket.
 * @throws Error that names the package, if it is not installed
 */
export async function loadWs(): Promise<typeof import('ws')> {
  return import('ws').catch((cause: unknown) => {
    throw new Error('WebSocket needs the package ws: npm install ws', { cause })
  })
}
