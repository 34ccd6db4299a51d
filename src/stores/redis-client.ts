/**
 * A client that has connected, or has failed to; then it goes on trying by itself, while its commands reject at once.
 * `warn` is told once for each time that Redis is away.
 */
export async function connectRedis(url: string, warn: (error: unknown) => void) {
  const { createClient }: Partial<typeof import('@redis/client')> = await import('@redis/client')
  // What is bundled for a platform without sockets has an empty module in its place: `browser` in package.json.
  if (!createClient) throw new Error('Redis needs sockets, which this platform has not: use "memory": true or the hook `store`')
  const client = createClient({ url, disableOfflineQueue: true })
  let told = false
  client.on('error', (error: unknown) => {
    if (!told) warn(error)
    told = true
  })
  client.on('ready', () => {
    told = false
  })
  await new Promise<void>(resolve => {
    client.once('ready', () => resolve())
    client.once('error', () => resolve())
    client.connect().catch(() => resolve())
  })
  return client
}
