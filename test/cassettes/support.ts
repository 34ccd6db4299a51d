import { mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { requestOf, responseOf, streamOf } from '../../bench/fixtures.ts'
import {
  type Cassette,
  createRecorder,
  type RecorderOptions,
  readCassettes,
} from '../../src/cassettes/index.ts'
import type { GatewayConfig, Hooks, Transport } from '../../src/gateway/gateway.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { after } from '../gateway/support.ts'

export const model = 'bench-model'

/** A folder that is removed after the test. */
export function freshFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wireglot-cassettes-'))
  after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

export const filesOf = (folder: string): string[] =>
  readdirSync(folder)
    .sort()
    .map(name => join(folder, name))

export const textsOf = (folder: string): string =>
  filesOf(folder)
    .map(file => readFileSync(file, 'utf8'))
    .join('\n')

/** `cut`: how many frames of a stream come before the connection breaks. */
export type Answer = { stream: boolean; cut?: number; size?: 'agent' | 'small' }

/** An upstream that has one answer in the words of its protocol. */
export function answering(name: ProtocolName, { stream, cut, size = 'small' }: Answer): Transport {
  const protocol = protocols[name]
  const { frames } = streamOf(protocol, size === 'small' ? 'text' : 'agent', 20)
  async function* streamed() {
    for (const [i, frame] of frames.entries()) {
      if (i === cut) throw new Error('the connection broke')
      yield frame
    }
  }
  async function* whole() {
    yield JSON.stringify(responseOf(protocol, size))
  }
  return {
    async send() {
      return {
        status: 200,
        headers: { 'content-type': stream ? 'text/event-stream' : 'application/json' },
        body: stream ? streamed() : whole(),
      }
    },
  }
}

/** The request of a client: its address without host, and its body. */
export function asked(name: ProtocolName, stream: boolean, size: 'agent' | 'small' = 'small') {
  const protocol = protocols[name]
  const path = protocol.address.target({ operation: 'generate', model, stream }) ?? ''
  const wire = requestOf(protocol, size) as Record<string, unknown>
  const body = 'stream' in wire ? { ...wire, stream } : wire
  return { path, body }
}

/** All that a client reads until the end, or until the connection breaks. */
export async function bytesOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of response.body ?? []) chunks.push(chunk)
  } catch {
    // What came before counts.
  }
  return Buffer.concat(chunks)
}

export const configFor = (to: ProtocolName, more: Partial<GatewayConfig> = {}): GatewayConfig => ({
  auth: 'none',
  channels: [
    { name: 'up', protocols: [to], baseUrl: 'https://upstream.test', apiKey: 'k-of-up-0123456789' },
  ],
  defaults: { retries: 0 },
  ...more,
})

/** Lets a gateway record what these requests do. */
export async function recorded(
  config: GatewayConfig,
  requests: readonly { path: string; init: RequestInit }[],
  {
    folder = freshFolder(),
    options = {},
    hooks,
  }: {
    folder?: string
    options?: RecorderOptions
    hooks: Hooks<Request>
  },
): Promise<{ folder: string; got: { status: number; bytes: Buffer }[]; cassettes: Cassette[] }> {
  const recorder = createRecorder(folder, options)
  const gateway = fetchGateway(config, { logger: false, ...hooks, ...recorder.hooks })
  const got = []
  for (const { path, init } of requests) {
    const response = await gateway(`http://gateway.test${path}`, init)
    got.push({ status: response.status, bytes: await bytesOf(response) })
  }
  await gateway.close(100)
  await recorder.flush()
  const cassettes = readdirSync(folder).length > 0 ? await readCassettes([folder]) : []
  return { folder, got, cassettes }
}

export const postOf = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

/** One exchange of a client of `from` with an upstream of `to`. */
export async function exchangeOf(
  from: ProtocolName,
  to: ProtocolName,
  answer: Answer,
): Promise<{ cassette: Cassette; bytes: Buffer; folder: string }> {
  const { path, body } = asked(from, answer.stream, answer.size)
  const { cassettes, got, folder } = await recorded(configFor(to), [{ path, init: postOf(body) }], {
    hooks: { transport: answering(to, answer) },
  })
  const [cassette] = cassettes
  if (!cassette) throw new Error('nothing was recorded')
  return { cassette, bytes: got[0]?.bytes ?? Buffer.alloc(0), folder }
}
