import { createStreamTranslator, translateRequest, translateResponse } from '../src/api.ts'
import { type ProtocolName, protocols } from '../src/protocols/index.ts'
import { createFrameParser } from '../src/sse/parse.ts'
import { requestOf, responseOf, streamOf } from './fixtures.ts'
import { measure, type Task } from './measure.ts'
import { wrongInRequest, wrongInResponse, wrongInStream } from './right.ts'

/**
 * One pair in a process of its own, as in a service that speaks two protocols: code that has seen
 * all sixteen pairs is compiled for all of them and slower for each. What is timed has to be right
 * first.
 */

const [from, to, part] = process.argv.slice(2) as [
  ProtocolName,
  ProtocolName,
  'streams' | 'requests',
]
const now = 1_750_000_000
/** Between equal protocols, what there is to do is another model name. */
const named = from === to ? { model: 'other-model' } : {}

const bytesOf = (text: string) => new TextEncoder().encode(text)

/** Chunks are bytes, as they come from the network. */
function translated(chunks: readonly Uint8Array[]): string {
  const translator = createStreamTranslator({ from, to, now })
  let out = ''
  for (const chunk of chunks) out += translator.push(chunk)
  return out + translator.end()
}

function refuse(wrong: string | undefined): void {
  if (wrong !== undefined) throw new Error(`${from} → ${to}: ${wrong}`)
}

function again(texts: readonly string[]): void {
  for (const text of texts) JSON.stringify(JSON.parse(text))
}

async function streams(): Promise<Task[]> {
  const tasks: Task[] = []
  for (const kind of ['text', 'agent'] as const) {
    const { frames, events } = streamOf(protocols[from], kind)
    const json = frames.flatMap(frame => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    const ones = frames.map(bytesOf)
    const eights = Array.from({ length: Math.ceil(frames.length / 8) }, (_, i) =>
      bytesOf(frames.slice(i * 8, i * 8 + 8).join('')),
    )
    for (const chunks of [ones, eights]) refuse(await wrongInStream(translated(chunks), to, kind))
    const floor = `${kind} stream: parse + stringify`
    tasks.push(
      { name: floor, units: events, work: () => again(json) },
      {
        name: `${kind} stream: SSE split alone`,
        units: events,
        floor,
        work: () => {
          const parser = createFrameParser(() => {})
          for (const chunk of ones) parser.push(chunk)
        },
      },
      {
        name: `${kind} stream, 1 event a chunk`,
        units: events,
        floor,
        work: () => translated(ones),
      },
      {
        name: `${kind} stream, 8 events a chunk`,
        units: events,
        floor,
        work: () => translated(eights),
      },
    )
  }
  return tasks
}

function requests(): Task[] {
  const tasks: Task[] = []
  const add = (name: string, text: string, work: (wire: unknown) => unknown) => {
    const floor = `${name}: parse + stringify`
    tasks.push(
      { name: floor, units: 1, work: () => JSON.stringify(JSON.parse(text)) },
      { name, units: 1, floor, work: () => JSON.stringify(work(JSON.parse(text))) },
    )
  }
  for (const size of ['small', 'agent'] as const) {
    const wire = requestOf(protocols[from], size)
    const translate = (wire: unknown) => translateRequest(wire, { from, to, ...named }).body
    refuse(wrongInRequest(wire, from, translate(wire), to))
    add(size === 'small' ? 'request of 1 KB' : 'request of 150 KB', JSON.stringify(wire), translate)
  }
  const response = responseOf(protocols[from])
  const translate = (wire: unknown) => translateResponse(wire, { from, to, now, ...named }).body
  refuse(wrongInResponse(translate(response), to, 'agent'))
  add('response', JSON.stringify(response), translate)
  return tasks
}

process.send?.(
  part === 'streams' ? await measure(await streams()) : await measure(requests(), { warmMs: 500 }),
)
