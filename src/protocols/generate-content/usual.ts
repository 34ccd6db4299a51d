import type { UsualRequest, UsualResult, UsualTool, UsualTurn } from '../../canonical/usual.ts'
import { defined, some } from '../../kit/defined.ts'
import { isObject, type JsonObject } from '../../kit/json.ts'
import { bareText, bareTexts, hasOnly, inputObject, isText, readFields, readSetting, UsualTurns, usualTool, usualTools } from '../../kit/usual.ts'
import type { Usual, UsualWritten } from '../../protocol.ts'
import { match, target } from './address.ts'
import { signsNothing } from './conversation.ts'
import { decodeSchema } from './json-schema.ts'
import { createGeminiReport } from './notes.ts'
import { placeholder } from './reasoning.ts'

/** Requests of the usual kind, without the canonical model: see `canonical/usual.ts`. */
export const usual: Usual = { read, write }

// ---- reading

const fields = ['systemInstruction', 'contents', 'tools', 'toolConfig', 'generationConfig', 'store']

function read(wire: unknown, path: string | undefined): UsualRequest | undefined {
  const request = readFields(wire, fields, readField)
  if (!request || path === undefined) return request
  const asked = match(path)
  if (asked?.operation !== 'generate') return undefined
  request.model = asked.model
  request.stream = asked.stream
  return request
}

function readField(key: string, value: unknown, request: UsualRequest): boolean {
  switch (key) {
    case 'systemInstruction': {
      const [text, more] = (hasOnly(value, ['parts']) && bareTexts(value['parts'])) || []
      request.instructions = { text: text as string, isMessage: false }
      return isText(text) && more === undefined
    }
    case 'contents':
      return Array.isArray(value) && readContents(value, request)
    case 'tools': {
      const [tool, more] = Array.isArray(value) ? (value as unknown[]) : []
      if (more !== undefined || !hasOnly(tool, ['functionDeclarations'])) return false
      request.tools = usualTools(tool['functionDeclarations'], readTool)
      return request.tools !== undefined
    }
    case 'toolConfig': {
      const calling = hasOnly(value, ['functionCallingConfig']) && value['functionCallingConfig']
      request.mayCall = true
      return hasOnly(calling, ['mode']) && calling['mode'] === 'AUTO'
    }
    case 'generationConfig': {
      if (!hasOnly(value, ['temperature', 'maxOutputTokens'])) return false
      for (const name in value) if (!readSetting(name === 'temperature' ? name : 'maxTokens', value[name], request)) return false
      return true
    }
    case 'store':
      return readSetting('storeless', value, request)
    default:
      return false
  }
}

function readContents(contents: readonly unknown[], request: UsualRequest): boolean {
  const conversation = new UsualTurns()
  for (const content of contents) {
    if (!hasOnly(content, ['role', 'parts'])) return false
    const { role, parts } = content
    if (!Array.isArray(parts) || parts.length === 0) return false
    if (role === 'user' ? !readUser(parts, conversation) : role !== 'model' || !readModel(parts, conversation)) return false
  }
  request.turns = conversation.turns
  return conversation.isWhole()
}

function readUser(parts: readonly unknown[], conversation: UsualTurns): boolean {
  const areResults = isObject(parts[0]) && parts[0]['functionResponse'] !== undefined
  return areResults ? parts.every(part => readResult(part, conversation)) && conversation.isSettled() : conversation.user(bareTexts(parts))
}

function readResult(part: unknown, conversation: UsualTurns): boolean {
  const result = hasOnly(part, ['functionResponse']) && part['functionResponse']
  if (!hasOnly(result, ['id', 'name', 'response'])) return false
  const { id, name, response } = result
  return hasOnly(response, ['output']) && conversation.result(id, response['output'], name)
}

function readModel(parts: readonly unknown[], conversation: UsualTurns): boolean {
  const text = bareText(parts[0])
  if (!conversation.assistant(text)) return false
  for (let i = text === undefined ? 0 : 1; i < parts.length; i++) {
    const part: unknown = parts[i]
    const call = hasOnly(part, callKeys) && (part['thoughtSignature'] ?? placeholder) === placeholder && part['functionCall']
    if (!hasOnly(call, ['id', 'name', 'args']) || !isObject(call['args']) || !conversation.call(call['id'], call['name'], call['args'])) return false
  }
  return true
}

const callKeys = ['functionCall', 'thoughtSignature']

function readTool(tool: unknown): UsualTool | undefined {
  if (!hasOnly(tool, ['name', 'description', 'parametersJsonSchema']) || !isObject(tool['parametersJsonSchema'])) return undefined
  const { name, description, parametersJsonSchema } = tool
  return usualTool({ name, description, parameters: decodeSchema(parametersJsonSchema) })
}

// ---- writing

function write({ model, instructions, turns, tools, mayCall, temperature, maxTokens, storeless, stream }: UsualRequest): UsualWritten | undefined {
  // The path says both; without a model there is none, and a note says so.
  if (!model && stream !== undefined) return undefined
  const report = createGeminiReport()
  const isSigned = !signsNothing(model)
  const contents: JsonObject[] = []
  for (const turn of turns) {
    if (turn.role === 'user') contents.push({ role: 'user', parts: turn.texts.map(text => ({ text })) })
    else if (turn.role === 'results') contents.push({ role: 'user', parts: turn.results.map(writeResult) })
    else {
      const parts = writeModel(turn, isSigned)
      if (!parts) return undefined
      if (isSigned && turn.calls.length > 0)
        report.add('reasoning.placeholder-signature', `/contents/${contents.length}/parts/${turn.text === undefined ? 0 : 1}/thoughtSignature`)
      contents.push({ role: 'model', parts })
    }
  }
  const wire = defined({
    systemInstruction: instructions && { parts: [{ text: instructions.text }] },
    contents,
    tools: tools && [
      { functionDeclarations: tools.map(({ name, description, parameters }) => defined({ name, description, parametersJsonSchema: parameters })) },
    ],
    toolConfig: mayCall ? { functionCallingConfig: { mode: 'AUTO' } } : undefined,
    generationConfig: some({ temperature, maxOutputTokens: maxTokens }),
    store: storeless ? false : undefined,
  })
  return { wire, notes: report.notes, path: model && target({ operation: 'generate', model, stream: stream ?? false }) }
}

/** The first call of a turn has the placeholder for a signature: see `encodeForeign` in `conversation.ts`. */
function writeModel({ text, calls }: Extract<UsualTurn, { role: 'assistant' }>, isSigned: boolean): JsonObject[] | undefined {
  const parts: JsonObject[] = text === undefined ? [] : [{ text }]
  for (const call of calls) {
    const args = inputObject(call)
    if (!args) return undefined
    const functionCall = { name: call.name, args, id: call.id }
    parts.push(isSigned && call === calls[0] ? { functionCall, thoughtSignature: placeholder } : { functionCall })
  }
  return parts
}

function writeResult({ call, text }: UsualResult): JsonObject {
  return { functionResponse: { name: call.name, response: { output: text }, id: call.id } }
}
