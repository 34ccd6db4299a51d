import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../support/free-port.ts'

/**
 * Packs wireglot, installs it with Bun, Deno and workerd into a temporary folder, and calls a
 * gateway in each of them: `npm run test:runtimes -- [runtime…]`. The results are in
 * `docs/guides/runtimes.md`.
 */
const root = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)
const text = 'Grüße 🙂'
const path = '/v1/chat/completions'

type Runtime = { bin: string; server: string; args: string[]; bundled?: boolean }

const fetchServer = (serve: string) => `import { fetchGateway } from 'wireglot/fetch'
import { config, port } from './config.mjs'
const gateway = fetchGateway(config)
${serve}`
const nodeServer = `import { createServer } from 'node:http'
import { gateway } from 'wireglot/connect'
import { config, port } from './config.mjs'
createServer(gateway(config)).listen(port, '127.0.0.1')`

const runtimes: Record<string, Runtime> = {
  'bun-fetch': {
    bin: 'bun',
    server: fetchServer('Bun.serve({ port, idleTimeout: 0, fetch: request => gateway(request) })'),
    args: ['server.mjs'],
  },
  'bun-connect': { bin: 'bun', server: nodeServer, args: ['server.mjs'] },
  'deno-fetch': {
    bin: 'deno',
    server: fetchServer(`Deno.serve({ port, hostname: '127.0.0.1' }, request => gateway(request))`),
    args: ['run', '-A', 'server.mjs'],
  },
  'deno-connect': { bin: 'deno', server: nodeServer, args: ['run', '-A', 'server.mjs'] },
  workerd: {
    bin: 'workerd',
    server: fetchServer('export default { fetch: request => gateway(request) }'),
    args: ['serve', 'workerd.capnp'],
    bundled: true,
  },
}

/** A date from before workerd had Node's modules for everybody. */
const workerd = (port: number) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main), (name = "internet", network = (allow = ["local", "private", "public"])) ],
  sockets = [ (name = "http", address = "127.0.0.1:${port}", http = (), service = "main") ]
);
const main :Workerd.Worker = (modules = [ (name = "server.js", esModule = embed "bundle.js") ], compatibilityDate = "2026-04-01");`

/** Supports messages, complete and streamed. An endless request streams until the caller leaves. */
let brokenOff = 0
let received = 0
const upstream = createServer(async (request, response) => {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) body += chunk
  received = body.length
  response.on('close', () => void (response.writableFinished || brokenOff++))
  if (body.includes('refused')) {
    response.writeHead(400, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({
        type: 'error',
        error: { type: 'invalid_request_error', message: 'not like this' },
      }),
    )
    return
  }
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  }
  if (!JSON.parse(body).stream) {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' }),
    )
    return
  }
  const send = (event: { type: string; [field: string]: unknown }) =>
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
  const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send({ type: 'message_start', message: { ...message, content: [], stop_reason: null } })
  send({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } })
  send(delta)
  while (body.includes('endless') && !response.destroyed) {
    await pause(20)
    send(delta)
  }
  send({ type: 'content_block_stop', index: 0 })
  send({
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 2 },
  })
  send({ type: 'message_stop' })
  response.end()
})
upstream.listen(0, '127.0.0.1')
await once(upstream, 'listening')

const folder = await mkdtemp(join(tmpdir(), 'wireglot-runtimes-'))
const wanted = process.argv.slice(2)
const names = Object.keys(runtimes).filter(name => wanted.length === 0 || wanted.includes(name))
let failed = 0
try {
  console.log(`packing, and installing into ${folder}`)
  await run('npm', ['pack', '--silent', '--pack-destination', folder], {
    cwd: root,
    maxBuffer: 1e8,
  })
  await writeFile(join(folder, 'package.json'), '{}')
  const packages = [...new Set(names.map(name => runtimes[name]?.bin ?? name)), 'esbuild']
  await run(
    '/bin/sh',
    ['-c', `npm install --no-audit --no-fund ./wireglot-*.tgz ${packages.join(' ')}`],
    { cwd: folder, maxBuffer: 1e8 },
  )
  for (const name of names) await tried(name, runtimes[name] as Runtime)
} finally {
  upstream.closeAllConnections()
  upstream.close()
  await rm(folder, { recursive: true, force: true })
}
process.exitCode = failed > 0 ? 1 : 0

async function tried(name: string, { bin, server, args, bundled }: Runtime): Promise<void> {
  const port = await freePort()
  const config = {
    auth: 'none',
    channels: [
      {
        name: 'up',
        protocols: ['messages'],
        baseUrl: `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`,
      },
    ],
    models: [{ id: 'm', channels: [{ name: 'up' }] }],
  }
  await writeFile(
    join(folder, 'config.mjs'),
    `export const port = ${port}\nexport const config = ${JSON.stringify(config)}`,
  )
  await writeFile(join(folder, 'server.mjs'), server)
  await writeFile(join(folder, 'workerd.capnp'), workerd(port))
  const inFolder = (program: string) => join(folder, 'node_modules/.bin', program)
  if (bundled)
    await run(
      inFolder('esbuild'),
      ['server.mjs', '--bundle', '--format=esm', '--platform=browser', '--outfile=bundle.js'],
      { cwd: folder },
    )
  const { stdout } = await run(inFolder(bin), ['--version'])
  const child = spawn(inFolder(bin), args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    for (
      let left = 100;
      left > 0 && !(await fetch(`http://127.0.0.1:${port}/`).catch(() => undefined));
      left--
    )
      await pause(100)
    for (const [what, ask] of Object.entries(asks(`http://127.0.0.1:${port}${path}`))) {
      const fault = await ask().then(
        message => (message === true ? undefined : String(message)),
        error => String(error),
      )
      if (fault !== undefined) failed++
      console.log(
        `${name.padEnd(14)}${(stdout.split(/ \(|\n/)[0] ?? '').padEnd(20)}${what.padEnd(40)}${fault === undefined ? 'holds' : `FAILED: ${fault.slice(0, 300)}`}`,
      )
    }
  } finally {
    child.kill()
    await once(child, 'close')
  }
}

/** Each returns true, or what was wrong. */
function asks(url: string): Record<string, () => Promise<unknown>> {
  const ask = (content: string, stream = false, signal?: AbortSignal) => {
    const body = JSON.stringify({ model: 'm', stream, messages: [{ role: 'user', content }] })
    return fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
      ...(signal && { signal }),
    })
  }
  const holds = async (response: Response, ...words: string[]) => {
    const message = await response.text()
    return words.every(word => message.includes(word)) || message
  }
  return {
    'a response': async () => holds(await ask(text), text),
    'a stream': async () => holds(await ask(text, true), text, '[DONE]'),
    'a refusal': async () => holds(await ask('refused'), 'not like this'),
    'a request of 1 MB': async () =>
      (await holds(await ask('ü'.repeat(1e6)), text)) && (received > 1e6 || received),
    '50 at once': async () => {
      const all = await Promise.all(
        Array.from({ length: 50 }, async (_, at) => holds(await ask(text, at % 2 === 0), text)),
      )
      return all.find(message => message !== true) ?? true
    },
    'a client that leaves in mid-stream': async () => {
      const before = brokenOff
      const leaving = new AbortController()
      const response = await ask('endless', true, leaving.signal)
      await response.body?.getReader().read()
      leaving.abort()
      for (let left = 100; left > 0 && brokenOff === before; left--) await pause(20)
      return brokenOff > before || 'the upstream continues'
    },
  }
}

function pause(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
