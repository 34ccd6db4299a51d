import type { JsonSchema } from '../../canonical/tool.ts'
import { isObject, parseJson } from '../../kit/json/json.ts'
import { colon, isOpening, nextToken, quote, startScan } from '../../kit/json/scan.ts'
import { repaired, repairedArguments, typed, typesOf } from '../repair.ts'
import type { Format, Pairs } from './formats.ts'

/**
 * A call that was found in text. `input`: its arguments as JSON. `completed`: of a call whose text
 * ended too early, the arguments if the model meant to end there.
 */
export type Call = { name: string; input: string; completed?: string }

/** The tools that a request offers, by their names on the wire. */
export type Tools = {
  names: readonly string[]
  schemas: Readonly<Record<string, JsonSchema | null>>
}

const isOffered = ({ schemas }: Tools, name: unknown): name is string =>
  typeof name === 'string' && Object.hasOwn(schemas, name)

const argumentKeys: readonly string[] = ['arguments', 'parameters']
const otherKeys: ReadonlySet<string> = new Set(['name', 'type', 'id', 'function', ...argumentKeys])

/**
 * The calls in a JSON object, or in a list of them. Undefined: one of them calls no offered tool.
 * `isStrict`: and has no other members.
 */
export function readMembers(text: string, tools: Tools, isStrict: boolean): Call[] | undefined {
  const known = parseJson(text)
  const value = known ?? parseJson(repaired(text) ?? '')
  const list = Array.isArray(value) ? value : [value]
  // The text of the arguments stays as it is, with its numbers: JavaScript would write some anew.
  const texts = known === undefined ? [] : argumentsIn(text)
  const calls = list.map((one, i) =>
    callOf(one, texts.length === list.length ? texts[i] : undefined),
  )
  const isValid = calls.every(call => call !== undefined && isOffered(tools, call.name))
  if (calls.length === 0 || !isValid) return undefined
  if (isStrict && !list.every(one => Object.keys(one as object).every(key => otherKeys.has(key))))
    return undefined
  return calls as Call[]
}

function callOf(value: unknown, text: string | undefined): Call | undefined {
  if (!isObject(value)) return undefined
  const { function: inner } = value
  if (isObject(inner)) return callOf(inner, text)
  const { name } = value
  if (typeof name !== 'string') return undefined
  const key = argumentKeys.find(one => Object.hasOwn(value, one))
  const given = key === undefined ? undefined : value[key]
  if (given === undefined || given === null) return { name, input: '{}' }
  if (typeof given === 'string') return { name, input: given.trim() === '' ? '{}' : given }
  return { name, input: text ?? JSON.stringify(given) }
}

/** The text of each member `arguments` or `parameters` of the calls in a JSON text. */
function argumentsIn(text: string): string[] {
  const found: string[] = []
  const scan = startScan()
  let key: string | undefined
  let from = -1
  let depth = 0
  for (let at = nextToken(scan, text, 0); at >= 0; at = nextToken(scan, text, at)) {
    if (from >= 0) {
      if (scan.depth > depth) continue
      found.push(text.slice(from, at))
      from = -1
      key = undefined
    } else if (scan.separator === colon) {
      if (key !== undefined && argumentKeys.includes(key) && isOpening(scan.token)) {
        from = scan.start
        depth = scan.depth - 1
      } else key = undefined
    } else key = scan.token === quote ? text.slice(scan.start + 1, at - 1) : undefined
  }
  if (from >= 0) found.push(text.slice(from))
  return found
}

/** Arguments that are written as JSON. */
export function readValue(text: string): string {
  const value = parseJson(text)
  return typeof value === 'string' ? value : text.trim()
}

/** Arguments that are written as pairs. */
export function readPairs(
  text: string,
  { pairs, ends }: Format,
  schema: JsonSchema | null | undefined,
): string {
  const [end = ''] = ends
  const body = text.endsWith(end) ? text.slice(0, -end.length) : text
  return `{${pairs ? membersOf(body, pairs, schema).members.join(',') : ''}}`
}

/** The members of the object, as JSON; `open`: the last one is not whole. */
function membersOf(
  text: string,
  { open, name, value, close, typed: hasType, lines }: Pairs,
  schema: JsonSchema | null | undefined,
): { members: string[]; open?: string } {
  const members: string[] = []
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at)) {
    const nameEnd = text.indexOf(name, at + open.length)
    if (nameEnd < 0) break
    const [key, attributes] = nameOf(text.slice(at + open.length, nameEnd), hasType === true)
    const afterName = nameEnd + name.length
    const from = value === '' ? afterName : text.indexOf(value, afterName) + value.length
    if (from < afterName) break
    const closed = text.indexOf(close, from)
    const raw = text.slice(from, closed < 0 ? text.length : closed)
    const content = lines ? raw.replace(/^\r?\n/, '').replace(/\r?\n$/, '') : raw
    if (closed < 0) return { members, open: `${JSON.stringify(key)}:${JSON.stringify(content)}` }
    members.push(`${JSON.stringify(key)}:${jsonOf(content, schemaOf(schema, key), attributes)}`)
    at = closed + close.length
  }
  return { members }
}

/** `"name" string="true"` or the name alone. */
function nameOf(text: string, hasType: boolean): [name: string, attributes: string] {
  const quoted = hasType ? /^\s*"([^"]*)"/.exec(text) : undefined
  return quoted ? [quoted[1] ?? '', text.slice(quoted[0].length)] : [text.trim(), '']
}

function schemaOf(schema: JsonSchema | null | undefined, key: string): unknown {
  const properties = schema?.['properties']
  return isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined
}

/** The value as JSON, of the type that its schema wants. Without one, JSON is JSON. */
function jsonOf(content: string, schema: unknown, attributes: string): string {
  if (attributes.includes('string="true"')) return JSON.stringify(content)
  const types = typesOf(schema)
  if (types.length === 0) {
    const plain = content.trim()
    return parseJson(plain) === undefined ? JSON.stringify(content) : plain
  }
  const value = typed(content, types)
  return typeof value === 'number' ? content.trim() : JSON.stringify(value)
}

/**
 * The arguments of a call whose text ended too early, as far as they have come, and what they are
 * if the model meant to end there. `kind`: how they are written.
 */
export function readCut(
  text: string,
  kind: 'member' | 'value' | 'pairs' | undefined,
  { pairs }: Format,
  schema: JsonSchema | null | undefined,
): Pick<Call, 'input'> & { completed: string } {
  if (kind === 'pairs' && pairs) {
    const { members, open } = membersOf(text, pairs, schema)
    const all = [...members, ...(open === undefined ? [] : [open])].join(',')
    return { input: `{${open === undefined ? all : all.slice(0, -1)}`, completed: `{${all}}` }
  }
  const input = kind === 'member' ? (argumentsIn(text).at(-1) ?? partOf(text)) : text.trim()
  return { input, completed: repairedArguments(input, schema) ?? input }
}

/** The text behind the name of the arguments. */
function partOf(text: string): string {
  const found = /"(?:arguments|parameters)"\s*:\s*/.exec(text)
  return found ? text.slice(found.index + found[0].length) : ''
}
