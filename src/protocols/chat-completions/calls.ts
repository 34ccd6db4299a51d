import type { Part, ToolCallPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { holdsEnvelope } from '../../kit/envelope.ts'
import { mapCallId } from '../../kit/ids.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import type { Reading } from './assistant.ts'
import type { Writing } from './content.ts'
import { formOf, kept, own, protocolName, spell, told } from './own.ts'
import { decodeCallSignature, encodeCallSignature } from './reasoning.ts'
import type { ChatToolCall } from './schema.ts'
import { noteName, originalName } from './tools.ts'

/** Ids that every server of this shape takes. */
export const validCallId = /^[\x21-\x7e]{1,40}$/

export function readInput(input: unknown): { input: string } {
  if (typeof input === 'string') return { input }
  return { input: input === undefined || input === null ? '' : JSON.stringify(input) }
}

/** One of `tool_calls`; `ordinal` counts them. */
export function decodeCall(wire: ChatToolCall, { at, ordinal, reading }: { at: string; ordinal: number; reading: Reading }): Part {
  const { told: call, nulls } = told(wire)
  const { id, type, extra_content, ...more } = call
  const signature = decodeCallSignature(extra_content, reading.from)
  const link = id ? { id } : { id: reading.idOf(ordinal), idOrigin: 'synthesized' as const }
  const unknownExtra = extra_content === undefined || signature ? {} : { extra_content }
  const form = { nulls, id: id === '' ? '' : undefined, typeless: type === undefined || undefined, extra: signature ? extra_content : undefined }
  if (type === 'custom' && 'custom' in more && isObject(more.custom)) {
    const { custom, ...unknown } = more
    const { name, input, ...inner } = custom as { name: string; input?: string | null }
    const nested = Object.keys(inner).length > 0 ? { custom: inner } : {}
    return {
      type: 'tool-call',
      ...link,
      ...originalName(name, reading.context),
      kind: 'freeform',
      input: input ?? '',
      at,
      ...(signature && { signature }),
      ...kept({ ...unknown, ...unknownExtra, ...nested }, { ...form, ...(input === undefined && { inputless: true }), ...(input === null && { input }) }),
    }
  }
  if ((type === 'function' || type === undefined) && 'function' in more && isObject(more.function)) {
    const { function: fn, ...unknown } = more
    const { name, arguments: input, ...inner } = fn as { name: string; arguments?: unknown }
    if (isObject(input)) reading.report.add('tool-call.input-object', at, 'function/arguments')
    const nested = Object.keys(inner).length > 0 ? { function: inner } : {}
    const spelled = typeof input === 'string' ? {} : 'arguments' in fn ? { input } : { inputless: true }
    return {
      type: 'tool-call',
      ...link,
      ...originalName(name, reading.context),
      kind: 'function',
      ...readInput(input),
      at,
      ...(signature && { signature }),
      ...kept({ ...unknown, ...unknownExtra, ...nested }, { ...form, ...spelled }),
    }
  }
  return { type: 'opaque', protocol: protocolName, raw: wire, at, ...kept({}, { place: 'tool_calls' }) }
}

export function encodeLegacyCall(part: ToolCallPart, writing: Writing): JsonObject {
  const wire = spell({ name: writing.nameOf(part.name, part.namespace), arguments: spelledInput(part) }, part.ext)
  if (isMadeUp(part)) writing.report.addMade('tool-call.empty-input', wire, '/arguments')
  return wire
}

export function encodeCall(part: ToolCallPart, towards: 'client' | 'server', writing: Writing): JsonObject {
  const { type: _, id, idOrigin, itemId, status, name, namespace, kind, input, caller, async, toolset, cache, signature, at, ext, ...rest } = part
  const { report } = writing
  const form = formOf(ext)
  const isOwn = own(ext) !== undefined
  report.rest({ ...rest, ...(isDirect(caller) ? {} : { caller }), ...(async && { async }), toolset }, at)
  if (cache) report.add('cache.place', at, 'cache')
  if (itemId !== undefined || status !== undefined) report.once('message.ids', at)
  report.ext(ext, at)
  const written = writing.own ? id : mapCallId(id, validCallId)
  if (written !== id) report.add('tool-call.id', at, 'id')
  const shownId = isOwn && idOrigin === 'synthesized' ? (form['id'] as string | undefined) : written
  const extra = encodeExtra(signature, { form, towards, writing, at })
  const type = form['typeless'] ? undefined : kind === 'function' ? 'function' : 'custom'
  const text = spelledInput(part)
  const called = noteName(name, namespace, { at, writing })
  const inner = kind === 'function' ? { function: defined({ name: called, arguments: text }) } : { custom: defined({ name: called, input: text }) }
  const wire = spell({ id: shownId, type, ...inner, extra_content: extra }, ext)
  if (isMadeUp(part)) report.addMade('tool-call.empty-input', wire, '/function/arguments')
  return wire
}

function isDirect(caller: unknown): boolean {
  return caller === undefined || (isObject(caller) && caller['type'] === 'direct')
}

/** The arguments as they are to be written: as they came while they mean the same; never nothing for a function. */
function spelledInput(part: ToolCallPart): unknown {
  const { input, ext } = part
  const form = formOf(ext)
  if (form['inputless'] && input === '') return undefined
  if ('input' in form && readInput(form['input']).input === input) return form['input']
  return isMadeUp(part) ? '{}' : input
}

/** A function that got no arguments gets an empty object, for servers parse what they get. */
function isMadeUp({ input, kind, ext }: ToolCallPart): boolean {
  return input.trim() === '' && kind === 'function' && !own(ext)
}

function encodeExtra(
  signature: ToolCallPart['signature'],
  { form, towards, writing, at }: { form: JsonObject; towards: 'client' | 'server'; writing: Writing; at: string | undefined },
): unknown {
  if (!signature) return undefined
  const { extra } = form
  const sendable = towards === 'client' || !holdsEnvelope(extra)
  if (extra !== undefined && sendable && decodeCallSignature(extra, 'client')?.value === signature.value) return extra
  const spelled = towards === 'client' && writing.options.ccSignature === 'none' ? undefined : encodeCallSignature(signature, towards)
  if (spelled) return spelled
  writing.report.add(towards === 'client' ? 'reasoning.signature-dropped' : 'reasoning.foreign-signature', at, 'signature')
  return undefined
}
