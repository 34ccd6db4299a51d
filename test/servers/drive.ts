import { collect } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { type FetchGateway, fetchGateway } from '../../src/hosts/fetch.ts'
import { parseJson } from '../../src/kit/json/json.ts'
import type { Note } from '../../src/notes.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { parseData } from '../../src/sse/data.ts'
import { createFrameParser } from '../../src/sse/parse.ts'
import { isGrave, isNullMissing } from '../../src/testing/strict/faults.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { encodeRequest } from '../../src/translate/encode.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { type Scenario, scenarios } from './scenarios.ts'

/** A server that is tried. `speaks`: its protocols, where it is none of a known vendor. */
export type Server = {
  base: string
  vendor?: VendorName | undefined
  speaks?: readonly ProtocolName[] | undefined
  model?: string | undefined
  key?: string | undefined
}

/**
 * `note`: something of the request was lost, as a note says, or the server itself has no such
 * feature or another form, which passes to clients of its own protocol. `FAIL`: anything else.
 */
export type Outcome = { result: 'ok' | 'note' | 'FAIL'; reason: string }

export type Row = { scenario: string; outcomes: Record<string, Outcome> }

/** Asks the server for every scenario, as a client of each protocol, through a gateway. */
export async function drive(server: Server, onRow: (row: Row) => void = () => {}): Promise<Row[]> {
  const spoken: Spoken = {}
  const handler = gatewayTo(server, spoken)
  try {
    const model = server.model ?? (await firstModel(handler))
    const rows: Row[] = []
    for (const scenario of scenarios)
      for (const stream of [false, true]) {
        const row: Row = { scenario: `${scenario.name}${stream ? ', streamed' : ''}`, outcomes: {} }
        for (const client of protocolNames)
          row.outcomes[client] = await ask(handler, spoken, { client, scenario, stream, model })
        rows.push(row)
        onRow(row)
      }
    return rows
  } finally {
    await handler.close()
  }
}

/** The protocol that the server was last asked in. */
type Spoken = { protocol?: string | undefined }

function gatewayTo({ base, vendor, speaks, key }: Server, spoken: Spoken): FetchGateway {
  const channel = {
    name: 'server',
    baseUrl: base,
    ...(vendor && { vendor }),
    ...(speaks && { protocols: [...speaks] }),
    ...(key !== undefined && { apiKey: key }),
  }
  return fetchGateway(
    { auth: 'none', channels: [channel], defaults: { retries: 0 } },
    {
      onUsage({ protocolOut }) {
        spoken.protocol = protocolOut
      },
    },
  )
}

async function firstModel(handler: FetchGateway): Promise<string> {
  const response = await handler('http://gateway.test/v1/models')
  const { data } = (await response.json()) as { data?: { id: string }[] }
  const id = data?.[0]?.id
  if (id === undefined) throw new Error('the server lists no model: name one by --model')
  return id
}

type Asked = { client: ProtocolName; scenario: Scenario; stream: boolean; model: string }

async function ask(
  handler: FetchGateway,
  spoken: Spoken,
  { client, scenario, stream, model }: Asked,
): Promise<Outcome> {
  const protocol = protocols[client]
  const request = { ...scenario.request, model, ...(stream && { stream: { enabled: true } }) }
  const { wire, notes: own } = encodeRequest(request, protocol)
  const path = protocol.address.target({ operation: 'generate', model, stream })
  const response = await handler(`http://gateway.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(wire),
  })
  const bytes = new Uint8Array(await response.arrayBuffer())
  const notes = parseJson(response.headers.get('wireglot-notes') ?? '[]') as Note[]
  if (response.status !== 200) return refused(client, scenario, response.status, bytes)
  const read = stream ? streamOf(client, bytes) : wholeOf(client, bytes)
  // Between equal protocols the bytes of the server pass.
  if ('fault' in read)
    return spoken.protocol === client
      ? { result: 'note', reason: `the server itself: ${read.fault}` }
      : { result: 'FAIL', reason: read.fault }
  const ofRequest = notes.filter(({ target }) => target !== client)
  const lost = [...own, ...ofRequest].filter(({ kind }) => kind !== 'synthesized')
  const noted = [...new Set(lost.map(({ code }) => code))].join(', ')
  const missed = scenario.expects(read.response)
  if (missed === undefined) return { result: noted === '' ? 'ok' : 'note', reason: noted }
  return noted === ''
    ? { result: 'FAIL', reason: missed }
    : { result: 'note', reason: `${missed} (${noted})` }
}

/** An error has the form of the client's protocol, and is no failure of the server. */
function refused(
  client: ProtocolName,
  { mayRefuse }: Scenario,
  status: number,
  bytes: Uint8Array,
): Outcome {
  const body = parseJson(new TextDecoder().decode(bytes))
  const { value } = protocols[client].decodeError({ status, headers: {}, body })
  const reason = `${status}: ${value.message}`.slice(0, 200)
  const [fault] = strictOf(client).checkError(body).filter(isGrave)
  if (fault !== undefined) return { result: 'FAIL', reason: `${reason} (${fault})` }
  return { result: mayRefuse && status < 500 ? 'note' : 'FAIL', reason }
}

type Read = { response: CanonicalResponse } | { fault: string }

const graveIn = (faults: readonly string[]) =>
  faults.find(fault => isGrave(fault) && !isNullMissing(fault))

function wholeOf(client: ProtocolName, bytes: Uint8Array): Read {
  const body = parseJson(new TextDecoder().decode(bytes))
  const fault = graveIn(strictOf(client).checkResponse(body))
  if (fault !== undefined) return { fault }
  return { response: protocols[client].decodeResponse(body).value }
}

function streamOf(client: ProtocolName, bytes: Uint8Array): Read {
  const protocol = protocols[client]
  const wires: unknown[] = []
  const parser = createFrameParser(({ data }) => wires.push(parseData(data)))
  const text = protocol.framing?.decode()(bytes) ?? bytes
  parser.push(text)
  parser.end()
  const events: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, {}, event => events.push(event))
  reader.push(text)
  reader.end()
  const { response, clean } = collect(events)
  if (response.error) return { fault: `the stream fails: ${response.error.message}` }
  if (!clean) return { fault: 'the stream stops before its end' }
  const fault = graveIn([...strictOf(client).checkStream(wires), ...checkGrammar(events)])
  return fault === undefined ? { response } : { fault }
}

/** A table of the results, and below it the reasons. */
export function tableOf(rows: readonly Row[]): string {
  const wide = Math.max(...rows.map(({ scenario }) => scenario.length))
  const line = (first: string, cells: readonly string[]) =>
    `${first.padEnd(wide)}  ${cells.map(cell => cell.padEnd(17)).join('')}`.trimEnd()
  const lines = [line('', protocolNames)]
  const reasons: string[] = []
  for (const { scenario, outcomes } of rows) {
    lines.push(
      line(
        scenario,
        protocolNames.map(client => outcomes[client]?.result ?? ''),
      ),
    )
    for (const client of protocolNames) {
      const { result, reason } = outcomes[client] ?? { result: 'ok', reason: '' }
      if (result !== 'ok') reasons.push(`${result.padEnd(4)}  ${scenario}, ${client}: ${reason}`)
    }
  }
  return [...lines, '', ...reasons.sort()].join('\n')
}

/** How often each result came. */
export function countsOf(rows: readonly Row[]): Record<Outcome['result'], number> {
  const counts = { ok: 0, note: 0, FAIL: 0 }
  for (const { outcomes } of rows)
    for (const { result } of Object.values(outcomes)) counts[result]++
  return counts
}
