import type { CanonicalRequest } from '../canonical/request.ts'
import { keyNames } from '../gateway/admission/credential.ts'
import { checkOptions } from '../gateway/check-options.ts'
import { type BodyCall, type GatewayConfig, reject, type Transport } from '../gateway/gateway.ts'
import { type FetchGateway, fetchGateway } from '../hosts/fetch.ts'
import { protocols } from '../protocols/index.ts'
import { commonEntries, type Essence, essenceOf } from './essence.ts'
import type { Cassette } from './format.ts'
import { jsonOfBody, readCassettes } from './read.ts'
import { createRedactor } from './redact.ts'
import { chunksOf } from './replay.ts'

/** How `cassetteFetch` answers. */
export type CassetteFetchOptions = {
  /** How fast streams come: 1 as they were recorded, 10 ten times as fast. Absent: at once. */
  speed?: number
}

/** A `fetch` that answers from cassettes. */
export type CassetteFetch = typeof fetch & {
  /** The ids of the cassettes that have answered nothing yet, in their order. */
  unused(): Promise<string[]>
}

/**
 * A `fetch` for SDKs and agents in tests, which answers from cassettes without a network, in
 * whatever protocol the client speaks. A request is answered by the cassette in which a client said
 * the same: instructions, conversation, the names of the tools, and the kind of the output. Model,
 * settings, address and headers do not matter. Of several, each answers once in their order, and
 * then the last one. A request that none answers gets an error with status 404, which names the
 * nearest cassette and the first difference.
 *
 * @param files cassettes, files of them, or folders
 * @example
 * import { cassetteFetch } from 'wireglot/testing'
 *
 * const fetch = cassetteFetch([])
 * const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hello' }] })
 * const headers = { 'content-type': 'application/json' }
 * const url = 'https://api.example.com/v1/chat/completions'
 * console.log((await fetch(url, { method: 'POST', headers, body })).status) // 404
 */
export function cassetteFetch(
  files: string | readonly (string | Cassette)[],
  options: CassetteFetchOptions = {},
): CassetteFetch {
  checkOptions(options, ['speed'])
  let player: Promise<Player> | undefined
  const opened = () => {
    player ??= tapesOf(typeof files === 'string' ? [files] : files).then(tapes =>
      createPlayer(tapes, options.speed),
    )
    return player
  }
  const answer = async (input: Request | URL | string, init?: RequestInit): Promise<Response> => {
    const { gateway } = await opened()
    return gateway(new Request(input, init))
  }
  return Object.assign(answer as typeof fetch, {
    unused: async () => {
      const { tapes } = await opened()
      return tapes.filter(({ plays }) => plays === 0).map(({ cassette }) => cassette.id)
    },
  })
}

type Tape = { cassette: Cassette; essence: Essence; plays: number }

type Player = { gateway: FetchGateway; tapes: readonly Tape[] }

/** @throws Error when a file is no cassette, or none has a response of a model */
async function tapesOf(files: readonly (string | Cassette)[]): Promise<Tape[]> {
  const tapes: Tape[] = []
  for (const one of files)
    for (const cassette of typeof one === 'string' ? await readCassettes([one]) : [one]) {
      const { operation, request } = cassette
      if (operation !== 'generate') continue
      const { value } = protocols[request.protocol].decodeRequest(jsonOfBody(request.body))
      tapes.push({ cassette, essence: essenceOf(value), plays: 0 })
    }
  return tapes
}

/**
 * A gateway with a channel for each cassette, whose upstream answers as the client was answered
 * then: it reads all protocols, and translates between them.
 */
function createPlayer(tapes: readonly Tape[], speed: number | undefined): Player {
  const chosen = new WeakMap<Request, string>()
  const gateway = fetchGateway(configOf(tapes), {
    logger: false,
    onRequest(call) {
      const { operation } = protocols[call.protocol].address.match(call.request.path) ?? {}
      if (operation === 'count-tokens')
        throw reject(404, 'not_found', 'cassettes do not count tokens')
      const essence = essenceIn(call)
      if (essence) chosen.set(call.request.raw, modelOf(tapeFor(tapes, essence)))
    },
    route: ({ request }) => chosen.get(request.raw),
    transport: playing(tapes, speed),
  })
  return { gateway, tapes }
}

const modelOf = (index: number) => `cassette-${index}`

function configOf(tapes: readonly Tape[]): GatewayConfig {
  const base = { auth: 'none', defaults: { retries: 0, keepAliveMs: 0 } } as const
  if (tapes.length === 0) return { ...base, channels: [{ name: 'none', embedded: 'demo' }] }
  return {
    ...base,
    channels: tapes.map(({ cassette }, i) => ({
      name: modelOf(i),
      protocols: [cassette.request.protocol],
      baseUrl: `https://cassette.invalid/${i}`,
      learnUnsupported: false,
    })),
    models: tapes.map(({ cassette: { record, id } }, i) => ({
      id: modelOf(i),
      bridge: false,
      channels: [{ name: modelOf(i), model: String(record?.['requestedModel'] ?? id) }],
    })),
  }
}

const redactor = createRedactor([], { media: true, keyNames })

/** Undefined: the body is invalid, which the gateway reports. */
function essenceIn({ protocol, body }: BodyCall<CanonicalRequest>): Essence | undefined {
  try {
    // What is a secret was replaced in the cassette.
    const shown: unknown = JSON.parse(redactor.text(JSON.stringify(body)))
    return essenceOf(protocols[protocol].decodeRequest(shown).value)
  } catch {
    return undefined
  }
}

/** The index of the tape that answers. @throws GatewayError 404 */
function tapeFor(tapes: readonly Tape[], essence: Essence): number {
  const matching = tapes.flatMap((tape, i) =>
    tape.essence.length === essence.length &&
    commonEntries(tape.essence, essence) === essence.length
      ? [{ tape, i }]
      : [],
  )
  const found = matching.find(({ tape }) => tape.plays === 0) ?? matching.at(-1)
  if (!found) throw reject(404, 'not_found', faultOf(tapes, essence))
  found.tape.plays++
  return found.i
}

function faultOf(tapes: readonly Tape[], essence: Essence): string {
  const known = tapes.map(tape => ({ ...tape, common: commonEntries(tape.essence, essence) }))
  const nearest = known.reduce<(typeof known)[number] | undefined>(
    (best, one) => (best && best.common >= one.common ? best : one),
    undefined,
  )
  if (!nearest) return 'no cassette answers this request: there are none'
  const { cassette, common } = nearest
  const [recorded, asked] = [nearest.essence[common], essence[common]]
  const [path] = asked ?? recorded ?? []
  const offset = recorded?.[0] === asked?.[0] ? commonStart(recorded?.[1], asked?.[1]) : 0
  const show = (entry: Essence[number] | undefined) => {
    if (!entry) return 'nothing more'
    const place = entry[0] === path ? '' : `${entry[0]}: `
    return place + JSON.stringify(entry[1].slice(Math.max(0, offset - 20), offset + 60))
  }
  return `no cassette answers this request. The nearest is ${cassette.id}, which differs at ${path}, letter ${offset}: recorded ${show(recorded)}, asked ${show(asked)}`
}

function commonStart(one = '', other = ''): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}

/** Each channel answers as the client of its cassette was answered. */
function playing(tapes: readonly Tape[], speed: number | undefined): Transport {
  return {
    async send({ url, signal }) {
      const response = tapes[Number(new URL(url).pathname.split('/')[1])]?.cassette.response
      if (!response) throw new Error('the client got no response')
      const { status, headers, body, atMs } = response
      const began = performance.now()
      const wait = async (frameMs: number) => {
        const leftMs = (frameMs - atMs) / (speed ?? 1) - (performance.now() - began)
        if (leftMs > 0 && !signal.aborted) await new Promise(resolve => setTimeout(resolve, leftMs))
      }
      return { status, headers, body: chunksOf(body, speed === undefined ? undefined : wait) }
    },
  }
}
