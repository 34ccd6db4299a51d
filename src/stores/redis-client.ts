/**
 * Resolves when the client has connected or failed to. After a failure it reconnects by itself; meanwhile its commands reject
 * immediately. `warn`: called once for each outage.
 */
export async function connectRedis(url: string, warn: (error: unknown) => void) {
  const { createClient }: Partial<typeof import('@redis/client')> = await import('@redis/client')
  // Bundles for platforms without sockets contain an empty module instead: `browser` in package.json.
  if (!createClient)
    throw new Error(
      'Redis needs sockets, and this runtime has none: set "memory": true, or use the hook `store`',
    )
  const client = createClient({ url, disableOfflineQueue: true })
  let hasWarned = false
  client.on('error', (error: unknown) => {
    if (!hasWarned) warn(error)
    hasWarned = true
  })
  client.on('ready', () => {
    hasWarned = false
  })
  await new Promise<void>(resolve => {
    client.once('ready', () => resolve())
    client.once('error', () => resolve())
    client.connect().catch(() => resolve())
  })
  return client
}
