import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Script, wireOf } from '../../test/support/upstreams/index.ts'
import { isQuietLeaver, type Plan, planOf, textOf } from './plan.ts'

/**
 * An upstream of all protocols in a process of its own: sends the word of its request, again and
 * again, or fails as planned.
 */
const { SOAK_PAUSE, SOAK_WORDS } = process.env
const pauseMs = Number(SOAK_PAUSE)
const words = Number(SOAK_WORDS)
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
let open = 0

const server = createServer((received, response) => {
  open++
  const chunks: Buffer[] = []
  received.on('data', chunk => chunks.push(chunk))
  received.on('end', () => {
    const [, number = ''] = /\bn(\d+)\b/.exec(Buffer.concat(chunks).toString()) ?? []
    const plan = planOf(Number(number))
    response.on('close', () => {
      open--
      if (!response.writableFinished && plan.leaves)
        process.send?.({ ended: plan.word, at: Date.now() })
    })
    say(response, plan).catch(() => response.destroy())
  })
})
server.keepAliveTimeout = 600_000
server.listen({ port: 0, host: '127.0.0.1', backlog: 4_000 }, () =>
  process.send?.({ port: (server.address() as AddressInfo).port }),
)
setInterval(() => process.send?.({ open }), 1_000)
process.on('disconnect', () => process.exit())
process.on('message', () => server.closeIdleConnections())

async function say(
  response: ServerResponse,
  { word, served, stream, fault, leaves }: Plan,
): Promise<void> {
  const wire = wireOf(served)
  const script: Script = {
    text: textOf(word, words),
    ending: 'stop',
    ...(fault === 'error event' && { breaks: 'error' }),
  }
  const head = (type: string, status = 200) => response.writeHead(status, { 'content-type': type })
  if (fault === 'HTML page') return void head('text/html').end('<!doctype html><p>Welcome</p>')
  if (fault === 'error status' || (fault === 'error event' && !stream))
    return void head('application/json', 503).end(
      JSON.stringify(wire.failure({ status: 503, type: 'server_error', message: 'Down for now' })),
    )
  if (leaves === 'before the first byte') await wait(60_000)
  if (response.destroyed) return
  head(stream ? 'text/event-stream' : 'application/json')
  const all = stream
    ? wire.stream(script)
    : [JSON.stringify(wire.response(script))].flatMap(text => [text.slice(0, 40), text.slice(40)])
  const isCut = fault && fault !== 'error event'
  // Those that leave together in the end are all in their middle then, and no load of their own.
  const pace = isQuietLeaver(word) ? Math.max(pauseMs, 200) : pauseMs
  const halfwayMs = leaves ? 60_000 : pauseMs * words
  for (const chunk of isCut ? all.slice(0, all.length / 2) : all) {
    if (response.destroyed) return
    response.write(chunk)
    await wait(stream ? pace : halfwayMs)
  }
  if (fault === 'silence') await wait(60_000)
  if (fault === 'broken connection') response.destroy()
  else response.end()
}
