import { isObject, type JsonObject } from '../../kit/json/json.ts'
import type { Detection, ProtocolFacts } from '../../protocol.ts'
import { decodeError } from './errors.ts'
import { options, type ResponsesOptions } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'
import { builtInItem } from './vocabulary.ts'

const itemTypes = new Set([
  'function_call',
  'function_call_output',
  'custom_tool_call',
  'custom_tool_call_output',
  'item_reference',
  'additional_tools',
  'compaction',
])

/** Finds signs that a body can only be of this protocol. */
function detect(body: unknown): Detection {
  const found: Detection = { request: [], response: [], event: [] }
  if (!isObject(body)) return found
  found.request = requestSigns(body)
  if (body['input'] !== undefined && body['encoding_format'] === undefined) found.maybe = true
  if (body['object'] === 'response') found.response.push('object is `response`')
  const { type } = body
  if (typeof type === 'string' && type.startsWith('response.'))
    found.event.push(`an event of type \`${type.slice(0, 60)}\``)
  return found
}

function requestSigns(body: JsonObject): string[] {
  const signs: string[] = []
  if (
    body['object'] !== undefined ||
    body['messages'] !== undefined ||
    body['contents'] !== undefined
  )
    return signs
  const { input } = body
  if (typeof input === 'string' && body['encoding_format'] === undefined)
    signs.push('`input` is the text of a request')
  if (Array.isArray(input) && input.some(isItem)) signs.push('`input` holds items')
  for (const key of ['previous_response_id', 'max_output_tokens', 'instructions'])
    if (body[key] !== undefined) signs.push(`\`${key}\` is a field of this protocol alone`)
  return signs
}

function isItem(item: unknown): boolean {
  if (!isObject(item)) return false
  const { type, role } = item
  if (typeof type === 'string')
    return (
      type === 'message' ||
      type === 'reasoning' ||
      itemTypes.has(type) ||
      builtInItem(type) !== undefined
    )
  return typeof role === 'string' && item['content'] !== undefined
}

/** What both halves have. */
export const facts: ProtocolFacts<ResponsesOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'responses',
  options,
  fieldNames,
  detect,
  decodeError,
}
