/** A tool as a simulated server sees it. `text`: it takes free text. */
export type Offered = { name: string; namespace?: string; schema?: unknown; text?: boolean }

export type Call = { id: string; name: string; namespace?: string; args: string; text?: boolean }

/** What a simulated model sends next: two turns with tool calls, then a response. */
export type Turn = { nth: 1 | 2 | 3; reasoning: string; text: string; calls: Call[] }

export const thoughtOf = (nth: number): string =>
  `Thought ${nth}: the tool has to be called.\nThen it is known.`
export const responseText = 'All is known now.'

/**
 * The numbers that every simulated server counts, in its own fields: input with 800 cached tokens,
 * output with 40 tokens of reasoning.
 */
export const counted = { input: 1200, cached: 800, output: 90, reasoning: 40 }

/**
 * `results`: how many tool results the request holds. `serial`: the server makes one call at a
 * time.
 */
export function turnAfter(
  results: number,
  tools: readonly Offered[],
  idOf: (nth: number) => string,
  serial = false,
): Turn {
  const [tool] = tools.filter(({ text }) => !text).concat(tools)
  const early = results === 0 ? 1 : 2
  const nth = tool === undefined || results >= 2 ? 3 : early
  if (tool === undefined || nth === 3)
    return { nth, reasoning: thoughtOf(nth), text: responseText, calls: [] }
  const many = nth === 1 || serial ? 1 : 2
  const calls = Array.from({ length: many }, (_, i) => ({
    id: idOf(nth * 10 + i),
    ...tool,
    args: tool.text ? `call ${nth}` : JSON.stringify(sample(tool.schema)),
  }))
  return { nth, reasoning: thoughtOf(nth), text: nth === 1 ? 'I ask the tool.' : '', calls }
}

/** The smallest object that a schema allows, as far as tools of agents need it. */
function sample(schema: unknown): unknown {
  const {
    type,
    properties = {},
    required = [],
    enum: words,
    items,
    anyOf,
  } = (schema ?? {}) as Schema
  if (words?.length) return words[0]
  if (anyOf?.length) return sample(anyOf[0])
  const kind = (Array.isArray(type) ? type[0] : type)?.toLowerCase()
  if (kind === 'string') return 'a b'
  if (kind === 'number' || kind === 'integer') return 7
  if (kind === 'boolean') return true
  if (kind === 'array') return items ? [sample(items)] : []
  return Object.fromEntries(required.map(key => [key, sample(properties[key])]))
}

type Schema = {
  type?: string | string[]
  properties?: Record<string, unknown>
  required?: string[]
  enum?: unknown[]
  items?: unknown
  anyOf?: unknown[]
}

/** A text in chunks of a few characters, none empty. */
export const chunks = (text: string): string[] => text.match(/[\s\S]{1,12}/g) ?? []

export type Json = Record<string, unknown>
export const isJson = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isJson) : [])

/** What a simulated server says no with. */
export type Refusal = {
  status: number
  message: string
  param?: string
  code?: string | number
  type?: string
}

/** The first of the checks that finds a fault. */
export const firstOf = (
  ...checks: (string | Refusal | undefined | false)[]
): string | Refusal | undefined => {
  for (const check of checks) if (check) return check
  return undefined
}

/** One endpoint of a simulated server. */
export type Endpoint = {
  protocol: 'chat-completions' | 'responses' | 'messages' | 'generate-content' | 'converse'
  /** Undefined: not its address. */
  match(url: URL): { stream?: boolean; model?: string } | undefined
  /** How the key has to be sent. */
  authorize(headers: Readonly<Record<string, string>>): boolean
  /** What is wrong with the request. Undefined: nothing. */
  refuse(body: Json, model: string): Refusal | undefined
  failure(refusal: Refusal): unknown
  /** Headers of a failure. */
  failureHeaders?(refusal: Refusal): Record<string, string>
  whole(body: Json, model: string): unknown
  /** The frames of a stream. */
  stream(body: Json, model: string): (string | Uint8Array)[]
  /** The content type of a stream. Default: that of server-sent events. */
  streamType?: string
  /** False for models that need no reasoning back. */
  wantsReasoning?(model: string): boolean
  /** The reasoning that a request brings back, as this server reads it. */
  returned(body: Json): string[]
}

/**
 * A vendor, or a server that people run. Every vendor says no to what it is known to refuse, and
 * streams as it does.
 */
export type Simulator = {
  /** One model of each family that differs. */
  models: readonly [string, ...string[]]
  endpoints: readonly Endpoint[]
}

export const keyed = {
  bearer: (headers: Readonly<Record<string, string>>) =>
    headers['authorization'] === 'Bearer key-0123456789',
  'x-api-key': (headers: Readonly<Record<string, string>>) =>
    headers['x-api-key'] === 'key-0123456789' || keyed.bearer(headers),
  'api-key': (headers: Readonly<Record<string, string>>) => headers['api-key'] === 'key-0123456789',
  google: (headers: Readonly<Record<string, string>>) =>
    headers['x-goog-api-key'] === 'key-0123456789',
  none: () => true,
}
