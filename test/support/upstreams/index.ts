import { readdirSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { serverOptions } from '../server-options.ts'

/** What an upstream is going to send, independent of a client's dialect. */
export type Script = {
  text?: string
  reasoning?: string
  /** `freeform`: of a tool that takes text, where the wire has such. */
  calls?: { id: string; name: string; args: string; freeform?: boolean }[]
  ending: 'stop' | 'length' | 'refusal'
  /** Which response this is, for ids that must not repeat. */
  turn?: number
  /**
   * After half of the response: an error in the stream, or a closed connection. Only in a stream.
   */
  breaks?: 'error' | 'cut'
}

/** A tool as the upstream received it. `field`: the first of the function's parameters. */
export type Reported = { name: string; freeform: boolean; field: string }

export type Failure = { status: number; type: string; message: string; retryAfter?: string }

/**
 * How one protocol writes a script; written by hand, so that the library does not validate itself.
 */
export type Wire = {
  /**
   * Its path; where the path has more: undefined for no such path, and whether a stream is
   * requested.
   */
  path: string | ((url: string) => { stream: boolean } | undefined)
  /** `requested`: the body of the request, which some responses repeat. */
  response(script: Script, received?: unknown): unknown
  /** Frames of the stream. */
  stream(script: Script, requested?: unknown): string[]
  failure(failure: Failure): unknown
  /** Headers of a failure, where part of it is in them. */
  failureHeaders?(failure: Failure): Record<string, string>
  /** The tools of a request. */
  toolsOf(body: unknown): Reported[]
  /** How its responses sign their reasoning; absent: not at all. */
  signature?: string
  /** Keys of a response whose values a client sends back without interpreting them. */
  echoed: readonly string[]
}

const found = readdirSync(new URL('.', import.meta.url)).filter(
  file => file.endsWith('.ts') && file !== 'index.ts',
)
const wires = new Map(
  await Promise.all(
    found.map(
      async file =>
        [
          file.replace(/\.ts$/, ''),
          ((await import(new URL(file, import.meta.url).href)) as { wire: Wire }).wire,
        ] as const,
    ),
  ),
)

/** How one protocol writes what a script says, and what it asks for. */
export function wireOf(protocol: string): Wire {
  const wire = wires.get(protocol)
  if (!wire) throw new Error(`write test/support/upstreams/${protocol}.ts`)
  return wire
}

const two = [
  { id: 'call_1', name: 'lookup', args: '{"q":"one"}' },
  { id: 'call_2', name: 'lookup', args: '{"q":"two"}' },
]

/**
 * The next response of a conversation: decided by the scenario that its text names and the results
 * it holds.
 */
function byScenario(received: unknown): Script | Failure {
  const body = JSON.stringify(received)
  const scenario = /scenario:(\w+)/.exec(body)?.[1]
  const results = [...new Set(body.match(/RESULT-\w+/g) ?? [])]
  switch (scenario) {
    case 'text':
      return { text: 'Hello, wörld 🎉', reasoning: 'Thinking it over.', ending: 'stop' }
    case 'tool':
      if (results.length === 0) return { text: 'Looking.', calls: two.slice(0, 1), ending: 'stop' }
      if (results.length === 1) return { calls: two.slice(1), ending: 'stop' }
      return { text: `Found ${results.join(' and ')}`, ending: 'stop' }
    case 'parallel':
      return results.length < 2
        ? { calls: two, ending: 'stop' }
        : { text: `Found ${results.join(' and ')}`, ending: 'stop' }
    case 'noargs':
      return results.length < 1
        ? { calls: [{ id: 'call_0', name: 'lookup', args: '' }], ending: 'stop' }
        : { text: 'Done', ending: 'stop' }
    case 'json':
      return { text: '{"a":"b"}', ending: 'stop' }
    case 'long':
      return { text: 'As far as', ending: 'length' }
    case 'refuse':
      return { text: 'I cannot help with that.', ending: 'refusal' }
    case 'limited':
      return { status: 429, type: 'rate_limit_error', message: 'Slow down', retryAfter: '3' }
    case 'bad':
      return { status: 400, type: 'invalid_request_error', message: 'No such parameter' }
    case 'down':
      return { status: 503, type: 'server_error', message: 'Down for now' }
    case 'error':
    case 'cut':
      return { text: 'Half of a response', ending: 'stop', breaks: scenario }
    default:
      return { status: 400, type: 'invalid_request_error', message: 'no scenario' }
  }
}

export type Upstream = { url: string; requests: unknown[]; close(): Promise<void> }

const matched = (url: string | undefined, path: string) =>
  url?.split('?')[0] === path ? {} : undefined

/**
 * A server of this protocol that refuses every illegal request, and responds by script. `play`:
 * what to send for a request's body.
 */
export async function startUpstream(
  protocol: string,
  play: (body: unknown) => Script | Failure = byScenario,
): Promise<Upstream> {
  const { path, response, stream, failure, failureHeaders } = wireOf(protocol)
  const strict = strictOf(protocol)
  const requests: unknown[] = []
  const serve = async (req: IncomingMessage, res: ServerResponse) => {
    const chunks: Buffer[] = []
    for await (const chunk of req) chunks.push(chunk as Buffer)
    const fail = (what: Failure) =>
      res
        .writeHead(what.status, {
          'content-type': 'application/json',
          ...failureHeaders?.(what),
          ...(what.retryAfter && { 'retry-after': what.retryAfter }),
        })
        .end(JSON.stringify(failure(what)))
    const received = typeof path === 'string' ? matched(req.url, path) : path(req.url ?? '')
    const served: { stream?: boolean } | undefined = req.method === 'POST' ? received : undefined
    if (!served) return fail({ status: 404, type: 'not_found_error', message: `no ${req.url}` })
    const body = JSON.parse(Buffer.concat(chunks).toString()) as { stream?: boolean }
    requests.push(body)
    const faults = strict.checkRequest(body)
    if (faults.length > 0)
      return fail({
        status: 400,
        type: 'invalid_request_error',
        message: `not legal: ${faults.join('; ')}`,
      })
    const script = { ...play(body), turn: requests.length }
    if ('status' in script) return fail(script)
    if (!(served.stream ?? body.stream))
      return res
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(response(script, body)))
    const { framing } = protocols[protocol as ProtocolName]
    res.writeHead(200, { 'content-type': framing?.contentType ?? 'text/event-stream' })
    const text = stream(script, body).join('')
    const bytes = Buffer.from(framing ? framing.encode()(text) : text)
    // Cut in odd places, as networks do.
    for (let at = 0; at < bytes.length; at += 97) res.write(bytes.subarray(at, at + 97))
    if (script.breaks === 'cut') return setTimeout(() => res.destroy(), 20)
    return res.end()
  }
  // A fault in a script becomes a response, since a test that waits for one would wait for ever.
  const server = createServer(serverOptions, (req, res) =>
    serve(req, res).catch(error =>
      res.headersSent
        ? res.destroy()
        : res.writeHead(500, { 'content-type': 'text/plain' }).end(`The script is wrong: ${error}`),
    ),
  )
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: () =>
      new Promise(resolve => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}
