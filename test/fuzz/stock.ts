import fc from 'fast-check'
import type { Protocol } from '../../src/protocol.ts'
import { all, wiresOf } from '../../src/testing/bodies.ts'
import { cleanEvents, cutEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { recordedRequests, recordedResponses, recordedStreams } from '../corpus/data.ts'
import { type Script, wireOf } from '../support/upstreams/index.ts'

/**
 * What one protocol's cases are made from: bodies and streams of every shape, the captured ones
 * among them where there are any.
 */
export type Stock = {
  requests: unknown[]
  responses: unknown[]
  streams: Uint8Array[]
  errors: unknown[]
}

const scripts: Script[] = [
  { text: 'Hello, wörld 🎉', reasoning: 'Thinking it over.', ending: 'stop' },
  { text: 'As far as', ending: 'length' },
  { text: 'I cannot help with that.', ending: 'refusal' },
  {
    text: 'Looking.',
    calls: [{ id: 'call_1', name: 'lookup', args: '{"q":"one"}' }],
    ending: 'stop',
  },
  {
    calls: [
      { id: 'call_1', name: 'lookup', args: '{"q":"one"}' },
      { id: 'call_2', name: 'lookup', args: '{}' },
    ],
    ending: 'stop',
  },
  { text: 'Half of a response', ending: 'stop', breaks: 'error' },
]

/** The same for every run, so that a seed leads to the same case. */
const sample = <T>(arbitrary: fc.Arbitrary<T>, numRuns: number) =>
  fc.sample(arbitrary, { seed: 20_261_121, numRuns })

const bytes = (text: string) => new TextEncoder().encode(text)

function stockOf(protocol: Protocol): Stock {
  const { response, stream, failure } = wireOf(protocol.name)
  const wires = wiresOf(protocol)
  const events = [...sample(cleanEvents, 60), ...sample(cutEvents, 20)]
  return {
    requests: [
      ...sample(wires.request, 150),
      ...recordedRequests().flatMap(({ protocol: name, body }) =>
        name === protocol.name ? [body] : [],
      ),
    ],
    responses: [
      ...sample(wires.response, 150),
      ...scripts.map(response),
      ...recordedResponses(protocol.name as never).map(({ body }) => body),
    ],
    streams: [
      ...scripts.map(script => bytes(stream(script).join(''))),
      ...events.map(list => bytes(encodeStream(protocol, list).text)),
      ...recordedStreams(protocol.name as never)
        .filter(({ text }) => text.length < 30_000)
        .map(({ text }) => bytes(text)),
    ],
    errors: [400, 401, 404, 429, 500, 503, 529].map(status =>
      failure({ status, type: 'rate_limit_error', message: 'Slow down' }),
    ),
  }
}

const stocks = new Map(all.map(protocol => [protocol.name, stockOf(protocol)]))

export function stock({ name }: Protocol): Stock {
  const found = stocks.get(name)
  if (!found) throw new Error(`no stock of ${name}`)
  return found
}

/** Of every protocol, for splicing one's bodies into another's. */
export const everything: Stock = {
  requests: [...stocks.values()].flatMap(({ requests }) => requests.slice(0, 40)),
  responses: [...stocks.values()].flatMap(({ responses }) => responses.slice(0, 40)),
  streams: [...stocks.values()].flatMap(({ streams }) => streams.slice(0, 40)),
  errors: [...stocks.values()].flatMap(({ errors }) => errors),
}
