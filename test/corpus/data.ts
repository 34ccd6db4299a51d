import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'

/** Where captured traffic lies; the suites say so when they skip for want of it. */
export const shared = process.env['WIREGLOT_SHARED']
export const skipReason =
  'needs captured traffic: set WIREGLOT_SHARED to the folder that holds corpus/ and recordings/'

export type Kind = 'requests' | 'responses' | 'streams' | 'errors'

type Entry = {
  file: string
  protocol?: string
  kind: Kind
  dialect?: string
  authenticity: string
  model?: string | null
  path?: string
  operation?: string
}

/** The corpus has names of its own. */
const corpusNames: Record<string, string> = { 'chat-completions': 'chat' }
const recordingNames: Record<string, string> = {
  'chat-completions': 'chat',
  'generate-content': 'gemini',
}

/**
 * Captured files of one protocol and kind; schema-fuzzed ones, which are not valid on purpose, are
 * left out.
 */
export function corpusFiles(
  protocol: ProtocolName,
  kind: Kind,
): { file: string; text: string; path?: string }[] {
  if (!shared) return []
  const folder = corpusOf(shared, protocol)
  const { files } = JSON.parse(readFileSync(join(folder, 'index.json'), 'utf8')) as {
    files: Entry[]
  }
  const name = corpusNames[protocol] ?? protocol
  return files
    .filter(
      entry =>
        (entry.protocol ?? protocol) === name &&
        entry.kind === kind &&
        entry.dialect !== 'fuzz' &&
        !(kind === 'responses' && entry.operation === 'count-tokens'),
    )
    .map(({ file, model, path }) => ({
      file,
      text: textOf(protocol, kind, readFileSync(join(folder, file), 'utf8')),
      ...(path === undefined ? pathOf(protocol, model ?? 'some-model') : { path }),
    }))
}

/** A newer protocol has a folder of its own. */
export function corpusOf(root: string, protocol: ProtocolName): string {
  const own = join(root, `corpus-${protocol}`)
  return existsSync(own) ? own : join(root, 'corpus')
}

/** A stream as text; binary frames are kept as base64. */
function textOf(protocol: ProtocolName, kind: Kind, text: string): string {
  const { framing } = protocols[protocol]
  if (kind !== 'streams' || !framing) return text
  const { frames } = JSON.parse(text) as { frames: string }
  return String(
    new TextDecoder().decode(Buffer.from(framing.decode()(Buffer.from(frames, 'base64')))),
  )
}

/** Where a request was sent to, for it may say what the body does not. */
function pathOf(protocol: ProtocolName, model: string): { path?: string } {
  const path = protocols[protocol].address.target({
    operation: 'generate',
    model: model.replace(/^.*models\//, ''),
    stream: false,
  })
  return path === undefined ? {} : { path }
}

/** A call that only counts. */
const countsTokens = /count_tokens|countTokens|input_tokens/

/** `body`: of the request; absent where there was none. */
export type Exchange = {
  request: { method: string; path: string; headers: Record<string, string>; body: unknown }
  response: { status: number; headers: Record<string, string>; body?: unknown; events?: Frame[] }
}

/** One run of a client, in order. */
export type Session = { name: string; protocol: ProtocolName; exchanges: Exchange[] }

/**
 * What real clients did in the protocols this library speaks, with what an earlier exchange shares
 * put back into the requests.
 */
export function recordedSessions(): Session[] {
  if (!shared) return []
  const root = join(shared, 'recordings')
  const found: Session[] = []
  for (const client of readdirSync(root, { withFileTypes: true })) {
    if (!client.isDirectory()) continue
    const recordings = readdirSync(join(root, client.name))
      .filter(file => file.endsWith('.json'))
      .map(file => ({
        ...(JSON.parse(readFileSync(join(root, client.name, file), 'utf8')) as {
          protocol: string
          exchanges: Exchange[]
        }),
        what: file.replace(/\.json$/, ''),
      }))
    const bodies = new Map(
      recordings.flatMap(({ what, exchanges }) =>
        exchanges.map(({ request }, i) => [`${what}#${i + 1}`, request] as const),
      ),
    )
    for (const { what, protocol: spoken, exchanges } of recordings) {
      const protocol = protocolNames.find(name => (recordingNames[name] ?? name) === spoken)
      if (!protocol) continue
      const whole = exchanges.map(({ request, response }) => ({
        request: { ...request, body: restored(request.body, 'body', bodies) },
        response,
      }))
      found.push({ name: `${client.name}/${what}`, protocol, exchanges: whole })
    }
  }
  return found
}

/** Every request for a response among them. */
export function recordedRequests(): {
  name: string
  protocol: ProtocolName
  body: Record<string, unknown>
  path: string
}[] {
  return recordedSessions().flatMap(({ name, protocol, exchanges }) =>
    exchanges.flatMap(({ request: { method, path, body } }, i) =>
      method === 'POST' && isBody(body) && !countsTokens.test(path)
        ? [{ name: `${name}#${i + 1}`, protocol, body, path }]
        : [],
    ),
  )
}

const isBody = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * Restores values written as `{"$same_as": "NN-what#exchange"}`: the value under the same key
 * there. A history grows at its end, so its indexes stay valid. A list of tools does not, so a
 * reference to a tool of another list is left out.
 */
function restored(value: unknown, path: string, bodies: Map<string, Exchange['request']>): unknown {
  if (Array.isArray(value)) {
    const own = path.endsWith('.tools')
      ? value.filter(one => !(isBody(one) && '$same_as' in one))
      : value
    return own.map((one, i) => restored(one, `${path}.${i}`, bodies))
  }
  if (!isBody(value)) return value
  const same = value['$same_as']
  if (typeof same !== 'string')
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, restored(one, `${path}.${key}`, bodies)]),
    )
  let there: unknown = bodies.get(same)
  let at = ''
  for (const key of path.split('.')) {
    if (typeof there !== 'object' || there === null)
      throw new Error(`${path}: nothing there in ${same}`)
    at = at === '' ? key : `${at}.${key}`
    there = (there as Record<string, unknown>)[key]
    // What lies on the way may itself stand for something of an earlier exchange.
    if (isBody(there) && '$same_as' in there) there = restored(there, at, bodies)
  }
  return restored(there, path, bodies)
}

/**
 * The protocols that recorded clients speak; there may be none yet of a newer one. All, where there
 * are no recordings and their tests skip.
 */
export const recordedProtocols = (): readonly ProtocolName[] => {
  if (!shared) return protocolNames
  const spoken = new Set<string>(recordedSessions().map(({ protocol }) => protocol))
  return protocolNames.filter(name => spoken.has(name))
}

/**
 * Every stream that real clients got, as text. Values that stand for earlier ones stay as they are.
 */
export function recordedStreams(protocol: ProtocolName): { file: string; text: string }[] {
  if (!shared) return []
  const root = join(shared, 'recordings')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .flatMap(file => {
      const { protocol: spoken, exchanges } = JSON.parse(
        readFileSync(join(root, file), 'utf8'),
      ) as {
        protocol: string
        exchanges: { response: { events?: Frame[] } }[]
      }
      if (spoken !== (recordingNames[protocol] ?? protocol)) return []
      return exchanges.flatMap(({ response: { events } }, i) =>
        events ? [{ file: `${file}#${i + 1}`, text: events.map(written).join('') }] : [],
      )
    })
}

type Frame = { event?: string; data: unknown }

const written = ({ event, data }: Frame) =>
  `${event ? `event: ${event}\n` : ''}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

type Twins = { scenario: string; protocol: string; responses: string[]; streams: string[] }

/** Files of the same exchange, once complete and once streamed: every such pair. */
export function twins(
  protocol: ProtocolName,
): { scenario: string; whole: string; streamed: string }[] {
  if (!shared) return []
  const index = JSON.parse(
    readFileSync(join(corpusOf(shared, protocol), 'index.json'), 'utf8'),
  ) as { twins?: Twins[] }
  const name = corpusNames[protocol] ?? protocol
  return (index.twins ?? [])
    .filter(one => one.protocol === name)
    .flatMap(({ scenario, responses, streams }) =>
      responses.flatMap(whole => streams.map(streamed => ({ scenario, whole, streamed }))),
    )
}

/** Every complete response that real clients got. References to the request stay as they are. */
export function recordedResponses(
  protocol: ProtocolName,
): { name: string; body: unknown; status: number }[] {
  if (!shared) return []
  const root = join(shared, 'recordings')
  return readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.json'))
    .flatMap(file => {
      const { protocol: spoken, exchanges } = JSON.parse(
        readFileSync(join(root, file), 'utf8'),
      ) as {
        protocol: string
        exchanges: {
          request: { method: string; path: string }
          response: { status: number; body?: unknown }
        }[]
      }
      if (spoken !== (recordingNames[protocol] ?? protocol)) return []
      return exchanges.flatMap(({ request, response: { status, body } }, i) =>
        request.method === 'POST' && isBody(body) && !countsTokens.test(request.path)
          ? [{ name: `${file}#${i + 1}`, body, status }]
          : [],
      )
    })
}
