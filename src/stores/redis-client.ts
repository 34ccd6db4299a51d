import { type Circuit, createCircuit, timeoutMs } from './circuit.ts'

/**
 * One for each URL: a Redis that hangs delays a request once, whether it is used for limits or for
 * responses.
 */
const circuits = new Map<string, Circuit>()

/**
 * Resolves when the client has connected or failed to, or Redis does not respond. After a failure
 * it reconnects by itself; meanwhile its commands reject immediately. Commands need `run`, which
 * rejects when Redis hangs. `warn`: called once for each outage.
 */
export async function connectRedis(url: string, warn: (error: unknown) => void) {
  const { createClient }: Partial<typeof import('@redis/client')> = await import('@redis/client')
  // Bundles for platforms without sockets contain an empty module instead: `browser` in
  // package.json.
  if (!createClient)
    throw new Error(
      'Redis needs sockets, and this runtime has none: set "memory": true, or use the hook `store`',
    )
  const client = createClient({
    url,
    disableOfflineQueue: true,
    // A connection that was cut without a word is replaced: it has received no answer to a ping.
    pingInterval: 5_000,
    socket: { connectTimeout: timeoutMs, socketTimeout: 15_000 },
  })
  let hasWarned = false
  const warnOnce = (error: unknown) => {
    if (!hasWarned) warn(error)
    hasWarned = true
  }
  client.on('error', warnOnce)
  client.on('ready', () => {
    hasWarned = false
  })
  const circuit = circuits.get(url) ?? createCircuit()
  circuits.set(url, circuit)
  const connected = () =>
    new Promise<void>(resolve => {
      client.once('ready', () => resolve())
      client.once('error', () => resolve())
    })
  const connecting = circuit.run(connected)
  client.connect().catch(() => {})
  await connecting.catch(warnOnce)
  return { client, run: circuit.run }
}
