import type { UsualCall, UsualRequest, UsualTool } from '../../canonical/usual.ts'
import { defined } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { hasOnly, inputText, isText, readFields, readSetting, textsOf, UsualTurns, usualTool, usualTools } from '../../kit/usual.ts'
import type { Usual, UsualWritten } from '../../protocol.ts'
import { createResponsesReport } from './notes.ts'
import { keep } from './own.ts'

/** Requests of the usual kind, without the canonical model: see `canonical/usual.ts`. */
export const usual: Usual = { read, write }

// ---- reading

const fields = ['model', 'instructions', 'input', 'max_output_tokens', 'temperature', 'stream', 'store', 'include', 'tools', 'tool_choice']

function read(wire: unknown): UsualRequest | undefined {
  const request = readFields(wire, fields, readField)
  if (request) request.remembered = remembered(request, wire as JsonObject)
  return request
}

function readField(key: string, value: unknown, request: UsualRequest): boolean {
  switch (key) {
    case 'model':
      return readSetting('model', value, request)
    case 'instructions':
      if (request.instructions) return false
      request.instructions = { text: value as string, isMessage: false }
      return isText(value)
    case 'input':
      return readInput(value, request)
    case 'max_output_tokens':
      return readSetting('maxTokens', value, request)
    case 'temperature':
      return readSetting('temperature', value, request)
    case 'stream':
      return readSetting('stream', value, request)
    case 'store':
      return readSetting('storeless', value, request)
    case 'include':
      return isEncryptedOnly(value)
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

function readInput(input: unknown, request: UsualRequest): boolean {
  const conversation = new UsualTurns()
  const isRead = Array.isArray(input)
    ? input.every((item, i) => readItem(item, i === 0, conversation, request))
    : conversation.user(textsOf(input, 'input_text'))
  request.turns = conversation.turns
  return isRead && conversation.isWhole()
}

function readItem(item: unknown, isFirst: boolean, conversation: UsualTurns, request: UsualRequest): boolean {
  if (!isObject(item)) return false
  switch (item['type']) {
    case 'function_call':
      return hasOnly(item, callKeys) && readCall(item, conversation)
    case 'function_call_output':
      return hasOnly(item, resultKeys) && conversation.result(item['call_id'], item['output'])
    case undefined:
    case 'message':
      return hasOnly(item, messageKeys) && readMessage(item, isFirst, conversation, request)
    default:
      return false
  }
}

/** A call begins a turn of the model, if no text of it stands before. */
function readCall({ call_id: id, name, arguments: input }: JsonObject, conversation: UsualTurns): boolean {
  if (typeof input !== 'string') return false
  return (conversation.turns.at(-1)?.role === 'assistant' || conversation.assistant(undefined)) && conversation.call(id, name, input)
}

const callKeys = ['type', 'call_id', 'name', 'arguments']
const resultKeys = ['type', 'call_id', 'output']
const messageKeys = ['type', 'role', 'content']

function readMessage({ role, content }: JsonObject, isFirst: boolean, conversation: UsualTurns, request: UsualRequest): boolean {
  if (role === 'user') return conversation.user(textsOf(content, 'input_text'))
  const [text, more] = textsOf(content, role === 'assistant' ? 'output_text' : 'input_text') ?? []
  if (more !== undefined || !isText(text)) return false
  if (role === 'assistant') return conversation.assistant(text)
  if (role !== 'system' || !isFirst || request.instructions) return false
  request.instructions = { text, isMessage: true }
  return true
}

function readTool(tool: unknown): UsualTool | undefined {
  return hasOnly(tool, ['type', 'name', 'description', 'parameters', 'strict']) && tool['type'] === 'function' && tool['strict'] === false
    ? usualTool(tool)
    : undefined
}

/** Proofs of reasoning are always told to the other protocols, so that a request that asks for them asks for nothing. */
const isEncryptedOnly = (include: unknown): boolean => Array.isArray(include) && include.length === 1 && include[0] === 'reasoning.encrypted_content'

/** What `remembered` of `echo.ts` gives for this request. */
function remembered({ instructions, tools, temperature, maxTokens, storeless, stream }: UsualRequest, wire: JsonObject): UsualRequest['remembered'] {
  const at = '/instructions'
  return {
    messages:
      instructions && !instructions.isMessage ? [{ role: 'system', parts: [{ type: 'text', text: instructions.text, at }], origin: 'instructions', at }] : [],
    ...(tools && {
      tools: tools.map((tool, i) => ({ type: 'function', ...defined(tool), at: `/tools/${i}`, ...keep({}, {}, {}) })),
    }),
    ...(temperature !== undefined && { sampling: { temperature } }),
    ...(maxTokens !== undefined && { maxOutputTokens: maxTokens }),
    ...(storeless && { state: { store: false } }),
    ...keep(
      {},
      {},
      { input: typeof wire['input'] === 'string' ? 'string' : 'items', include: wire['include'], streamUnsaid: stream === undefined || undefined },
    ),
  }
}

// ---- writing

function write({ model, instructions, turns, tools, mayCall, temperature, maxTokens, storeless, stream }: UsualRequest): UsualWritten {
  const input: JsonObject[] = instructions?.isMessage ? [{ type: 'message', role: 'system', content: [inputBlock(instructions.text)] }] : []
  for (const turn of turns) {
    if (turn.role === 'user') input.push({ type: 'message', role: 'user', content: turn.texts.map(inputBlock) })
    else if (turn.role === 'results') for (const { call, text } of turn.results) input.push({ type: 'function_call_output', call_id: call.id, output: text })
    else {
      if (turn.text !== undefined) input.push({ type: 'message', role: 'assistant', content: turn.text })
      for (const call of turn.calls) input.push(writeCall(call))
    }
  }
  const report = createResponsesReport()
  if (!storeless) report.add('store.default', '/store')
  report.add('reasoning.include-encrypted', '/include')
  const wire = defined({
    model,
    instructions: instructions && !instructions.isMessage ? instructions.text : undefined,
    input,
    tools: tools?.map(({ name, description, parameters }) => defined({ type: 'function', name, description, parameters, strict: false })),
    tool_choice: mayCall ? 'auto' : undefined,
    max_output_tokens: maxTokens,
    temperature,
    stream,
    store: false,
    include: ['reasoning.encrypted_content'],
  })
  return { wire, notes: report.notes }
}

const inputBlock = (text: string): JsonObject => ({ type: 'input_text', text })
const writeCall = (call: UsualCall): JsonObject => ({ type: 'function_call', call_id: call.id, name: call.name, arguments: inputText(call) })
