import { isDeepStrictEqual } from 'node:util'
import { expect } from 'vitest'
import type { Part } from '../../src/canonical/message.ts'
import type { Note } from '../../src/canonical/note.ts'
import { textOf, toolCallsOf } from '../../src/canonical/read.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse, Usage } from '../../src/canonical/response.ts'
import type { Received } from '../support/clients/index.ts'
import { parse } from '../support/responding.ts'

/** What must survive a request's way through another protocol and back, whatever the notes say. */
export type ReceivedRequest = {
  instructions: string[]
  message: string[]
  tools: string[]
  calls: { id: string; name: string; input: unknown }[]
  results: { callId: string; text: string }[]
}

export function received({ messages, tools = [] }: CanonicalRequest): ReceivedRequest {
  const found: ReceivedRequest = {
    instructions: [],
    message: [],
    tools: [],
    calls: [],
    results: [],
  }
  const addTools = (list: NonNullable<CanonicalRequest['tools']>) => {
    for (const tool of list)
      if (tool.type === 'function' || tool.type === 'freeform') found.tools.push(flat(tool))
  }
  addTools(tools)
  for (const { role, parts } of messages)
    for (const part of parts) {
      if (part.type === 'text' && part.text.trim() !== '')
        (role === 'system' || role === 'developer' ? found.instructions : found.message).push(
          part.text,
        )
      if (part.type === 'tool-call')
        found.calls.push({ id: part.id, name: flat(part), input: unwrapped(parse(part.input)) })
      if (part.type === 'tool-result')
        found.results.push({ callId: part.callId, text: textsOf(part.content).join('') })
      if (part.type === 'control' && part.tools) addTools(part.tools)
    }
  found.tools.sort()
  return found
}

/** The translated request has everything that was requested. */
export function expectKept(before: ReceivedRequest, after: ReceivedRequest): void {
  expect(after.tools).toEqual(before.tools)
  expect(after.calls).toEqual(before.calls)
  expect(new Set(after.results.map(({ callId }) => callId))).toEqual(
    new Set(before.results.map(({ callId }) => callId)),
  )
  const all = [
    ...after.instructions,
    ...after.message,
    ...after.results.map(({ text }) => text),
  ].join('\n')
  for (const text of [
    ...before.instructions,
    ...before.message,
    ...before.results.map(one => one.text),
  ])
    if (!all.includes(text)) expect.fail(`lost the text "${text.slice(0, 200)}"`)
}

const flat = ({ name, namespace }: { name: string; namespace?: string | undefined }) =>
  namespace === undefined ? name : `${namespace}__${name}`

/** A freeform call is a function with one string where the wire has only functions. */
const unwrapped = (input: unknown) =>
  typeof input === 'object' && input !== null && isDeepStrictEqual(Object.keys(input), ['input'])
    ? (input as { input: unknown }).input
    : input

function textsOf(parts: Part[]): string[] {
  return parts.flatMap(part => (part.type === 'text' ? [part.text] : []))
}

/**
 * The official client of the target receives what the source sent; ids may differ where a note
 * reports it.
 */
export function expectReceived(received: Received, source: CanonicalResponse, notes: Note[]): void {
  const refusal = (source.candidates[0]?.messages ?? [])
    .flatMap(({ parts }) => parts.flatMap(part => (part.type === 'refusal' ? [part.text] : [])))
    .join('')
  const explained = notes.some(({ code }) => code === 'refusal.as-text')
    ? (source.candidates[0]?.finish?.message ?? '')
    : ''
  const text = textOf(source)
  if (
    received.text !== text &&
    received.text !== text + refusal &&
    received.text !== text + explained
  )
    expect(received.text).toBe(text)
  const mapped = notes.some(({ code }) => /^tool[-_]call\.id/.test(code))
  const comparable = (calls: Received['calls']) =>
    calls.map(({ id, name, input }) => ({ ...(!mapped && { id }), name, input: unwrapped(input) }))
  const calls = toolCallsOf(source).map(call => ({
    id: call.id,
    name: flat(call),
    input: parse(call.inputText),
  }))
  expect(comparable(received.calls)).toEqual(comparable(calls))
}

/** The finish reason is the same, or a note reports the difference. */
export function expectEnding(
  after: CanonicalResponse,
  before: CanonicalResponse,
  notes: Note[],
): void {
  const [was, is] = [before.candidates[0]?.finish?.reason, after.candidates[0]?.finish?.reason]
  if (was !== is && !notes.some(({ code }) => /^(finish|stop)\b/.test(code))) expect(is).toBe(was)
}

/**
 * What must be the same on the other side, beyond what the client receives, and which notes may
 * report a difference.
 */
type Kept = { reasoning: string; usage: Partial<Usage>; cited: string[] }

function kept({ candidates: [first], usage }: CanonicalResponse): Kept {
  const parts = (first?.messages ?? []).flatMap(message => message.parts)
  const { input, output, cacheRead, cacheWrite, reasoning } = usage ?? {}
  return {
    reasoning: parts
      .flatMap(part => (part.type === 'reasoning' ? part.segments.map(({ text }) => text) : []))
      .join('')
      .replaceAll(/\s/g, ''),
    usage: { input, output, cacheRead, cacheWrite, reasoning } as Partial<Usage>,
    cited: parts.flatMap(part =>
      part.type === 'text'
        ? (part.citations ?? []).map(({ url, title, fileId }) => url ?? fileId ?? title ?? '')
        : [],
    ),
  }
}

/** Reasoning, counts and citations are the same, or a note reports the difference. */
export function expectReportedAlike(
  after: CanonicalResponse,
  before: CanonicalResponse,
  notes: Note[],
): void {
  const [is, was] = [kept(after), kept(before)]
  const noted = (pattern: RegExp) =>
    notes.some(({ code, path }) => pattern.test(code) || pattern.test(path))
  if (!noted(/^reasoning\.(?!dialect-field|signature|joined)/))
    expect(is.reasoning).toBe(was.reasoning)
  if (!noted(/^usage\.(?!late)/))
    for (const [key, value] of Object.entries(was.usage))
      if (value !== undefined && !(value === 0 && key !== 'input' && key !== 'output'))
        expect(is.usage, key).toMatchObject({ [key]: value })
  if (!noted(/^citation\.(unsupported|foreign|version)/))
    expect(is.cited.sort()).toEqual(was.cited.sort())
}
