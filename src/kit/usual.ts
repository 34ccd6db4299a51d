import type { UsualCall, UsualRequest, UsualResult, UsualTool, UsualTurn } from '../canonical/usual.ts'
import { holdsNumber, isObject, type JsonObject, keepsNumbers, parseShallow } from './json.ts'

/** What the readers and writers of requests of the usual kind share, see `canonical/usual.ts`. */

/** Valid as a name of a function on every wire. */
const plainName = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/
/** Valid as an id of a call on every wire. */
const plainId = /^[a-zA-Z0-9_-]{1,40}$/

/** Puts a conversation together. Each method says whether it is still of the usual kind. */
export class UsualTurns {
  readonly turns: UsualTurn[] = []
  readonly #ids = new Set<string>()
  #calls: UsualCall[] = []
  #results: UsualResult[] = []

  user(texts: readonly unknown[] | undefined): boolean {
    if (!texts || texts.length === 0 || !texts.every(isText) || !this.isSettled()) return false
    this.turns.push({ role: 'user', texts })
    return true
  }

  /** `text` undefined: the turn begins with a call. */
  assistant(text: unknown): boolean {
    if (!this.isSettled() || this.turns.at(-1)?.role === 'assistant' || (text !== undefined && !isText(text))) return false
    this.#calls = []
    this.#results = []
    this.turns.push({ role: 'assistant', text, calls: this.#calls })
    return true
  }

  /** A call of the last turn, which is the model's. */
  call(id: unknown, name: unknown, input: unknown): boolean {
    if (typeof id !== 'string' || !plainId.test(id) || id.includes('__sig_') || this.#ids.has(id)) return false
    if (typeof name !== 'string' || !plainName.test(name)) return false
    if (typeof input === 'string' ? input.trim() === '' : !isFair(input) || !isJson(input, 100)) return false
    this.#ids.add(id)
    this.#calls.push({ id, name, input: input as string | JsonObject })
    return true
  }

  /** `name`: of the tool, on wires that repeat it. */
  result(id: unknown, text: unknown, name?: unknown): boolean {
    const call = this.#calls[this.#results.length]
    if (call === undefined || call.id !== id || !isText(text) || (name !== undefined && call.name !== name)) return false
    if (this.#results.length === 0) this.turns.push({ role: 'results', results: this.#results })
    this.#results.push({ call, text })
    return true
  }

  /** A conversation that ends with the model's words has them continued, which not every server does. */
  isWhole(): boolean {
    const last = this.turns.at(-1)
    return last !== undefined && last.role !== 'assistant' && this.isSettled()
  }

  /** Are all calls answered, and did the last turn say anything? */
  isSettled(): boolean {
    const last = this.turns.at(-1)
    const isSilent = last?.role === 'assistant' && last.text === undefined && last.calls.length === 0
    return this.#results.length === this.#calls.length && !isSilent
  }
}

/** Servers of messages refuse texts that are blank. */
export const isText = (text: unknown): text is string => typeof text === 'string' && /\S/.test(text)

/** Is this as a JSON text would give it, and not deep? */
function isJson(value: unknown, levels: number): boolean {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return true
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0)
  if (typeof value !== 'object' || levels === 0) return false
  if (Array.isArray(value)) return value.every(item => isJson(item, levels - 1))
  for (const key in value) if (!isJson(value[key as never], levels - 1)) return false
  return true
}

/** Is it an object that no protocol refuses for one of its keys? */
const isFair = (value: unknown): value is JsonObject => isObject(value) && !Object.hasOwn(value, '__proto__')

/** The texts of a content: a string, or a list of texts of this type. */
export function textsOf(content: unknown, type: string): string[] | undefined {
  return typeof content === 'string' ? [content] : bareTexts(content, type)
}

/** The texts of a list that holds nothing else. `type`: of its members, on wires where they have one. */
export function bareTexts(list: unknown, type?: string): string[] | undefined {
  if (!Array.isArray(list)) return undefined
  const texts: string[] = []
  for (const member of list) {
    const text = bareText(member, type)
    if (text === undefined) return undefined
    texts.push(text)
  }
  return texts
}

export function bareText(block: unknown, type?: string): string | undefined {
  if (!hasOnly(block, textKeys) || block['type'] !== type) return undefined
  return typeof block['text'] === 'string' ? block['text'] : undefined
}

const textKeys = ['type', 'text']

/** Is it an object without other keys? */
export function hasOnly(value: unknown, keys: readonly string[]): value is JsonObject {
  if (!isObject(value)) return false
  for (const key in value) if (!keys.includes(key)) return false
  return true
}

/** A tool as all wires can declare it. */
export function usualTool({ name, description, parameters, strict }: { [Key in keyof UsualTool]?: unknown }): UsualTool | undefined {
  const isUsual =
    typeof name === 'string' &&
    plainName.test(name) &&
    (description === undefined || typeof description === 'string') &&
    isFair(parameters) &&
    parameters['type'] === 'object' &&
    (strict === undefined || strict === false)
  return isUsual ? { name, description, parameters, strict } : undefined
}

/** The tools, each with a name of its own. */
export function usualTools(wires: unknown, read: (wire: unknown) => UsualTool | undefined): UsualTool[] | undefined {
  if (!Array.isArray(wires) || wires.length === 0) return undefined
  const names = new Set<string>()
  const tools: UsualTool[] = []
  for (const wire of wires) {
    const tool = read(wire)
    if (!tool || names.has(tool.name)) return undefined
    names.add(tool.name)
    tools.push(tool)
  }
  return tools
}

/** Reads a request field by field. Most that are not usual show it by a key, before their messages are read. */
export function readFields(
  wire: unknown,
  fields: readonly string[],
  read: (key: string, value: unknown, request: UsualRequest) => boolean,
): UsualRequest | undefined {
  if (!hasOnly(wire, fields)) return undefined
  const request: UsualRequest = { turns: [] }
  for (const key in wire) if (!read(key, wire[key], request)) return undefined
  return request.turns.length > 0 && (!request.mayCall || request.tools) ? request : undefined
}

/** Reads a setting that means the same on every wire. Says whether its value is one that every server takes. */
export function readSetting(name: 'model' | 'maxTokens' | 'temperature' | 'stream' | 'storeless', value: unknown, request: UsualRequest): boolean {
  if (request[name] !== undefined) return false
  switch (name) {
    case 'model':
      if (isText(value)) request.model = value
      break
    case 'maxTokens':
      if (Number.isSafeInteger(value) && (value as number) >= 16) request.maxTokens = value as number
      break
    case 'temperature':
      if (typeof value === 'number' && value >= 0 && value <= 1) request.temperature = value
      break
    case 'stream':
      if (typeof value === 'boolean') request.stream = value
      break
    case 'storeless':
      if (value === false) request.storeless = true
      break
    default:
      name satisfies never
  }
  return request[name] !== undefined
}

/** The arguments as text. */
export const inputText = ({ input }: UsualCall): string => (typeof input === 'string' ? input : JSON.stringify(input))

/** The arguments as an object. Undefined: the text is no object, or its numbers would lose digits. */
export function inputObject({ input }: UsualCall): JsonObject | undefined {
  if (typeof input !== 'string') return input
  const object = parseShallow(input)
  return object && (!holdsNumber(object) || keepsNumbers(input)) ? object : undefined
}
