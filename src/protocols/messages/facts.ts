import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import type { Detection, ProtocolFacts } from '../../protocol.ts'
import { decodeError } from './errors.ts'
import { type MessagesOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'

const eventTypes = new Set([
  'message_start',
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
])
const ownBlocks = new Set([
  'tool_use',
  'tool_result',
  'redacted_thinking',
  'server_tool_use',
  'search_result',
])

/** Signs that a body can only be of this protocol. */
function detect(body: unknown): Detection {
  if (!isObject(body)) return { request: [], response: [], event: [] }
  return {
    request: requestSigns(body),
    response: responseSigns(body),
    event: eventSigns(body),
    ...(Array.isArray(body['messages']) && { maybe: true }),
  }
}

function requestSigns(body: JsonObject): string[] {
  const { messages: list, tools } = body
  if (!Array.isArray(list)) return []
  const signs: string[] = []
  if ('system' in body && !isOfOtherBlocks(body['system']))
    signs.push('`system` is next to `messages`')
  if ('stop_sequences' in body) signs.push('it has `stop_sequences`')
  if ('anthropic_version' in body) signs.push('it has `anthropic_version`')
  if ('output_config' in body) signs.push('it has `output_config`')
  if (Array.isArray(tools) && tools.some(tool => isObject(tool) && isObject(tool['input_schema'])))
    signs.push('a tool has `input_schema`')
  const blocks = flatMap(list, message =>
    isObject(message) && Array.isArray(message['content']) ? (message['content'] as unknown[]) : [],
  )
  if (
    blocks.some(
      block => isObject(block) && typeof block['type'] === 'string' && ownBlocks.has(block['type']),
    )
  )
    signs.push('a message has blocks of this protocol')
  // Chat bodies may have cache marks too: they count only if a leading system message, and nothing
  // else, suggests chat.
  const first: unknown = list[0]
  const marked = blocks.some(block => isObject(block) && isObject(block['cache_control']))
  const hasFunctions =
    Array.isArray(tools) && tools.some(tool => isObject(tool) && isObject(tool['function']))
  if (
    marked &&
    isObject(first) &&
    first['role'] === 'system' &&
    typeof body['max_tokens'] === 'number' &&
    !hasFunctions &&
    !list.some(isOfChat)
  )
    signs.push('it has `max_tokens`, and blocks bear `cache_control`')
  return signs
}

/** Blocks without a type are of a protocol whose blocks have their kind as key. */
const isOfOtherBlocks = (system: unknown) =>
  Array.isArray(system) &&
  system.length > 0 &&
  system.every(block => isObject(block) && !('type' in block))

const isOfChat = (message: unknown) =>
  isObject(message) &&
  (message['role'] === 'tool' || message['role'] === 'developer' || 'tool_calls' in message)

function responseSigns({ type, content, role, stop_reason }: JsonObject): string[] {
  const signs: string[] = []
  if (type === 'message' && Array.isArray(content) && role === 'assistant')
    signs.push('it is a `message` of an assistant with blocks of content')
  if (type === 'message' && stop_reason !== undefined) signs.push('it has a `stop_reason`')
  return signs
}

function eventSigns({ type, error }: JsonObject): string[] {
  if (type === 'error' && isObject(error) && typeof error['type'] === 'string')
    return ['it is an `error` that holds an error with a type']
  return typeof type === 'string' && eventTypes.has(type) ? [`its type is \`${type}\``] : []
}

/** What both halves have. */
export const facts: ProtocolFacts<MessagesOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'messages',
  options,
  fieldNames,
  olderNames: { 'output.format': ['output_format'] },
  detect,
  decodeError,
  resold: { format: 'anthropic-claude-v1', issuer: protocolName, form: 'redacted' },
}
