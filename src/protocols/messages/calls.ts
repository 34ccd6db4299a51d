import type { Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { objectInput } from '../../kit/object-input.ts'
import { decodeCache } from './cache.ts'
import type { MessagesReport } from './notes.ts'
import { keep, nulls, ownForm, ownKeys, ownUnder } from './own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from './schema.ts'
import { name } from './vocabulary.ts'
import { mark, type Writing } from './writing.ts'

/** Calls of the client's own tools, and their results. */

// ---- wire → canonical

export function decodeCall(
  { type: _, id, name: called, input, caller, toolset_name, cache_control, ...fields }: MessagesBlockOf<'tool_use'>,
  at: string,
  report: MessagesReport,
): ToolCallPart {
  if (typeof input === 'string' && input.trim()) report.add('tool-call.input-text', `${at}/input`)
  const cache = decodeCache(cache_control)
  const direct = isObject(caller) && caller['type'] === 'direct' ? caller : undefined
  // Code that the provider runs; that it is of this provider, the form tells.
  const other = direct ? undefined : (caller ?? undefined)
  const spelled = input === undefined ? 'absent' : input === null ? 'null' : typeof input === 'string' ? 'string' : isObject(input) ? undefined : 'value'
  return {
    type: 'tool-call',
    id,
    idOrigin: 'wire',
    name: called,
    kind: 'function',
    input: input === undefined || input === null ? '' : typeof input === 'string' ? input : JSON.stringify(input),
    ...defined({ caller: other, toolset: toolset_name ?? undefined }),
    ...cache.known,
    at,
    ...keep(
      { ...fields, ...unknownOf(direct), ...cache.fields },
      { ...nulls({ caller, toolset_name }), ...(direct && { caller: { type: 'direct' } }), ...cache.nothing },
      { ...(spelled && { input: spelled }), ...(other !== undefined && { caller: 'own' }) },
    ),
  }
}

/** Of a call by the model itself, which is what an absent caller means. */
function unknownOf(direct: JsonObject | undefined): JsonObject {
  const { type: _, ...rest } = direct ?? {}
  return Object.keys(rest).length > 0 ? { caller: rest } : {}
}

/** `parts`: its content, and `form`: how that was spelled. */
export function decodeResult(block: MessagesBlockOf<'tool_result'>, at: string, { parts, form }: { parts: Part[]; form: string }): ToolResultPart {
  const { type: _, tool_use_id: callId, content, is_error, toolset_name, cache_control, ...fields } = block
  const cache = decodeCache(cache_control)
  return {
    type: 'tool-result',
    callId,
    kind: 'function',
    content: parts,
    ...defined({ isError: is_error ?? undefined, toolset: toolset_name ?? undefined }),
    ...cache.known,
    at,
    ...keep(
      { ...fields, ...cache.fields },
      { ...nulls({ is_error, toolset_name, content }), ...cache.nothing },
      { content: content == null ? 'absent' : form },
    ),
  }
}

// ---- canonical → wire

export function encodeCall(part: ToolCallPart, writing: Writing): MessagesRawBlock {
  const { report, native, to } = writing
  const { type: _, id, idOrigin: __, itemId, name: called, namespace, kind, input, caller, toolset, status, cache, signature: ___, at, ext, ...rest } = part
  report.rest(rest, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const own = isObject(ownForm(part)) ? ownForm(part)?.['input'] : undefined
  const foreignCaller = caller !== undefined && !ext?.[name] && !native
  if (foreignCaller) report.add('field.unsupported', at, 'caller')
  const call = {
    ...ownKeys(part),
    type: 'tool_use',
    id: writing.callId(part),
    name: writing.toolName(called, namespace, at),
    ...(own === 'absent' && !input
      ? {}
      : { input: own === 'null' && !input ? null : own === 'string' ? input : own === 'value' ? parseValue(input) : objectInput(part, kind, report) }),
    ...(caller !== undefined ? !foreignCaller && { caller } : defined({ caller: ownUnder(part, 'caller') })),
    ...(toolset !== undefined && { toolset_name: toolset }),
    ...mark(cache, part, writing),
  }
  return !native && to === 'client' ? { caller: { type: 'direct' }, ...call } : call
}

function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

/** `blocks`: its content, written. */
export function encodeResult(part: ToolResultPart, blocks: MessagesRawBlock[], writing: Writing): MessagesRawBlock {
  const { report } = writing
  const {
    type: _,
    callId,
    name: called,
    namespace,
    kind: __,
    content: ____,
    structured: ___,
    isError,
    itemId,
    toolset,
    status,
    cache,
    signature: _____,
    at,
    ext,
    ...rest
  } = part
  report.rest(rest, at)
  if (!writing.called?.has(callId)) report.rest({ name: called, namespace }, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const spelled = ownForm(part)?.['content']
  const only = blocks.length === 1 ? blocks[0] : undefined
  const plain = only?.type === 'text' && Object.keys(only).length === 2 && typeof only['text'] === 'string' ? only['text'] : undefined
  const written =
    blocks.length === 0 ? (spelled === 'string' ? '' : spelled === 'blocks' ? [] : undefined) : spelled !== 'blocks' && plain !== undefined ? plain : blocks
  return {
    ...ownKeys(part),
    type: 'tool_result',
    tool_use_id: writing.callId(part),
    ...(written !== undefined && { content: written }),
    ...(isError !== undefined && (isError || ext?.[name]) && { is_error: isError }),
    ...(toolset !== undefined && { toolset_name: toolset }),
    ...mark(cache, part, writing),
  }
}
