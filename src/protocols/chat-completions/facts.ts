import { isObject, type JsonObject } from '../../kit/json/json.ts'
import type { Detection, ProtocolFacts } from '../../protocol.ts'
import { decodeError } from './errors.ts'
import { type ChatCompletionsOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames, olderNames } from './request/fields.ts'
import { controlNames } from './request/settings.ts'

const requestFields = [
  'response_format',
  'max_completion_tokens',
  'functions',
  'function_call',
  'logit_bias',
  'reasoning_effort',
  'web_search_options',
  'frequency_penalty',
]
const roles = new Set<unknown>(['developer', 'tool', 'function'])
const blocks = new Set<unknown>(['image_url', 'input_audio'])

/** Finds signs that a body belongs to this protocol and to no other. */
function detect(body: unknown): Detection {
  const found: Detection = { request: [], response: [], event: [] }
  if (!isObject(body)) return found
  const { object, choices, messages } = body
  if (object === 'chat.completion') found.response.push('`object` is `chat.completion`')
  if (object === 'chat.completion.chunk') found.event.push('`object` is `chat.completion.chunk`')
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  if (isObject(first) && isObject(first['message']))
    found.response.push('`choices` hold a `message`')
  if (isObject(first) && isObject(first['delta']) && !isObject(first['message']))
    found.event.push('`choices` hold a `delta`')
  if (Array.isArray(messages)) {
    found.maybe = true
    const entries = messages.filter(isObject)
    detectRequest(body, entries, found.request)
    // Clients of a protocol that requires `max_tokens` write instructions so, too.
    if (
      found.request.length === 1 &&
      leadsWithSystem(entries) &&
      typeof body['max_tokens'] === 'number'
    )
      found.weak = true
  }
  return found
}

const leadsWithSystem = ([first]: readonly JsonObject[]) => first?.['role'] === 'system'

function detectRequest(body: JsonObject, messages: readonly JsonObject[], reasons: string[]): void {
  for (const field of requestFields)
    if (Object.hasOwn(body, field)) reasons.push(`it has \`${field}\``)
  const role = messages.find(message => roles.has(message['role']))?.['role']
  if (role) reasons.push(`a message has the role \`${role}\``)
  if (messages.some(message => Array.isArray(message['tool_calls'])))
    reasons.push('a message has `tool_calls`')
  if (leadsWithSystem(messages)) reasons.push('the first message has the role `system`')
  if (
    messages.some(
      ({ content }) =>
        Array.isArray(content) && content.some(part => isObject(part) && blocks.has(part['type'])),
    )
  )
    reasons.push('content holds `image_url` or `input_audio`')
  const tools = body['tools']
  if (Array.isArray(tools) && tools.some(tool => isObject(tool) && isObject(tool['function'])))
    reasons.push('`tools` hold a `function`')
}

/** What both halves have. */
export const facts: ProtocolFacts<ChatCompletionsOptions> & { readonly name: typeof protocolName } =
  {
    name: protocolName,
    address: { path },
    optionsKey: 'chatCompletions',
    options,
    fieldNames,
    olderNames: { ...olderNames, ...controlNames },
    detect,
    decodeError,
  }
