import type { Part } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { isObject } from '../kit/json/json.ts'

/**
 * What a request says, in the same form in all protocols: a list of places and what stands there.
 * Models, settings, ids, reasoning and the content of media are not in it.
 */
export type Essence = readonly (readonly [path: string, value: string])[]

export function essenceOf({ messages, tools = [], output }: CanonicalRequest): Essence {
  const instructions: string[] = []
  const said: Said[] = []
  for (const { role, parts } of messages)
    for (const part of parts) {
      if (role === 'system' || role === 'developer') instructions.push(textOf(part))
      else add(said, saidBy(role === 'assistant' ? 'assistant' : 'user', part))
    }
  const names = tools.map(tool => ('name' in tool ? tool.name : tool.type)).sort()
  return [
    ['instructions', plain(instructions.join(' '))],
    ['tools', names.join(' ')],
    ['format', output?.format?.type === 'schema' ? 'schema' : (output?.format?.type ?? 'text')],
    ...said.flatMap(({ by, kind, value }, i) =>
      entriesOf(`conversation/${i}/${by} ${kind}`, value),
    ),
  ]
}

type Said = { by: 'user' | 'assistant' | 'tool'; kind: string; value: unknown }

function saidBy(by: 'user' | 'assistant', part: Part): Said | undefined {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return { by, kind: 'text', value: part.text }
    case 'tool-call':
      return { by: 'assistant', kind: `call of ${part.name}`, value: inputOf(part.input) }
    case 'tool-result':
      return { by: 'tool', kind: 'result', value: part.content.map(textOf).join(' ') }
    case 'media':
      return { by, kind: part.kind === 'image' ? 'image' : 'file', value: '' }
    default:
      return undefined
  }
}

/** Protocols join and split texts that follow one another. */
function add(all: Said[], one: Said | undefined): void {
  const last = all.at(-1)
  if (!one || (one.kind === 'text' && one.value === '')) return
  if (last && last.kind === 'text' && one.kind === 'text' && last.by === one.by)
    last.value = `${String(last.value)} ${String(one.value)}`
  else all.push(one)
}

const textOf = (part: Part): string =>
  'text' in part && typeof part.text === 'string' ? part.text : ''

/** Arguments of a function are JSON; those of a freeform tool are text. */
function inputOf(input: unknown): unknown {
  if (typeof input !== 'string') return input
  try {
    return JSON.parse(input === '' ? '{}' : input) as unknown
  } catch {
    return input
  }
}

function entriesOf(path: string, value: unknown): [string, string][] {
  if (typeof value === 'string') return [[path, plain(value)]]
  if (Array.isArray(value)) return value.flatMap((one, i) => entriesOf(`${path}/${i}`, one))
  if (!isObject(value)) return [[path, String(value)]]
  const keys = Object.keys(value).sort()
  return keys.length === 0
    ? [[path, '{}']]
    : keys.flatMap(key => entriesOf(`${path}/${key}`, value[key]))
}

const plain = (text: string) => text.replaceAll(/\s+/g, ' ').trim()

/** How many entries two lists have in common at their beginnings. */
export function commonEntries(one: Essence, other: Essence): number {
  let common = 0
  for (const [path, value] of one) {
    const [place, found] = other[common] ?? []
    if (path !== place || value !== found) break
    common++
  }
  return common
}
