import type { Part, Place, ToolCallPart, ToolResultPart } from '../../../canonical/message.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { objectInput, readInput } from '../../../kit/tools/object-input.ts'
import { keep, type MessagesReport, ownOf, ownUnder, wireOf, withInner } from '../own.ts'
import type { MessagesBlockOf } from '../schema.ts'
import { isCaller } from '../vocabulary.ts'
import type { MessagesWrittenBlock, MessagesWrittenBlockOf } from '../written.ts'
import { keepMarked } from './cache.ts'
import { contentOf, marked, type Writing } from './writing.ts'

/** Calls of the client's own tools, and their results. */

// ---- wire → canonical

/** Call ids that the server accepts. */
export const validCallId = /^[a-zA-Z0-9_-]{1,64}$/

const callKeys = keysOf<MessagesBlockOf<'tool_use'>>()(
  'type id name input caller toolset_name cache_control',
)

export function decodeCall(
  block: MessagesBlockOf<'tool_use'>,
  at: Place,
  report: MessagesReport,
): ToolCallPart {
  const { id, name, input, caller, toolset_name: toolset } = block
  if (typeof input === 'string' && input.trim())
    report.add('tool-call.input-text', below(at, 'input'))
  const isDirect = isObject(caller) && caller['type'] === 'direct'
  const part: ToolCallPart = omitNullish({
    type: 'tool-call' as const,
    id: id ?? '',
    idOrigin: 'wire' as const,
    name,
    kind: 'function' as const,
    input: readInput(input),
    // The model itself is no caller in the canonical model.
    caller: isDirect ? undefined : caller,
    toolset,
    at,
  })
  return keepMarked(
    part,
    block,
    callKeys,
    isDirect ? withInner(undefined, 'caller', unknownOf(caller, callerKeys)) : undefined,
  )
}

const callerKeys = keysOf<{ type: string }>()('type')

/**
 * LiteLLM gives its clients the signature of a call of Gemini in a field of the block, and reads it
 * there when the call comes back. What is not such a signature stays among the unknown keys.
 */
export function signedByProxy(part: Part): Part {
  const beside = part.type === 'tool-call' ? ownUnder(part.ext, proxyKey) : undefined
  if (!beside) return part
  const { signature: value, ...others } = beside
  if (typeof value !== 'string' || value === '') return part
  const { [proxyKey]: _, ...fields } = ownOf(part.ext) ?? {}
  const { ext: __, ...call } = part
  call.signature ??= { value, issuer: 'generate-content', form: 'thought', byProxy: true }
  if (Object.keys(others).length > 0) fields[proxyKey] = others
  return keep(call, Object.keys(fields).length > 0 ? fields : undefined)
}

const proxyKey = 'provider_specific_fields'

/**
 * The signature in the field of the proxy that gave it. Undefined: the call has none of a proxy, or
 * the proxy is not who gets it.
 */
export const proxyFieldOf = ({ signature }: Part, { native }: Writing): JsonObject | undefined =>
  native && signature?.byProxy ? { signature: signature.value } : undefined

const resultKeys = keysOf<MessagesBlockOf<'tool_result'>>()(
  'type tool_use_id content is_error toolset_name cache_control',
)

/** `content`: its decoded content. */
export function decodeResult(
  block: MessagesBlockOf<'tool_result'>,
  at: Place,
  content: Part[],
): ToolResultPart {
  const { tool_use_id: callId, is_error: isError, toolset_name: toolset } = block
  return keepMarked(
    omitNullish({
      type: 'tool-result' as const,
      callId,
      kind: 'function' as const,
      content,
      isError,
      toolset,
      at,
    }),
    block,
    resultKeys,
  )
}

// ---- canonical → wire

const writtenCall = bookOf<ToolCallPart>()(
  { 'message.envelope': 'itemId status' },
  'type id idOrigin name namespace kind input caller toolset cut cache signature at ext',
)

export function encodeCall(
  part: ToolCallPart,
  writing: Writing,
): MessagesWrittenBlockOf<'tool_use'> {
  const { report, native, to } = writing
  const { name, namespace, kind, input, caller, toolset, cut, at, ext } = part
  report.node(part, writtenCall)
  if (cut && input.trim()) report.add('tool-call.cut', at, 'input')
  if (!isCaller(caller)) report.add('field.unsupported', at, 'caller')
  const call = wireOf<MessagesWrittenBlockOf<'tool_use'>>(
    {
      type: 'tool_use',
      id: writing.callIdOfPart(part),
      name: writing.toolName(name, namespace, at),
      input: cut ? {} : objectInput(part, kind, writing),
      caller:
        (isCaller(caller) ? caller : undefined) ??
        (!native && to === 'client' ? { type: 'direct' } : undefined),
      toolset_name: toolset,
      [proxyKey]: proxyFieldOf(part, writing),
    },
    ext,
  )
  return marked(call, part, writing)
}

const writtenResult = bookOf<ToolResultPart>()(
  { 'message.envelope': 'itemId status' },
  'type callId kind content structured isError toolset synthesized cache signature at ext',
)

/** `blocks`: its encoded content. */
export function encodeResult(
  part: ToolResultPart,
  blocks: MessagesWrittenBlock[],
  writing: Writing,
): MessagesWrittenBlockOf<'tool_result'> {
  const { report, native } = writing
  const { isError, toolset, synthesized, at, ext } = part
  report.node(part, writtenResult)
  // The server takes only text in a failed result.
  const isFlagged = isError && (native || blocks.every(({ type }) => type === 'text'))
  if (isError && !isFlagged) report.add('tool-result.error-flag', at, 'isError')
  const result: MessagesWrittenBlockOf<'tool_result'> = {
    type: 'tool_result',
    tool_use_id: writing.callIdOfPart(part),
    content: blocks.length === 0 ? undefined : contentOf(blocks),
    is_error: isFlagged || undefined,
    toolset_name: toolset,
  }
  const block = marked(wireOf<typeof result>(result, ext), part, writing)
  if (synthesized) report.addMade('tool-result.synthesized', block)
  return block
}
