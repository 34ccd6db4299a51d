import { Bench } from 'tinybench'
import { collectStream, createStreamTranslator, normalizeResponse, translateRequest, translateResponse } from '../src/api.ts'
import { textOf, toolCallsOf } from '../src/canonical/read.ts'
import { type ProtocolName, protocolNames, protocols } from '../src/protocols/index.ts'
import { createFrameParser } from '../src/sse/parse.ts'
import { expected, requestOf, responseOf, streamOf } from './fixtures.ts'

/** Microseconds of one unit of work: median over runs, after warming up. */
async function measure(work: () => void, units: number): Promise<number> {
  const bench = new Bench({ time: 250, warmupTime: 100, throws: true })
  bench.add('work', work)
  await bench.run()
  const result = bench.tasks[0]?.result
  if (!result || !('latency' in result)) throw new Error('nothing was measured')
  return (result.latency.p50 * 1000) / units
}

const pairs = protocolNames.flatMap(from => protocolNames.map(to => ({ from, to })))
const rows: Record<string, Record<string, string>> = {}
const cell = (value: number, floor: number) => `${value.toFixed(2)} (${(value / floor).toFixed(2)}×)`

function run(from: ProtocolName, to: ProtocolName, chunks: string[]): string {
  const translator = createStreamTranslator({ from, to, now: 1_750_000_000 })
  let out = ''
  for (const chunk of chunks) out += translator.push(chunk)
  return out + translator.end()
}

/** What is timed has to be right first. */
async function verify(kind: keyof typeof expected, from: ProtocolName, to: ProtocolName, frames: string[]): Promise<void> {
  const { body } = await collectStream([run(from, to, frames)], { protocol: to })
  const got = normalizeResponse(body, { protocol: to })
  const calls = toolCallsOf(got).map(({ id, name, input }) => [id, name, JSON.parse(input)])
  const wanted = toolCallsOf(expected[kind]).map(({ id, name, input }) => [id, name, JSON.parse(input)])
  if (textOf(got) !== textOf(expected[kind]) || JSON.stringify(calls) !== JSON.stringify(wanted))
    throw new Error(`${from} → ${to}: the ${kind} stream came out wrong`)
}

async function floors(text: string[], frames: string[]) {
  const again = await measure(() => {
    for (const json of text) JSON.stringify(JSON.parse(json))
  }, text.length)
  const split = await measure(() => {
    const parser = createFrameParser(() => {})
    for (const frame of frames) parser.push(frame)
  }, frames.length)
  return { again, split }
}

for (const kind of ['agent', 'text'] as const)
  for (const from of protocolNames) {
    const { frames, events } = streamOf(protocols[from], kind)
    const json = frames.flatMap(frame => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    const floor = await floors(json, frames)
    const eights = Array.from({ length: Math.ceil(frames.length / 8) }, (_, i) => frames.slice(i * 8, i * 8 + 8).join(''))
    const title = `${kind} stream from ${from}, ${events} events: µs per event`
    rows[title] = { 'parse + stringify': floor.again.toFixed(2), 'SSE split alone': floor.split.toFixed(2) }
    for (const to of protocolNames) {
      await verify(kind, from, to, frames)
      rows[title][`to ${to}`] = cell(await measure(() => run(from, to, frames), events), floor.again)
      rows[title][`to ${to}, 8 a chunk`] = cell(await measure(() => run(from, to, eights), events), floor.again)
    }
  }

for (const size of ['small', 'agent'] as const)
  for (const from of protocolNames) {
    const text = JSON.stringify(requestOf(protocols[from], size))
    const floor = await measure(() => JSON.stringify(JSON.parse(text)), 1)
    const title = `request from ${from}, ${(Buffer.byteLength(text) / 1000).toFixed(1)} KB: µs`
    rows[title] = { 'parse + stringify': floor.toFixed(2) }
    for (const to of protocolNames)
      rows[title][`to ${to}`] = cell(await measure(() => JSON.stringify(translateRequest(JSON.parse(text), { from, to }).body), 1), floor)
  }

for (const { from, to } of pairs) {
  const text = JSON.stringify(responseOf(protocols[from]))
  const floor = await measure(() => JSON.stringify(JSON.parse(text)), 1)
  const title = `response from ${from}: µs`
  rows[title] ??= { 'parse + stringify': floor.toFixed(2) }
  rows[title][`to ${to}`] = cell(await measure(() => JSON.stringify(translateResponse(JSON.parse(text), { from, to }).body), 1), floor)
}

console.log(`node ${process.version}; in brackets: times the floor (parse + stringify of the same text, same run)`)
for (const [title, columns] of Object.entries(rows)) {
  console.log(`\n${title}`)
  for (const [name, value] of Object.entries(columns)) console.log(`  ${name.padEnd(34)} ${value}`)
}
