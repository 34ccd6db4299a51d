import type { CanonicalEvent } from '../src/canonical/event.ts'
import { explode } from '../src/canonical/explode.ts'
import type { Message } from '../src/canonical/message.ts'
import type { CanonicalRequest } from '../src/canonical/request.ts'
import type { CanonicalResponse } from '../src/canonical/response.ts'
import type { Protocol } from '../src/protocol.ts'
import { encodeRequest } from '../src/translate/encode.ts'

const words =
  'the quick brown fox — jumps über den faulen Hund, då kommer en räv; 狐は犬を飛び越える and so on '.split(
    ' ',
  )

/** `length` characters of text in several scripts, always the same. */
function prose(length: number): string {
  let text = ''
  for (let i = 0; text.length < length; i++) text += `${words[(i * 7) % words.length] ?? ''} `
  return text.slice(0, length)
}

/** What an agent's model says in one turn: some reasoning, some text, two tool calls. */
const agentResponse: CanonicalResponse = {
  id: 'response_0123456789',
  model: 'bench-model',
  createdAt: 1_750_000_000,
  candidates: [
    {
      index: 0,
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [
            { type: 'reasoning', segments: [{ kind: 'summary', text: prose(1500) }] },
            { type: 'text', text: prose(4000) },
            {
              type: 'tool-call',
              id: 'call_a',
              kind: 'function',
              name: 'write_file',
              input: JSON.stringify({ path: '/home/user/a.ts', text: prose(3000) }),
            },
            {
              type: 'tool-call',
              id: 'call_b',
              kind: 'function',
              name: 'run',
              input: JSON.stringify({ command: 'npm test', why: prose(200) }),
            },
          ],
        },
      ],
      finish: { reason: 'tool_calls' },
    },
  ],
  usage: { input: 12_000, output: 900, cacheRead: 10_000, reasoning: 120 },
}

const textResponse: CanonicalResponse = {
  ...agentResponse,
  candidates: [
    {
      index: 0,
      messages: [
        { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: prose(9000) }] },
      ],
      finish: { reason: 'stop' },
    },
  ],
}

const smallResponse: CanonicalResponse = {
  ...agentResponse,
  candidates: [
    {
      index: 0,
      messages: [
        { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: prose(500) }] },
      ],
      finish: { reason: 'stop' },
    },
  ],
}

/** Cuts every delta so that the whole stream has about `count` deltas. */
function fine(events: CanonicalEvent[], count: number): CanonicalEvent[] {
  const total = events.reduce(
    (sum, event) =>
      sum + (event.type === 'part.delta' && 'text' in event.delta ? event.delta.text.length : 0),
    0,
  )
  const size = Math.ceil(total / count)
  return events.flatMap(event => {
    if (event.type !== 'part.delta' || !('text' in event.delta)) return [event]
    const { delta } = event
    const chunks: CanonicalEvent[] = []
    for (let at = 0; at < delta.text.length; at += size)
      chunks.push({ ...event, delta: { ...delta, text: delta.text.slice(at, at + size) } })
    return chunks
  })
}

export type Stream = { frames: string[]; events: number }

/** The frames of a stream of about `count` events, as a server of this protocol sends them. */
export function streamOf(protocol: Protocol, kind: 'agent' | 'text', count = 450): Stream {
  const state = protocol.streamEncoder.initial({ now: 1_750_000_000 })
  const frames: string[] = []
  const write = (wire: unknown) => frames.push(protocol.frames.write(wire))
  for (const event of fine(explode(kind === 'agent' ? agentResponse : textResponse), count))
    protocol.streamEncoder.step(state, event, write)
  protocol.streamEncoder.end(state, write)
  return { frames, events: frames.length }
}

const tools = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    type: 'function' as const,
    name: `tool_${i}`,
    description: prose(300),
    parameters: {
      type: 'object',
      properties: { path: { type: 'string', description: prose(80) }, depth: { type: 'integer' } },
      required: ['path'],
    },
    strict: false,
  }))

function turns(count: number, size: number): Message[] {
  return Array.from({ length: count }, (_, i): Message[] => {
    const id = `call_${i}`
    return [
      { role: 'user', origin: 'message', parts: [{ type: 'text', text: prose(size) }] },
      {
        role: 'assistant',
        origin: 'message',
        parts: [
          { type: 'text', text: prose(size / 2) },
          {
            type: 'tool-call',
            id,
            kind: 'function',
            name: 'tool_0',
            input: JSON.stringify({ path: prose(size / 2) }),
          },
        ],
      },
      {
        role: 'tool',
        origin: 'message',
        parts: [
          {
            type: 'tool-result',
            callId: id,
            kind: 'function',
            content: [{ type: 'text', text: prose(size) }],
          },
        ],
      },
    ]
  }).flat()
}

const small: CanonicalRequest = {
  model: 'bench-model',
  maxOutputTokens: 1000,
  messages: [
    { role: 'system', origin: 'instructions', parts: [{ type: 'text', text: prose(300) }] },
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: prose(400) }] },
  ],
  stream: { enabled: true },
}

/** 60 messages and 30 tools, about 150 KB. */
const agent: CanonicalRequest = {
  ...small,
  messages: [...small.messages, ...turns(20, 1900)],
  tools: tools(30),
  toolChoice: { mode: 'auto' },
}

export function requestOf(protocol: Protocol, size: 'small' | 'agent'): unknown {
  return encodeRequest(size === 'small' ? small : agent, protocol).wire
}

/** A request of `turnCount` turns, of three messages each, and `toolCount` tools. */
export function grownRequest(protocol: Protocol, turnCount: number, toolCount: number): unknown {
  return encodeRequest(
    {
      ...small,
      messages: [...small.messages, ...turns(turnCount, 1900)],
      ...(toolCount > 0 && { tools: tools(toolCount) }),
    },
    protocol,
  ).wire
}

/** Of 12 KB, or of 1 KB. */
export function responseOf(protocol: Protocol, size: 'agent' | 'small' = 'agent'): unknown {
  return protocol.encodeResponse(size === 'agent' ? agentResponse : smallResponse, {
    now: 1_750_000_000,
  }).wire
}

/** What every translation of the streams above has to add up to. */
export const expected = { agent: agentResponse, text: textResponse, small: smallResponse }
