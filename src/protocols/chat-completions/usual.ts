import type { UsualCall, UsualRequest, UsualTool } from '../../canonical/usual.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { hasOnly, inputText, isText, readFields, readSetting, textsOf, UsualTurns, usualTool, usualTools } from '../../kit/usual.ts'
import type { Usual, UsualWritten } from '../../protocol.ts'

/** Requests of the usual kind, without the canonical model: see `canonical/usual.ts`. */
export const usual: Usual = { read, write }

// ---- reading

const fields = ['model', 'messages', 'max_tokens', 'max_completion_tokens', 'temperature', 'stream', 'stream_options', 'store', 'tools', 'tool_choice']

function read(wire: unknown): UsualRequest | undefined {
  const request = readFields(wire, fields, readField)
  return request?.wantsUsage && !request.stream ? undefined : request
}

function readField(key: string, value: unknown, request: UsualRequest): boolean {
  switch (key) {
    case 'model':
      return readSetting('model', value, request)
    case 'messages':
      return Array.isArray(value) && readMessages(value, request)
    case 'max_tokens':
    case 'max_completion_tokens':
      return readSetting('maxTokens', value, request)
    case 'temperature':
      return readSetting('temperature', value, request)
    case 'stream':
      return readSetting('stream', value, request)
    case 'stream_options':
      request.wantsUsage = true
      return hasOnly(value, ['include_usage']) && value['include_usage'] === true
    case 'store':
      return readSetting('storeless', value, request)
    case 'tools':
      request.tools = usualTools(value, readTool)
      return request.tools !== undefined
    case 'tool_choice':
      request.mayCall = true
      return value === 'auto'
    default:
      return false
  }
}

function readMessages(messages: readonly unknown[], request: UsualRequest): boolean {
  const conversation = new UsualTurns()
  for (let i = 0; i < messages.length; i++) if (!readMessage(messages[i], i === 0, conversation, request)) return false
  request.turns = conversation.turns
  return conversation.isWhole()
}

const plainKeys = ['role', 'content']
const modelKeys = ['role', 'content', 'tool_calls']
const resultKeys = ['role', 'tool_call_id', 'content']

function readMessage(message: unknown, isFirst: boolean, conversation: UsualTurns, request: UsualRequest): boolean {
  if (!isObject(message)) return false
  const { content } = message
  switch (message['role']) {
    case 'system':
      request.instructions = { text: content as string, isMessage: true }
      return isFirst && isText(content) && hasOnly(message, plainKeys)
    case 'user':
      return hasOnly(message, plainKeys) && conversation.user(textsOf(content, 'text'))
    case 'assistant': {
      const calls = message['tool_calls']
      if (!hasOnly(message, modelKeys) || !conversation.assistant(calls && (content === null || content === '') ? undefined : content)) return false
      return calls === undefined || (Array.isArray(calls) && calls.length > 0 && calls.every(call => readCall(call, conversation)))
    }
    case 'tool':
      return hasOnly(message, resultKeys) && conversation.result(message['tool_call_id'], content)
    default:
      return false
  }
}

function readCall(call: unknown, conversation: UsualTurns): boolean {
  if (!hasOnly(call, ['id', 'type', 'function']) || call['type'] !== 'function') return false
  const called = call['function']
  return hasOnly(called, ['name', 'arguments']) && typeof called['arguments'] === 'string' && conversation.call(call['id'], called['name'], called['arguments'])
}

function readTool(tool: unknown): UsualTool | undefined {
  if (!hasOnly(tool, ['type', 'function']) || tool['type'] !== 'function') return undefined
  const { function: declared } = tool
  return hasOnly(declared, ['name', 'description', 'parameters', 'strict']) ? usualTool(declared) : undefined
}

// ---- writing

function write(request: UsualRequest): UsualWritten {
  const { model, instructions, turns, tools, mayCall, temperature, maxTokens, storeless, stream } = request
  const messages: JsonObject[] = instructions ? [{ role: 'system', content: instructions.text }] : []
  for (const turn of turns) {
    if (turn.role === 'user')
      messages.push({ role: 'user', content: turn.texts.length === 1 ? turn.texts[0] : turn.texts.map(text => ({ type: 'text', text })) })
    else if (turn.role === 'results') for (const { call, text } of turn.results) messages.push({ role: 'tool', tool_call_id: call.id, content: text })
    else if (turn.calls.length === 0) messages.push({ role: 'assistant', content: turn.text })
    else messages.push({ role: 'assistant', content: turn.text ?? null, tool_calls: turn.calls.map(writeCall) })
  }
  const wire = defined({
    model,
    messages,
    tools: tools?.map(tool => ({ type: 'function', function: defined(tool) })),
    tool_choice: mayCall ? 'auto' : undefined,
    temperature,
    max_completion_tokens: maxTokens,
    store: storeless ? false : undefined,
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
  })
  return { wire, notes: [] }
}

const writeCall = (call: UsualCall): JsonObject => ({ id: call.id, type: 'function', function: { name: call.name, arguments: inputText(call) } })
