import { expect } from 'vitest'
import { type TranslateOptions, translateRequest } from '../../src/api.ts'
import { isObject } from '../../src/kit/json/json.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import type { Covered } from '../support/covered.ts'

export type Wire = Record<string, unknown>

/**
 * The observed failure, the request, and for each target what it gets: the body, then the notes as
 * "kind path code".
 */
export type Row = [
  seen: string,
  from: Covered,
  asks: Wire,
  gets: { [to in Covered]?: [body: Wire, ...notes: string[]] },
  options?: Options,
]
type Options = Partial<TranslateOptions>

/**
 * What every request of another protocol gets; `default.test` holds it, so that the others need not
 * repeat it.
 */
const commonCodes = new Set(['store.default', 'reasoning.include-encrypted', 'max-tokens.default'])
const commonFields = [
  'model',
  'store',
  'include',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
]

const bases: Record<Covered, Wire> = {
  'chat-completions': { model: 'm-1' },
  responses: { model: 'm-1' },
  messages: { model: 'm-1', max_tokens: 1_000 },
  'generate-content': {},
}

/** A request as the other protocol gets it, whole, and its notes as "kind path code". */
export function received(
  from: Covered,
  to: Covered,
  asks: Wire,
  options: Options = {},
): { body: Wire; notes: string[]; faults: string[] } {
  const source = { ...bases[from], ...asks }
  const before = JSON.stringify(source)
  const { body, notes } = translateRequest(source, {
    ...(from === 'generate-content' && { path: '/v1beta/models/m-1:generateContent' }),
    ...options,
    from,
    to,
  })
  expect(JSON.stringify(source)).toBe(before)
  if (!isObject(body)) throw new Error('a request is an object')
  return {
    body,
    notes: notes.map(({ kind, path, code }) => `${kind} ${path} ${code}`),
    faults: strictOf(to).checkRequest(body),
  }
}

/** The same without what every request is given. */
export function reported(
  from: Covered,
  to: Covered,
  asks: Wire,
  options?: Options,
): { body: Wire; notes: string[]; faults: string[] } {
  const { body, notes, faults } = received(from, to, asks, options)
  const kept = Object.fromEntries(
    Object.entries(body).filter(([key]) => !commonFields.includes(key)),
  )
  return {
    body: kept,
    notes: notes.filter(note => !commonCodes.has(note.split(' ')[2] ?? '')),
    faults,
  }
}

/** Each row once for each target it names. */
export function each(rows: readonly Row[]) {
  return rows.flatMap(([seen, from, asks, gets, options]) =>
    Object.entries(gets).map(([to, [body, ...notes]]) => ({
      seen,
      from,
      to: to as Covered,
      asks,
      options,
      wanted: { body, notes, faults: [] as string[] },
    })),
  )
}

// ---- conversations, each in the words of its protocol

export const user = (content: unknown): Wire => ({ role: 'user', content })
export const assistant = (content: unknown): Wire => ({ role: 'assistant', content })
export const text = (text: string, more: Wire = {}): Wire => ({ type: 'text', text, ...more })

/** An assistant message of the chat protocol that calls. */
export const calling = (...calls: Wire[]): Wire => ({
  role: 'assistant',
  content: null,
  tool_calls: calls,
})
export const call = (id: string, args: unknown = '{}', name = 'look'): Wire => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
export const response = (id: string, content: unknown): Wire => ({
  role: 'tool',
  tool_call_id: id,
  content,
})

/** Blocks of the messages protocol. */
export const use = (id: string, input: unknown = {}, name = 'look'): Wire => ({
  type: 'tool_use',
  id,
  name,
  input,
})
export const result = (id: string, content: unknown, more: Wire = {}): Wire => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...more,
})

/** Items of the responses protocol. */
export const item = (role: string, ...content: (string | Wire)[]): Wire => ({
  type: 'message',
  role,
  content: content.map(part =>
    typeof part === 'string' ? { type: 'input_text', text: part } : part,
  ),
})
export const spoken = (content: unknown): Wire => ({ type: 'message', role: 'assistant', content })
export const called = (id: string, args: unknown = '{}', name = 'look'): Wire => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
})
export const output = (id: string, output: unknown): Wire => ({
  type: 'function_call_output',
  call_id: id,
  output,
})

/** Contents of the generate-content protocol. */
export const content = (role: 'user' | 'model', ...parts: Wire[]): Wire => ({ role, parts })

export const png = 'iVBORw0KGgoAAA=='
export const pdf = 'JVBERi0xLjQK'
