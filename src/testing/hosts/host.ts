import {
  atRoot,
  entriesIn,
  isObjectSchema,
  isOf,
  refuses,
  type SchemaRule,
} from './schema-rules.ts'

/** A function as every protocol declares it. `form`: how, of which the length of names depends. */
export type Declared = {
  at: string
  form: 'chat' | 'responses' | 'messages' | 'gemini' | 'converse'
  namespace?: unknown
  name: unknown
  description: unknown
  schema: unknown
  strict: unknown
}

/** What one host takes. */
export type Host = {
  protocols: readonly string[]
  name(declared: Declared): RegExp
  /** The most functions of a request. Absent: it is not published. */
  most?: number
  /** What each schema has to meet. */
  rules(declared: Declared, model: string): readonly SchemaRule[]
  /** What else is refused. */
  more?(all: readonly Declared[], faults: string[], model: string): void
}

export const upTo = (longest: number) => new RegExp(`^[a-zA-Z0-9_-]{1,${longest}}$`)
/** The names of chat-completions and of the Responses API. */
export const openName = ({ form }: Declared): RegExp => upTo(form === 'responses' ? 128 : 64)

export const isStrict = ({ strict }: Declared) => strict === true

export const openProtocols = ['chat-completions', 'responses']

/**
 * "schema must be a JSON Schema of 'type: "object"'": OpenAI, DeepSeek, Bedrock and others.
 * Sources: https://github.com/farion1231/cc-switch/issues/4705 (2026-06-27),
 * https://github.com/vercel/ai/issues/7005 (2025-07-02),
 * https://github.com/kirodotdev/Kiro/issues/11026 (2026-08-24)
 */
export const objectAtRoot = atRoot(({ schema, at }, faults) => {
  if (schema['type'] !== 'object') faults.push(`${at}/type: must be 'object'`)
})

export const rootWithout = (...words: string[]): SchemaRule =>
  atRoot(refuses(key => words.includes(key)))

/**
 * "array schema missing items", also next to `prefixItems`. Sources:
 * https://github.com/digitalocean-labs/mcp-digitalocean/issues/265 (2026-02-14),
 * https://github.com/AnswerDotAI/fastcore/issues/798 (2026-04-01)
 */
export const itemsInArrays: SchemaRule = ({ schema, at }, faults) => {
  if (isOf(schema, 'array') && schema['items'] === undefined)
    faults.push(`${at}: array schema missing items`)
}

/** "'additionalProperties' is required to be supplied and to be false" */
export const closed: SchemaRule = ({ schema, at }, faults) => {
  if (isObjectSchema(schema) && schema['additionalProperties'] !== false)
    faults.push(`${at}/additionalProperties: must be false`)
}

/** Lookarounds, as OpenAI and Anthropic refuse them. */
export const hasLookaround = (value: unknown) =>
  typeof value === 'string' && /\(\?<?[=!]/.test(value)

/**
 * "'…' is not a 'regex'": patterns are compiled by Python, which has no `\p`, `\c` and `\u{…}`, and
 * another form of named groups, and no class at an end of a range.
 * Sources: https://github.com/bman654/clodex/pull/195 (2026-09-09),
 * https://github.com/BerriAI/litellm/pull/40485 (2026-09-09),
 * https://docs.python.org/3.11/library/re.html (2026-11-30)
 */
export const pythonPatterns: SchemaRule = ({ schema, at }, faults) => {
  const all = [schema['pattern'], ...entriesIn(schema['patternProperties']).map(([key]) => key)]
  const unknown = /(^|[^\\])(\\\\)*(\\[pPckKhRz]|\\u\{|\(\?<[A-Za-z])/
  for (const pattern of all)
    if (typeof pattern === 'string' && (unknown.test(pattern) || hasOpenRange(pattern)))
      faults.push(`${at}: '${pattern}' is not a 'regex'`)
}

/** A class such as `\w` in brackets, with a hyphen and more behind it. */
function hasOpenRange(pattern: string): boolean {
  let isOpen = false
  const parts = pattern.match(/\\.|[^\\]/gs) ?? []
  return parts.some((part, i) => {
    isOpen = isOpen ? part !== ']' : part === '['
    const [hyphen, next] = parts.slice(i + 1, i + 3)
    return isOpen && /^\\[dDsSwW]$/.test(part) && hyphen === '-' && next !== ']'
  })
}

export const formats = [
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'ipv4',
  'ipv6',
]
