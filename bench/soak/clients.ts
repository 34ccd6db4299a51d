import { Agent, request } from 'undici'
import { protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import type { Covered } from '../../test/support/covered.ts'
import {
  type Counts,
  isQuietLeaver,
  leaving,
  type Order,
  type Phase,
  type Plan,
  phases,
  planOf,
  rampMs,
  textOf,
} from './plan.ts'

/**
 * Clients of all protocols in a process of their own: each sends requests one after another, and
 * compares what it receives byte by byte.
 */
const { SOAK_GATEWAY, SOAK_WORDS, SOAK_PAUSE } = process.env
const words = Number(SOAK_WORDS)
const wait = (ms: number) => new Promise(resolve => setTimeout(resolve, ms))
const windowMs = 10_000
const leaversOfPhase = 100

const agent = new Agent({ connections: null, pipelining: 1, keepAliveTimeout: 300_000 })
const counts: Counts = { whole: 0, reported: 0, sold: 0, left: 0, lost: 0, mixed: 0, wrong: [] }
let firstBytes: number[] = []
let next = 0
let isOver = false

const bodies: Record<Covered, (text: string) => object> = {
  'chat-completions': text => ({ messages: [{ role: 'user', content: text }] }),
  responses: text => ({ input: text }),
  messages: text => ({ max_tokens: 9, messages: [{ role: 'user', content: text }] }),
  'generate-content': text => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
}

function ask({ client, served, stream, word }: Plan, signal: AbortSignal | null) {
  const model = `m-${served}`
  return request(
    SOAK_GATEWAY +
      (protocols[client].address.target({ operation: 'generate', model, stream }) ?? ''),
    {
      method: 'POST',
      dispatcher: agent,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...bodies[client](word),
        ...(client !== 'generate-content' && { model, stream }),
      }),
      signal,
    },
  )
}

async function one(number: number): Promise<void> {
  const plan = planOf(number)
  if (plan.leaves) return leave(plan, plan.leaves)
  const since = performance.now()
  let status = 0
  let text = ''
  try {
    const { statusCode, body } = await ask(plan, null)
    status = statusCode
    for await (const chunk of body) {
      if (text === '' && plan.stream && !plan.fault) firstBytes.push(performance.now() - since)
      text += String(chunk)
    }
  } catch {
    // What came before the connection broke is judged.
  }
  judge(plan, status, text)
}

type WireResponse = { [key: string]: unknown } & {
  choices?: { delta?: { content?: string }; message?: { content?: string } }[]
  type?: string
  delta?: string | { text?: string }
  output?: { content?: { text?: string }[] }[]
  content?: { text?: string }[]
  candidates?: { content?: { parts?: { text?: string }[] } }[]
}

/** Written by hand, so that the library does not validate itself. */
const textIn: Record<Covered, (wire: WireResponse) => string | undefined> = {
  'chat-completions': ({ choices: [choice] = [] }) =>
    choice?.delta?.content ?? choice?.message?.content,
  responses: ({ type, delta, output }) => {
    if (output)
      return output.flatMap(({ content = [] }) => content.map(({ text }) => text)).join('')
    if (type === 'response.output_text.delta') return String(delta)
    return ''
  },
  messages: ({ delta, content }) => {
    if (content) return content.map(({ text }) => text).join('')
    if (typeof delta === 'object') return delta.text
    return ''
  },
  'generate-content': ({ candidates: [candidate] = [] }) =>
    candidate?.content?.parts?.map(({ text }) => text ?? '').join(''),
}

function wiresOf(text: string): unknown[] {
  return text
    .split(/\n\n|\r\n\r\n/)
    .flatMap(frame => frame.split(/\r?\n/).filter(line => line.startsWith('data:')))
    .map(line => (line.endsWith('[DONE]') ? '[DONE]' : JSON.parse(line.slice(5))))
}

function judge({ word, client, served, stream, fault }: Plan, status: number, text: string): void {
  let received = ''
  let isWhole = false
  try {
    const wires = stream && status === 200 ? wiresOf(text) : [JSON.parse(text)]
    for (const wire of wires)
      if (wire !== '[DONE]') received += textIn[client](wire as WireResponse) ?? ''
    isWhole = status === 200 && (!stream || strictOf(client).outcome(wires) === 'success')
  } catch {
    // Cut in the middle of a frame.
  }
  const isRight = isWhole && received === textOf(word, words)
  const wrong = (kind: 'sold' | 'mixed' | 'lost') => {
    counts[kind]++
    if (counts.wrong.length < 10)
      counts.wrong.push(
        `${kind}: ${word}, ${client} from ${served}, ${fault ?? 'no fault'}: ${status} ${text.slice(-300)}`,
      )
  }
  if ((received.match(/n\d+(?=\.)/g) ?? []).some(other => other !== word)) wrong('mixed')
  else if (fault) {
    if (isWhole) wrong('sold')
    else counts.reported++
  } else if (isRight) counts.whole++
  else wrong('lost')
}

async function leave(plan: Plan, phase: Phase): Promise<void> {
  const controller = new AbortController()
  const go = () => {
    process.send?.({ left: plan.word, phase, at: Date.now() })
    counts.left++
    controller.abort()
  }
  const isQuiet = isQuietLeaver(plan.word)
  const byLength = phase === 'in the middle of a stream' && !isQuiet
  const timer = byLength
    ? undefined
    : setTimeout(go, isQuiet ? 2_000 : 300 + (Number(SOAK_PAUSE) * words) / 4)
  try {
    const { body } = await ask(plan, controller.signal)
    let length = 0
    for await (const chunk of body) {
      length += (chunk as Buffer).length
      if (byLength && length > 500) return go()
    }
  } catch {
    // It has left.
  } finally {
    clearTimeout(timer)
  }
}

/**
 * All at once would measure how fast sockets open: node takes one connection for each turn of its
 * loop.
 */
async function run(delayMs: number): Promise<void> {
  await wait(delayMs)
  while (!isOver) await one(next++)
}

const at = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
const windows = setInterval(() => {
  const sorted = firstBytes.toSorted((a, b) => a - b)
  firstBytes = []
  process.send?.({
    window: { streams: sorted.length, p50: at(sorted, 0.5), p99: at(sorted, 0.99) },
  })
}, windowMs)
process.on('disconnect', () => process.exit())

const running: Promise<void>[] = []
await new Promise<void>(resolve =>
  process.on('message', (order: Order) => {
    if ('over' in order) return resolve()
    for (let i = running.length, delay = 0; i < order.atOnce; i++, delay += rampMs)
      running.push(run(delay))
  }),
)
isOver = true
await Promise.all(running)
clearInterval(windows)
// Then, with nothing else to do, a hundred at once in each phase.
for (const phase of phases) {
  await Promise.all(Array.from({ length: leaversOfPhase }, (_, i) => one(leaving(phase, i))))
  await wait(1_000)
}
await agent.destroy()
process.send?.({ done: counts })
