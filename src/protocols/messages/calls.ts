import type { Part, Place, Signature, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject, parseJson } from '../../kit/json.ts'
import { objectInput } from '../../kit/object-input.ts'
import { below } from '../../kit/path.ts'
import { decodeMark } from './cache.ts'
import type { MessagesReport } from './notes.ts'
import { keep, ownForm, ownOf, splitNulls, under, wireOf } from './own.ts'
import type { MessagesBlockOf, MessagesRawBlock } from './schema.ts'
import { marked, type Writing } from './writing.ts'

/** Calls of the client's own tools, and their results. */

// ---- wire → canonical

export function decodeCall(wire: MessagesBlockOf<'tool_use'>, at: Place, report: MessagesReport): ToolCallPart {
  const { present: block, nothing } = splitNulls(wire)
  const { type: _, id, name, input, caller, toolset_name: toolset, cache_control, ...fields } = block
  if (typeof input === 'string' && input.trim()) report.add('tool-call.input-text', below(at, 'input'))
  const cache = decodeMark(cache_control)
  const direct = isObject(caller) && caller['type'] === 'direct' ? caller : undefined
  // The caller is not the model but code that the provider runs. Its dated name is written to this protocol only.
  const other = direct ? undefined : caller
  const spelled = input === undefined ? 'absent' : typeof input === 'string' ? 'string' : isObject(input) ? undefined : 'value'
  return {
    type: 'tool-call',
    id,
    idOrigin: 'wire',
    name,
    kind: 'function',
    input: input === undefined ? '' : typeof input === 'string' ? input : JSON.stringify(input),
    ...defined({ caller: other, toolset }),
    ...cache.known,
    at,
    ...keep(
      { ...fields, ...unknownOf(direct), ...cache.fields },
      { ...nothing, ...(direct && { caller: { type: 'direct' } }), ...cache.nothing },
      some({ input: spelled, caller: other === undefined ? undefined : 'own' }),
    ),
  }
}

/**
 * LiteLLM gives its clients the signature of a call of Gemini in a field of the block, and reads it there when the call comes back. What
 * is not such a signature stays among the unknown keys.
 */
export function signedByProxy(part: Part): Part {
  if (part.type !== 'tool-call') return part
  const { [proxyKey]: beside, ...fields } = ownOf(part.ext)?.fields ?? {}
  if (!isObject(beside)) return part
  const { signature: value, ...others } = beside
  if (typeof value !== 'string' || value === '') return part
  const { ext, ...call } = part
  const signature: Signature = part.signature ?? { value, issuer: 'generate-content', form: 'thought' }
  return { ...call, signature, ...keep({ ...fields, ...under(proxyKey, others) }, {}, { ...ownForm(ext), [proxyKey]: { signature: value } }) }
}

const proxyKey = 'provider_specific_fields'

/** The field of a proxy with the signature, as it came. Undefined: the call has another signature now. */
export function proxyFieldOf({ signature, ext }: Part): JsonObject | undefined {
  const came = ownForm(ext)?.[proxyKey]
  return isObject(came) && came['signature'] === signature?.value ? came : undefined
}

/** Unknown keys of the caller `direct`: the model itself, which is an absent caller in the canonical model. */
function unknownOf(direct: JsonObject | undefined): JsonObject {
  const { type: _, ...rest } = direct ?? {}
  return Object.keys(rest).length > 0 ? { caller: rest } : {}
}

/** `parts`: its content. `form`: whether the content was a string or blocks. */
export function decodeResult(wire: MessagesBlockOf<'tool_result'>, at: Place, { parts, form }: { parts: Part[]; form: string }): ToolResultPart {
  const { present: block, nothing } = splitNulls(wire)
  const { type: _, tool_use_id: callId, content, is_error: isError, toolset_name: toolset, cache_control, ...fields } = block
  const cache = decodeMark(cache_control)
  return {
    type: 'tool-result',
    callId,
    kind: 'function',
    content: parts,
    ...defined({ isError, toolset }),
    ...cache.known,
    at,
    ...keep({ ...fields, ...cache.fields }, { ...nothing, ...cache.nothing }, { content: content === undefined ? 'absent' : form }),
  }
}

// ---- canonical → wire

export function encodeCall(part: ToolCallPart, writing: Writing): MessagesRawBlock {
  const { report, native, to } = writing
  const { type: _, id, idOrigin: __, itemId, name, namespace, kind, input, caller, toolset, status, cut, cache, signature: ___, at, ext, ...rest } = part
  report.rest(rest, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const own = ownForm(ext)?.['input']
  const isCut = cut && own === undefined
  if (isCut && input.trim()) report.add('tool-call.cut', at, 'input')
  const foreignCaller = caller !== undefined && !ownOf(ext) && !native
  if (foreignCaller) report.add('field.unsupported', at, 'caller')
  const calledBy = (foreignCaller ? undefined : caller) ?? (!native && to === 'client' ? { type: 'direct' } : undefined)
  const call = wireOf(
    {
      type: 'tool_use',
      id: writing.callId(part),
      name: writing.toolName(name, namespace, at),
      input: isCut
        ? {}
        : own === 'absent' && !input
          ? undefined
          : own === 'string'
            ? input
            : own === 'value'
              ? (parseJson(input) ?? input)
              : objectInput(part, kind, writing),
      ...(calledBy !== undefined && { caller: calledBy }),
      ...(toolset !== undefined && { toolset_name: toolset }),
      [proxyKey]: proxyFieldOf(part),
    },
    ext,
  )
  return marked(call, part, writing)
}

/** `blocks`: its encoded content. */
export function encodeResult(part: ToolResultPart, blocks: MessagesRawBlock[], writing: Writing): MessagesRawBlock {
  const { report } = writing
  const {
    type: _,
    callId,
    name,
    namespace,
    kind: __,
    content: ____,
    structured: ___,
    isError,
    itemId,
    toolset,
    status,
    synthesized,
    cache,
    signature: _____,
    at,
    ext,
    ...rest
  } = part
  report.rest(rest, at)
  if (!writing.called?.has(callId)) report.rest({ name, namespace }, at)
  report.ext(ext, at)
  report.onceEach('message.envelope', at, { itemId, status })
  const spelled = ownForm(ext)?.['content']
  const only = blocks.length === 1 ? blocks[0] : undefined
  const plain = only?.type === 'text' && Object.keys(only).length === 2 && typeof only['text'] === 'string' ? only['text'] : undefined
  const written =
    blocks.length === 0 ? (spelled === 'string' ? '' : spelled === 'blocks' ? [] : undefined) : spelled !== 'blocks' && plain !== undefined ? plain : blocks
  const result = {
    type: 'tool_result',
    tool_use_id: writing.callId(part),
    ...(written !== undefined && { content: written }),
    ...(isError !== undefined && (isError || ownOf(ext)) && { is_error: isError }),
    ...(toolset !== undefined && { toolset_name: toolset }),
  }
  const block = marked(wireOf(result, ext), part, writing)
  if (synthesized) report.addMade('tool-result.synthesized', block)
  return block
}
