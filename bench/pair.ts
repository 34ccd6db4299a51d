import { collectStream, createStreamTranslator, normalizeResponse, translateRequest, translateResponse } from '../src/api.ts'
import { textOf, toolCallsOf } from '../src/canonical/read.ts'
import type { CanonicalRequest } from '../src/canonical/request.ts'
import { type ProtocolName, protocols } from '../src/protocols/index.ts'
import { createFrameParser } from '../src/sse/parse.ts'
import { expected, requestOf, responseOf, streamOf } from './fixtures.ts'
import { measure, type Task } from './measure.ts'

/**
 * One pair in a process of its own, as in a service that speaks two protocols: code that has seen all sixteen pairs is
 * compiled for all of them and slower for each. What is timed has to be right first.
 */

const [from, to, part] = process.argv.slice(2) as [ProtocolName, ProtocolName, 'streams' | 'requests']
const now = 1_750_000_000
/** Between equal protocols, what there is to do is another model name. */
const named = from === to ? { model: 'other-model' } : {}

function translated(chunks: readonly string[]): string {
  const translator = createStreamTranslator({ from, to, now })
  let out = ''
  for (const chunk of chunks) out += translator.push(chunk)
  return out + translator.end()
}

async function verifyStream(kind: keyof typeof expected, chunks: readonly string[]): Promise<void> {
  const { body } = await collectStream([translated(chunks)], { protocol: to })
  verifyReply(body, kind)
}

function verifyReply(body: unknown, kind: keyof typeof expected): void {
  const got = normalizeResponse(body, { protocol: to })
  const calls = (response: typeof got) => JSON.stringify(toolCallsOf(response).map(({ name, input }) => [name, JSON.parse(input)]))
  if (textOf(got) !== textOf(expected[kind]) || calls(got) !== calls(expected[kind])) throw new Error(`${from} → ${to}: ${kind} came out wrong`)
}

/** All texts, calls and tools of a request, in order. */
function saidIn({ messages, tools }: CanonicalRequest): string {
  const parts = messages.flatMap(({ parts }) => parts)
  const said = parts.map(part =>
    part.type === 'text'
      ? part.text
      : part.type === 'tool-call'
        ? [part.name, JSON.parse(part.input)]
        : part.type === 'tool-result'
          ? part.content.map(one => 'text' in one && one.text)
          : part.type,
  )
  return JSON.stringify([said, tools?.map(tool => 'name' in tool && tool.name)])
}

function verifyRequest(wire: unknown, body: unknown): void {
  if (saidIn(protocols[from].decodeRequest(wire).value) !== saidIn(protocols[to].decodeRequest(body).value))
    throw new Error(`${from} → ${to}: the request came out wrong`)
}

function again(texts: readonly string[]): void {
  for (const text of texts) JSON.stringify(JSON.parse(text))
}

async function streams(): Promise<Task[]> {
  const tasks: Task[] = []
  for (const kind of ['text', 'agent'] as const) {
    const { frames, events } = streamOf(protocols[from], kind)
    const json = frames.flatMap(frame => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    const eights = Array.from({ length: Math.ceil(frames.length / 8) }, (_, i) => frames.slice(i * 8, i * 8 + 8).join(''))
    await verifyStream(kind, frames)
    await verifyStream(kind, eights)
    const floor = `${kind} stream: parse + stringify`
    tasks.push(
      { name: floor, units: events, work: () => again(json) },
      {
        name: `${kind} stream: SSE split alone`,
        units: events,
        floor,
        work: () => {
          const parser = createFrameParser(() => {})
          for (const frame of frames) parser.push(frame)
        },
      },
      { name: `${kind} stream, 1 event a chunk`, units: events, floor, work: () => translated(frames) },
      { name: `${kind} stream, 8 events a chunk`, units: events, floor, work: () => translated(eights) },
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
    verifyRequest(wire, translate(wire))
    add(size === 'small' ? 'request of 1 KB' : 'request of 150 KB', JSON.stringify(wire), translate)
  }
  const reply = responseOf(protocols[from])
  const translate = (wire: unknown) => translateResponse(wire, { from, to, now, ...named }).body
  verifyReply(translate(reply), 'agent')
  add('response', JSON.stringify(reply), translate)
  return tasks
}

process.send?.(await measure(part === 'streams' ? await streams() : requests()))
