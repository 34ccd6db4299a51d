import { fetchGateway } from '../../../src/hosts/fetch.ts'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import type { Transport } from '../../../src/transports/transport.ts'
import { type Vendor, type VendorName, vendors } from '../../../src/vendors/index.ts'
import type { CloudApi } from '../../../src/vendors/vendor.ts'
import { counted, type Endpoint, type Json, responseText } from '../vendors/base/turn.ts'
import { simulators } from '../vendors/index.ts'
import { type Agent, hold, next } from './agents.ts'

/** What the user fills in where a base URL has open parts. */
const filled = (url: string) =>
  url.replaceAll(
    /\{(resource|region|project)\}/g,
    (_, part: string) =>
      ({
        resource: 'acme',
        region: url.includes('googleapis') ? 'us-central1' : 'us-east-1',
        project: 'p',
      })[part] ?? part,
  )

/**
 * One way to reach a vendor: as the gateway chooses, or with one of its protocols or APIs.
 * `generic`: as if nothing were known of it.
 */
export type Way = {
  vendor: VendorName
  model: string
  only?: ProtocolName
  api?: CloudApi
  generic?: boolean
}

/** Every vendor with each of its models, as the gateway chooses. */
export const ways: Way[] = (Object.keys(simulators) as VendorName[]).flatMap(vendor =>
  simulators[vendor].models.map(model => ({ vendor, model })),
)

/** The same with each protocol of the vendor alone, for those that serve several. */
export const singleWays: Way[] = ways.flatMap(way => {
  const { endpoints } = vendors[way.vendor] as Vendor
  return endpoints.length > 1 ? endpoints.map(({ protocol }) => ({ ...way, only: protocol })) : []
})

function protocolServing(vendor: Way['vendor'], model: string): ProtocolName | undefined {
  if (vendor === 'bedrock' && model.includes('gpt')) return 'responses'
  return vendor === 'vertex' && model.includes('claude') ? 'messages' : undefined
}

function channelOf({ vendor, model, only, api, generic = false }: Way): object {
  const { endpoints } = vendors[vendor] as Vendor
  // A user gives the base URL that serves the model.
  const right = only ?? protocolServing(vendor, model)
  const chosen = endpoints.find(({ protocol }) => protocol === right) ?? endpoints[0]
  return {
    vendor: generic ? 'generic' : vendor,
    ...(generic && { name: vendor, baseUrl: chosen.baseUrl }),
    apiKey: 'key-0123456789',
    learnUnsupported: false,
    ...(only && { protocols: [only] }),
    ...(api && { api }),
    // The profile decides between several base URLs.
    ...(vendor === 'bedrock' && !generic
      ? { region: 'us-east-1' }
      : chosen.baseUrl.includes('{') && { baseUrl: filled(chosen.baseUrl) }),
  }
}

export type Seen = { endpoint: Endpoint; body: Json; refusal: string | undefined }

type Frames = ReturnType<Endpoint['stream']>

/**
 * A transport that ends at the simulators. `change`: what goes wrong with the frames of their
 * streams.
 */
export function simulated(
  endpoints: readonly Endpoint[],
  seen: Seen[],
  change: (frames: Frames) => Frames = frames => frames,
): Transport {
  return {
    async send({ url, headers, body }) {
      const address = new URL(url)
      const found = endpoints
        .map(endpoint => ({ endpoint, matched: endpoint.match(address) }))
        .find(({ matched }) => matched)
      if (!found?.matched) return whole(404, { error: { message: `no ${url}` } })
      const { endpoint, matched: requested } = found
      const json = JSON.parse(
        typeof body === 'string' ? body : new TextDecoder().decode(body),
      ) as Json
      const model = requested.model ?? String(json['model'])
      const refusal = endpoint.authorize(headers)
        ? endpoint.refuse(json, model)
        : { status: 401, message: 'no key' }
      seen.push({ endpoint, body: json, refusal: refusal?.message })
      if (refusal)
        return whole(refusal.status, endpoint.failure(refusal), endpoint.failureHeaders?.(refusal))
      if (!(requested.stream ?? json['stream'] === true))
        return whole(200, endpoint.whole(json, model))
      return {
        status: 200,
        headers: { 'content-type': endpoint.streamType ?? 'text/event-stream' },
        body: chunks(...change(endpoint.stream(json, model))),
      }
    },
  }
}

const whole = (status: number, body: unknown, headers: Record<string, string> = {}) => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: chunks(JSON.stringify(body)),
})

async function* chunks(...frames: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.concat(frames.map(frame => Buffer.from(frame)))
  for (let at = 0; at < bytes.length; at += 1500) yield bytes.subarray(at, at + 1500)
}

/** The text of a response; binary frames as server-sent events. */
export async function textFor(protocol: ProtocolName, response: Response): Promise<string> {
  const bytes = Buffer.from(await response.arrayBuffer())
  const { framing } = protocols[protocol]
  const isFramed = framing && response.headers.get('content-type')?.startsWith(framing.contentType)
  return Buffer.from(isFramed ? framing.decode()(bytes) : bytes).toString()
}

/** What went wrong in a loop of three turns. Empty: nothing. */
export async function play(agent: Agent, way: Way): Promise<string[]> {
  const seen: Seen[] = []
  const usages: { input?: number; output?: number }[] = []
  const simulator = simulators[way.vendor]
  const gateway = fetchGateway(
    { auth: 'none', channels: [channelOf(way)], defaults: { retries: 0 } } as never,
    {
      transport: simulated(simulator.endpoints, seen),
      onUsage: ({ usage }) => void usages.push(usage ?? {}),
    },
  )
  const faults: string[] = []
  const target = protocols[agent.protocol].address.target({
    operation: 'generate',
    model: way.model,
    stream: agent.stream,
  })
  const received: Json[] = []
  // In some protocols the path names the model.
  const isInPath = target?.includes(encodeURIComponent(way.model)) ?? false
  let body: Json = isInPath ? agent.body : { ...agent.body, model: way.model }
  try {
    for (let turn = 1; turn <= 3; turn++) {
      received.push(body)
      const response = await gateway(`http://gateway.test${target}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': agent.agent },
        body: JSON.stringify(body),
      })
      const text = await textFor(agent.protocol, response)
      const last = seen.at(-1)
      if (last?.refusal !== undefined)
        return [...faults, `turn ${turn}: refused by ${last.endpoint.protocol}: ${last.refusal}`]
      if (response.status !== 200)
        return [...faults, `turn ${turn}: ${response.status} ${text.slice(0, 300)}`]
      const held = await hold(agent, text)
      const usage = usages.at(-1)
      if (usage?.input !== counted.input || usage.output !== counted.output)
        faults.push(`turn ${turn}: usage ${JSON.stringify(usage)}`)
      // Between equal protocols the client counts as the vendor does.
      if (
        last &&
        last.endpoint.protocol !== agent.protocol &&
        held.usage['input'] !== undefined &&
        held.usage['output'] !== counted.output
      )
        faults.push(`turn ${turn}: the client counts ${JSON.stringify(held.usage)}`)
      if (held.calls.length === 0) {
        if (!held.text.includes(responseText))
          faults.push(`turn ${turn}: no response but ${held.text}`)
        break
      }
      if (turn === 3) faults.push('turn 3: calls again')
      body = next(agent, body, held)
    }
  } catch (error) {
    faults.push(`the client failed: ${String(error).slice(0, 300)}`)
  } finally {
    await gateway.close(0)
  }
  return [...faults, ...forgotten(agent, way, { seen, received })]
}

/** What the model thought in the first two turns has to come back in the third. */
function forgotten(
  { keepsReasoning, protocol }: Agent,
  { vendor, model }: Way,
  { seen, received }: { seen: readonly Seen[]; received: readonly Json[] },
): string[] {
  const [third] = seen.slice(2)
  if (!third)
    return seen.length === 1 && !callsTools.has(vendor) ? [] : [`only ${seen.length} turns`]
  if (!keepsReasoning || hasNone(third.endpoint, third.body, model)) return []
  const { endpoint, body } = third
  const returned = endpoint.returned(body).join('\n')
  // Between equal protocols it is the client that keeps it or not.
  const kept =
    endpoint.protocol === protocol ? endpoint.returned(received[2] ?? {}).join('\n') : undefined
  return [1, 2]
    .filter(nth => kept?.includes(`Thought ${nth}`) ?? true)
    .flatMap(nth =>
      returned.includes(`Thought ${nth}`) ? [] : [`thought ${nth} did not come back`],
    )
}

/** A vendor without tools responds at once. */
const callsTools = new Set<VendorName>(
  ways.map(({ vendor }) => vendor).filter(vendor => vendor !== 'perplexity'),
)

/** Does this endpoint return no reasoning for this request? */
function hasNone(endpoint: Endpoint, body: Json, model: string): boolean {
  return (
    endpoint.wantsReasoning?.(model) === false ||
    !JSON.stringify(endpoint.whole(body, model)).includes('Thought')
  )
}
