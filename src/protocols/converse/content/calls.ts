import type {
  Part,
  Place,
  ServerToolPart,
  ToolCallPart,
  ToolResultPart,
} from '../../../canonical/message.ts'
import { bookOf, keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish } from '../../../kit/fields/omit.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject } from '../../../kit/json/json.ts'
import { below } from '../../../kit/notes/path.ts'
import { objectInput, readInput } from '../../../kit/tools/object-input.ts'
import { blockOf, keepBoth, protocolName } from '../own.ts'
import type { ConverseBlockOf, ConverseInside } from '../schema.ts'
import { isServerType, systemTools } from '../vocabulary.ts'
import type { ConverseWrittenBlock } from '../written.ts'
import type { Reading, Writing } from './writing.ts'

/** Calls of the client's own tools and of tools that the provider ran, and their results. */

// ---- wire → canonical

/** Call ids that the server accepts. */
export const validCallId = /^[a-zA-Z0-9_.:-]{1,64}$/

const callBlockKeys = keysOf<ConverseBlockOf<'toolUse'>>()('toolUse')
const callKeys = keysOf<ConverseInside<'toolUse'>>()('toolUseId name input type')

export function decodeCall(
  block: ConverseBlockOf<'toolUse'>,
  at: Place,
  { report }: Reading,
): ToolCallPart | ServerToolPart {
  const { toolUse } = block
  const { name, input, type } = toolUse
  const id = toolUse.toolUseId ?? ''
  if (isServerType(type))
    return {
      type: 'server-tool',
      phase: 'call',
      tool: serverTool(name),
      id,
      protocol: protocolName,
      raw: block,
      at,
    }
  const inside = below(at, 'toolUse')
  if (typeof input === 'string' && input.trim())
    report.add('tool-call.input-text', below(inside, 'input'))
  const part: ToolCallPart = {
    type: 'tool-call',
    id,
    idOrigin: 'wire',
    name,
    kind: 'function',
    input: readInput(input),
    at: inside,
  }
  return keepBoth(part, unknownOf(toolUse, callKeys), unknownOf(block, callBlockKeys))
}

const serverTool = (name: string) => systemTools.get(name.replace(/_result$/, '')) ?? 'other'

const resultBlockKeys = keysOf<ConverseBlockOf<'toolResult'>>()('toolResult')
const resultKeys = keysOf<ConverseInside<'toolResult'>>()('toolUseId content status type')

/** `read`: reads the content of a result. */
export function decodeResult(
  block: ConverseBlockOf<'toolResult'>,
  at: Place,
  isResponse: boolean,
  read: (content: ConverseInside<'toolResult'>['content'], at: Place) => Part[],
): ToolResultPart | ServerToolPart {
  const { toolResult } = block
  const { toolUseId, content, status, type } = toolResult
  if (isResponse || isServerType(type))
    return {
      type: 'server-tool',
      phase: 'result',
      tool: serverTool(type ?? ''),
      id: toolUseId,
      protocol: protocolName,
      raw: block,
      at,
    }
  const inside = below(at, 'toolResult')
  const [only, ...others] = content ?? []
  const json = only && others.length === 0 ? only['json'] : undefined
  const part: ToolResultPart = omitNullish({
    type: 'tool-result' as const,
    callId: toolUseId,
    kind: 'function' as const,
    content: read(content, below(inside, 'content')),
    structured: isObject(json) ? json : undefined,
    isError: isErrorAt(status),
    at: inside,
  })
  const unknown = unknownOf(toolResult, resultKeys)
  return keepBoth(
    part,
    status == null || part.isError !== undefined ? unknown : { ...unknown, status },
    unknownOf(block, resultBlockKeys),
  )
}

/** Undefined: the status is absent or unknown. */
function isErrorAt(status: unknown): boolean | undefined {
  if (status === 'error') return true
  return status === 'success' ? false : undefined
}

// ---- canonical → wire

const writtenCall = bookOf<ToolCallPart>()(
  { 'message.envelope': 'itemId status' },
  'type id idOrigin name namespace kind input cut cache signature at ext',
)

export function encodeCall(part: ToolCallPart, writing: Writing): ConverseWrittenBlock {
  const { report } = writing
  const { name, namespace, kind, input, cut, at, ext } = part
  report.node(part, writtenCall)
  if (cut && input.trim()) report.add('tool-call.cut', at, 'input')
  return blockOf<ConverseWrittenBlock, 'toolUse'>(
    'toolUse',
    {
      toolUseId: writing.callIdOfPart(part),
      name: writing.toolName(name, namespace, at),
      input: cut ? {} : objectInput(part, kind, writing),
    },
    ext,
  )
}

const writtenResult = bookOf<ToolResultPart>()(
  { 'message.envelope': 'itemId status' },
  'type callId kind content structured isError synthesized cache signature at ext',
)

/** `blocks`: its encoded content. */
export function encodeResult(
  part: ToolResultPart,
  blocks: ConverseWrittenBlock[],
  writing: Writing,
): ConverseWrittenBlock {
  const { report, family, native } = writing
  const { isError, synthesized, at, ext } = part
  report.node(part, writtenResult)
  // Only these models refuse the field.
  const takesStatus = native || family !== 'writer'
  if (isError && !takesStatus) report.add('field.unsupported', at, 'isError')
  const content = isStructured(part) ? [{ json: part.structured }] : blocks
  // Claude takes only text in a failed result.
  const isFlagged =
    isError &&
    (native || family !== 'claude' || content.every(one => 'text' in one || 'json' in one))
  if (isError && takesStatus && !isFlagged) report.add('tool-result.error-flag', at, 'isError')
  // Several models refuse a result without content.
  const isEmpty = content.length === 0 && !native
  const isTold = isError !== undefined && isFlagged === isError && takesStatus
  const outcome = isError ? 'error' : 'success'
  const known = {
    toolUseId: writing.callIdOfPart(part),
    content,
    status: isTold ? outcome : undefined,
  }
  if (isEmpty) content.push({ text: isError ? '(error without text)' : '(no output)' })
  const block = blockOf<ConverseWrittenBlock, 'toolResult'>('toolResult', known, ext)
  if (isEmpty) report.addMade('tool-result.empty', content[0] ?? block)
  if (synthesized) report.addMade('tool-result.synthesized', block)
  return block
}

/** Is the text of the result nothing but its object? */
function isStructured({ structured, content }: ToolResultPart): boolean {
  const [only, ...others] = content
  return (
    isObject(structured) &&
    only?.type === 'text' &&
    others.length === 0 &&
    only.cache === undefined &&
    only.text === writeExact(structured)
  )
}
