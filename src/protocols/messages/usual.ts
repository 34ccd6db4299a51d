import type { UsualRequest, UsualTool } from '../../canonical/usual.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { bareText, hasOnly, inputObject, isText, readFields, readSetting, textsOf, UsualTurns, usualTool, usualTools } from '../../kit/usual.ts'
import type { Usual, UsualWritten } from '../../protocol.ts'
import { takesNoSampling } from './models.ts'

/** Requests of the usual kind, without the canonical model: see `canonical/usual.ts`. */
export const usual: Usual = {
  read,
  write,
  // A request without a limit goes the plain way.
  indifferent: new Set(['requireMaxTokens', 'defaultMaxTokens']),
}

// ---- reading

const fields = ['model', 'max_tokens', 'system', 'messages', 'temperature', 'stream', 'tools', 'tool_choice']

function read(wire: unknown): UsualRequest | undefined {
  const request = readFields(wire, fields, readField)
  return request?.maxTokens === undefined ? undefined : request
}

function readField(key: string, value: unknown, request: UsualRequest): boolean {
  switch (key) {
    case 'model':
      return readSetting('model', value, request)
    case 'max_tokens':
      return readSetting('maxTokens', value, request)
    case 'system': {
      const [text, more] = textsOf(value, 'text') ?? []
      request.instructions = { text: text as string, isMessage: false }
      return isText(text) && more === undefined
    }
    case 'messages':
      return Array.isArray(value) && readMessages(value, request)
    case 'temperature':
      return readSetting('temperature', value, request)
    case 'stream':
      return readSetting('stream', value, request)
    case 'tools':
      request.tools = usualTools(value, readTool)
      return request.tools !== undefined
    case 'tool_choice':
      request.mayCall = true
      return hasOnly(value, ['type']) && value['type'] === 'auto'
    default:
      return false
  }
}

function readMessages(messages: readonly unknown[], request: UsualRequest): boolean {
  const conversation = new UsualTurns()
  for (const message of messages) {
    if (!hasOnly(message, ['role', 'content'])) return false
    const { role, content } = message
    if (role === 'user' ? !readUser(content, conversation) : role !== 'assistant' || !readAssistant(content, conversation)) return false
  }
  request.turns = conversation.turns
  return conversation.isWhole()
}

/** Results come first, all of them in one message. */
function readUser(content: unknown, conversation: UsualTurns): boolean {
  if (!Array.isArray(content)) return conversation.user(textsOf(content, 'text'))
  const results = content.findIndex(block => !isObject(block) || block['type'] !== 'tool_result')
  if (results < 0) return content.length > 0 && content.every(block => readResult(block, conversation)) && conversation.isSettled()
  for (let i = 0; i < results; i++) if (!readResult(content[i], conversation)) return false
  return conversation.user(textsOf(results > 0 ? content.slice(results) : content, 'text'))
}

function readResult(block: unknown, conversation: UsualTurns): boolean {
  if (!hasOnly(block, ['type', 'tool_use_id', 'content'])) return false
  const [text, more] = textsOf(block['content'], 'text') ?? []
  return more === undefined && conversation.result(block['tool_use_id'], text)
}

function readAssistant(content: unknown, conversation: UsualTurns): boolean {
  if (!Array.isArray(content)) return conversation.assistant(content ?? '')
  const text = bareText(content[0], 'text')
  if (content.length === 0 || !conversation.assistant(text)) return false
  for (let i = text === undefined ? 0 : 1; i < content.length; i++) {
    const block: unknown = content[i]
    const isCall = hasOnly(block, ['type', 'id', 'name', 'input']) && block['type'] === 'tool_use' && isObject(block['input'])
    if (!isCall || !conversation.call(block['id'], block['name'], block['input'])) return false
  }
  return true
}

function readTool(tool: unknown): UsualTool | undefined {
  if (!hasOnly(tool, ['name', 'description', 'input_schema', 'strict'])) return undefined
  const { name, description, input_schema: parameters, strict } = tool
  return usualTool({ name, description, parameters, strict })
}

// ---- writing

function write({ model, instructions, turns, tools, mayCall, temperature, maxTokens, stream }: UsualRequest): UsualWritten | undefined {
  if (maxTokens === undefined || (temperature !== undefined && takesNoSampling(model))) return undefined
  const messages: JsonObject[] = []
  /** The message that begins with the results of a turn. What the user says next is added to it. */
  let answering: JsonObject[] | undefined
  for (const turn of turns) {
    if (turn.role === 'results') {
      answering = turn.results.map(({ call, text }) => ({ type: 'tool_result', tool_use_id: call.id, content: text }))
      messages.push({ role: 'user', content: answering })
    } else if (turn.role === 'user') {
      if (answering) answering.push(...turn.texts.map(textBlock))
      else messages.push({ role: 'user', content: turn.texts.length === 1 ? turn.texts[0] : turn.texts.map(textBlock) })
    } else {
      answering = undefined
      const blocks: JsonObject[] = turn.text === undefined ? [] : [textBlock(turn.text)]
      for (const call of turn.calls) {
        const input = inputObject(call)
        if (!input) return undefined
        blocks.push({ type: 'tool_use', id: call.id, name: call.name, input })
      }
      messages.push({ role: 'assistant', content: turn.calls.length === 0 ? turn.text : blocks })
    }
  }
  const wire = defined({
    model,
    max_tokens: maxTokens,
    system: instructions?.text,
    messages,
    tools: tools?.map(({ name, description, parameters }) => defined({ name, description, input_schema: parameters })),
    tool_choice: mayCall ? { type: 'auto' } : undefined,
    temperature,
    stream,
  })
  return { wire, notes: [] }
}

const textBlock = (text: string): JsonObject => ({ type: 'text', text })
