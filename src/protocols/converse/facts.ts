import { eventStream } from '../../eventstream/framing.ts'
import { isObject, type JsonObject } from '../../kit/json/json.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import type { Detection, ProtocolFacts } from '../../protocol.ts'
import { decodeError } from './errors.ts'
import { type ConverseOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'
import { signatureIssuers } from './vocabulary.ts'

const fields = [
  'inferenceConfig',
  'toolConfig',
  'additionalModelRequestFields',
  'guardrailConfig',
  'outputConfig',
  'requestMetadata',
]
const ownBlocks = [
  'toolUse',
  'toolResult',
  'reasoningContent',
  'cachePoint',
  'guardContent',
  'citationsContent',
  'document',
  'video',
]
const events = [
  'messageStart',
  'contentBlockStart',
  'contentBlockDelta',
  'contentBlockStop',
  'messageStop',
  'metadata',
]

/** Signs that a body can only be of this protocol. */
function detect(body: unknown): Detection {
  if (!isObject(body)) return { request: [], response: [], event: [] }
  return {
    request: requestSigns(body),
    response: responseSigns(body),
    event: eventSigns(body),
    ...(isConversation(body['messages']) && { maybe: true }),
  }
}

function requestSigns(body: JsonObject): string[] {
  const signs = flatMap(fields, field => (isObject(body[field]) ? [`it has \`${field}\``] : []))
  const { messages, system } = body
  const blocks = [
    ...blocksIn(messages),
    ...(Array.isArray(system) ? (system as unknown[]) : []),
  ].filter(isObject)
  const own = ownBlocks.find(kind =>
    blocks.some(block => !('type' in block) && isObject(block[kind])),
  )
  if (own !== undefined) signs.push(`a message has a block \`${own}\``)
  // The kind of a block is its key: others have a `type`.
  else if (
    isConversation(messages) &&
    blocks.some(block => typeof block['text'] === 'string' && !('type' in block))
  )
    signs.push('its blocks have no `type`')
  return signs
}

function blocksIn(messages: unknown): unknown[] {
  if (!Array.isArray(messages)) return []
  return flatMap(messages as unknown[], message =>
    isObject(message) && Array.isArray(message['content']) ? (message['content'] as unknown[]) : [],
  )
}

/** Content is always a list here. */
function isConversation(messages: unknown): boolean {
  return (
    Array.isArray(messages) &&
    messages.every(
      message =>
        isObject(message) && (message['content'] == null || Array.isArray(message['content'])),
    )
  )
}

function responseSigns({ output, stopReason, metrics }: JsonObject): string[] {
  const signs: string[] = []
  if (isObject(output) && isObject(output['message'])) signs.push('its message is in `output`')
  if (typeof stopReason === 'string' && isObject(output)) signs.push('it has a `stopReason`')
  if (isObject(metrics) && 'latencyMs' in metrics) signs.push('it has `metrics`')
  return signs
}

function eventSigns(body: JsonObject): string[] {
  if ('type' in body || 'object' in body) return []
  const event = events.find(name => isObject(body[name]))
  return event === undefined ? [] : [`it is an event \`${event}\``]
}

/** What both halves have. */
export const facts: ProtocolFacts<ConverseOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'converse',
  options,
  fieldNames,
  detect,
  decodeError,
  framing: eventStream,
  resold: { format: 'anthropic-claude-v1', issuer: signatureIssuers.claude, form: 'redacted' },
}
