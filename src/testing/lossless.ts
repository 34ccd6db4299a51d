import type { Note } from '../canonical/note.ts'
import { type Change, keysOf, mark } from './change.ts'
import { leaves } from './json.ts'

/**
 * Paths, with `*` for every index, whose values mean nothing to another protocol. A change there is
 * no loss.
 */
export const lossless: readonly RegExp[] = [
  // Values of a response that only name the kind of body and its speaker, which is always the
  // assistant.
  /response \/(object|type|role)$/,
  /response \/(choices\/\*|output)\/message\/role$/,
  /response \/output\/\*\/(type|role)$/,
  // Choices are counted by their position.
  /response \/(choices|candidates)\/\*\/index$/,
  // How long the model took, not what it wrote.
  /response \/metrics\/latencyMs$/,
  // How a stream is framed, not what it contains.
  /request \/stream_options\/include_(usage|obfuscation)$/,
  // Media types are case-insensitive.
  /\/mimeType$/,
  // Offsets beyond the text mean its end, and several offsets become one.
  /(start|end)_index$/,
]

/**
 * For a body whose kind is known from its keys. The name of an output schema is a label in every
 * protocol.
 */
export function isLossless(body: unknown, change: Change): boolean {
  const isResponse = responseKeys.some(key => valueAt(body, `/${key}`) !== undefined)
  const path = `${isResponse ? 'response' : 'request'} ${everyIndex(change.path)}`
  return [...lossless, ...labels].some(rule => rule.test(path)) || isEmptyEither(body, change)
}

/** No request of any protocol has one of these. */
const responseKeys = [
  'choices',
  'output',
  'candidates',
  'usage',
  'usageMetadata',
  'stop_reason',
  'object',
  'status',
  'type',
  'role',
]

const labels = [
  /request \/(response_format\/json_schema|text\/format)\/name$/,
  /request \/prompt_cache_options\/mode$/,
]

/** A failed response becomes an error, which has room for a message only. */
export const isError = (body: unknown): boolean =>
  typeof (valueAt(body, '/error') ?? undefined) === 'object' ||
  typeof valueAt(body, '/message') === 'string'

/** Differences between two ways to say nothing. */
export function isEmptyEither(wire: unknown, { path, before, after }: Change): boolean {
  const beside = (key: string) => valueAt(wire, `${parentOf(path)}/${key}`)
  // Who does not say anything.
  if (path.endsWith('/role'))
    return !leaves(beside('content')).some(
      ({ value, path: at }) =>
        typeof value === 'string' && value.trim() !== '' && /^(\/\d+\/text)?$/.test(at),
    )
  // Messages without content are left out, as most servers refuse them, with all that only
  // describes them.
  if (/^\/input\/\d+\/status$/.test(path) && beside('type') === 'message')
    return ['', '[]', 'null'].includes(emptyForm(beside('content')))
  // An empty text is neither shown nor thought.
  if (path.endsWith('/thought')) return beside('text') === ''
  // A call without arguments.
  if (/\/(arguments|input)$/.test(path))
    return [before, after].every(text => text === '' || text === '{}')
  // A file without a type is a PDF.
  if (path.endsWith('/file_data')) return !String(after).includes(mark)
  // With a refusal, the refusal is the finish reason.
  if (path.endsWith('/finish_reason'))
    return (
      typeof beside('message/refusal') === 'string' ||
      leaves(beside('message/content')).some(({ path: at }) => at.endsWith('/refusal'))
    )
  // Several names for the default tier.
  if (path.endsWith('/service_tier')) return !String(after).includes(mark)
  // Of several fields for the amount of thinking, one applies.
  if (path === '/reasoning_effort' || /^\/(reasoning|thinking)\//.test(path))
    return waysToThink.filter(place => valueAt(wire, place) != null).length > 1
  // How many calls at once, where there may be none.
  if (path === '/parallel_tool_calls')
    return beside('tool_choice') === 'none' || beside('function_call') === 'none' || !hasTools(wire)
  // Without tools there is nothing to choose.
  return (
    /^\/(tool_choice|function_call)$/.test(path) &&
    !hasTools(wire) &&
    [before, after].every(word => word === 'auto' || word === 'none')
  )
}

/**
 * If no tool was translated (each has a note), the model calls none: `auto` and `none` mean the
 * same, and the way back has neither.
 */
export function choosesAmongNone(before: unknown, after: unknown, change: Change): boolean {
  return (
    /^\/(tool_choice(\/type)?|function_call|toolConfig\/functionCallingConfig\/mode)$/.test(
      change.path,
    ) &&
    [change.before, change.after].every(word => /^(auto|none)$/i.test(String(word))) &&
    ![before, after].some(hasTools)
  )
}

const waysToThink = [
  '/reasoning_effort',
  '/reasoning',
  '/thinking',
  '/enable_thinking',
  '/thinking_budget',
]

const hasTools = (wire: unknown) =>
  ['/tools/0', '/functions/0'].some(place => valueAt(wire, place) !== undefined)

/**
 * Does a note of a loss name this path or one above it? A note for several paths names the first.
 */
export function covers(notes: Note[], path: string): boolean {
  const place = everyIndex(path)
  return notes.some(({ kind, code, path: at }) => {
    if (kind === 'synthesized') return false
    if (isInside(path, at)) return true
    const anywhere = everyIndex(at)
    return (
      isInside(place, anywhere) &&
      notes.filter(other => other.code === code && everyIndex(other.path) === anywhere).length === 1
    )
  })
}

const isInside = (path: string, at: string) => path === at || path.startsWith(`${at}/`)

export const everyIndex = (path: string) => path.replaceAll(/\/\d+(?=\/|$)/g, '/*')

const emptyForm = (content: unknown): string =>
  content === '' ? '' : (JSON.stringify(content) ?? 'null')

/** The value at a pointer; undefined: there is none. */
export function valueAt(body: unknown, path: string): unknown {
  let place = body
  for (const key of keysOf(path)) {
    if (typeof place !== 'object' || place === null || !Object.hasOwn(place, key)) return undefined
    place = (place as Record<string, unknown>)[key]
  }
  return place
}

export const parentOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')))
