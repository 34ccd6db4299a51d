import type { Part } from '../../../canonical/message.ts'
import { isNeutral } from '../../../canonical/neutral.ts'
import {
  type CacheSpec,
  type CanonicalRequest,
  type Effort,
  type OutputFormat,
  type ReasoningSpec,
  reasoningModes,
} from '../../../canonical/request.ts'
import { hashHex } from '../../../kit/conversation/ids.ts'
import { encodeEffort } from '../../../kit/fields/effort.ts'
import { keysOf, unknownOf } from '../../../kit/fields/keys.ts'
import { omitNullish, omitUndefined, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import { wrapRoot } from '../../../kit/response/wrapped-output.ts'
import { asRead } from '../../../kit/schema/written.ts'
import type { FieldNames } from '../../../protocol.ts'
import { decodeContent, encodeParts, plainly } from '../content/content.ts'
import { controlMark, type RequestWriting, type Writing } from '../content/writing.ts'
import { type ChatCompletionsReport, protocolName, withInner } from '../own.ts'
import type { ChatCompletionsRequest } from '../schema.ts'
import { serviceTiers } from '../vocabulary.ts'
import type { ChatCompletionsBody, ChatCompletionsControlMark } from '../written.ts'

/** Keeps the unknown keys of an object under a key of the body. */
export type Put = (key: string, unknown: JsonObject | undefined) => void

export function encodeLimit(limit: number, { report, native }: Writing): number | undefined {
  if (limit >= 1 || native) return limit
  if (isNeutral('maxOutputTokens', limit)) return undefined
  report.add('max-tokens.raised', '', 'maxOutputTokens')
  return 1
}

export function encodeStop(
  stop: readonly string[],
  { report, native }: Writing,
): readonly string[] | undefined {
  // An empty list has no effect, and servers refuse it.
  if (stop.length === 0) return undefined
  if (stop.length <= 4 || native) return stop
  report.add('stop.too-many', '', 'stop')
  return stop.slice(0, 4)
}

/** In this field `30m` is the only lifetime; a mark on a part can also have `12h`. */
export function encodeTtl(ttl: string, writing: Writing, field: string): string | undefined {
  if (ttl === '30m' || writing.native) return writeOptional(ttl, writing, field)
  writing.report.add('cache.ttl', '', field)
  return undefined
}

/** Marking the last part that can be cached needs no field for OpenAI, which does it anyway. */
export function encodeAuto(
  auto: CacheSpec['auto'],
  { report, options, native }: Writing,
): ChatCompletionsControlMark | undefined {
  if (!auto) return undefined
  const approximate = () => report.add('cache.ttl', '', 'cache.auto.ttl')
  if (native || options.cacheMarks === 'cache_control') return controlMark(auto, approximate)
  if (auto.ttl !== undefined) approximate()
  return undefined
}

export function encodeTier(
  tier: string,
  { report, native }: Writing,
  field: string,
): string | undefined {
  if (native || serviceTiers.has(tier)) return tier
  report.add('tier.unsupported', '', field)
  return undefined
}

export const isText = (value: unknown): value is string => typeof value === 'string'

const longestUser = 64

export function encodeSafetyId(id: string, writing: Writing, field: string): string | undefined {
  const written = writeOptional(id, writing, field)
  if (written === undefined || writing.native || id.length <= longestUser) return written
  writing.report.add('user.hashed', '', field)
  return hashHex(id, longestUser)
}

/**
 * For fields that many servers refuse as unknown: left out, with a note, unless `optionalFields`
 * says that this server accepts them. `field`: the canonical path.
 */
export function writeOptional<T>(
  value: T,
  { report, options, native }: Writing,
  field: string,
): T | undefined {
  if (native || options.optionalFields === 'write') return value
  if (!isNeutral(field, value)) report.add('field.optional', '', field)
  return undefined
}

/** Writes nothing, with a note if the value means anything. */
export function lose(value: unknown, { report }: Writing, field: string): undefined {
  report.rest({ [field]: value }, '')
}

const knownOfPrediction =
  keysOf<NonNullable<ChatCompletionsRequest['prediction']>>()('type content')

export function decodePrediction(
  prediction: ChatCompletionsRequest['prediction'],
  report: ChatCompletionsReport,
  put: Put,
): CanonicalRequest['prediction'] {
  if (!prediction) return undefined
  put('prediction', unknownOf(prediction, knownOfPrediction))
  return { parts: decodeContent(prediction.content, '/prediction', report) }
}

export function encodePrediction(
  parts: readonly Part[],
  writing: Writing,
): ChatCompletionsBody['prediction'] {
  return { type: 'content', content: plainly(encodeParts(parts, writing)) }
}

type Schemed = {
  name?: string | null
  description?: string | null
  schema?: JsonObject | null
  strict?: boolean | null
}

const knownOfFormat = keysOf<{ type: string; json_schema: unknown }>()('type json_schema')
const knownOfSchema = keysOf<Schemed>()('name description schema strict')

export function decodeFormat(
  wire: ChatCompletionsRequest['response_format'],
  put: Put,
): OutputFormat | undefined {
  if (!wire) return undefined
  const { type, json_schema: inner } = wire as { type: string; json_schema?: unknown }
  const unknown = unknownOf(wire, knownOfFormat)
  if (type === 'text') {
    put('response_format', inner == null ? unknown : { ...unknown, json_schema: inner })
    return { type: 'text' }
  }
  if (type === 'json_object' && inner == null) {
    // Some servers accept a schema with the older type `json_object`.
    const { schema, ...others } = unknown ?? {}
    put('response_format', isObject(schema) ? omitUndefinedOrNone(others) : unknown)
    return isObject(schema) ? { type: 'schema', schema } : { type: 'json' }
  }
  if (type !== 'json_schema' || !isObject(inner))
    return { type: 'opaque', protocol: protocolName, raw: wire }
  const { name, description, schema, strict } = inner as Schemed
  put('response_format', withInner(unknown, 'json_schema', unknownOf(inner, knownOfSchema)))
  const format = {
    type: 'schema' as const,
    schema: schema ?? {},
    ...omitNullish({ name, description }),
  }
  return strict === undefined ? format : { ...format, strict }
}

/** Text alone is the default, and servers that know only text refuse the field. */
export function encodeModalities(
  modalities: readonly string[],
  { native, report }: Writing,
  field: string,
): readonly string[] | undefined {
  if (!native && modalities.some(one => one !== 'text' && one !== 'audio'))
    report.add('output.modality', '', field)
  return modalities.some(one => one !== 'text') ? modalities : undefined
}

export function encodeVoice(
  audio: unknown,
  { native, report, request }: RequestWriting,
  field: string,
): unknown {
  if (native || !isObject(audio) || audio['format'] !== undefined) return audio
  report.add('output.voice', '', field)
  report.add('output.audio-format', '/audio/format')
  // Streams support only `pcm16`.
  return { ...audio, format: request.stream?.enabled ? 'pcm16' : 'wav' }
}

export function encodeFormat(
  format: OutputFormat | undefined,
  writing: Writing,
): ChatCompletionsBody['response_format'] {
  const { report } = writing
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
      return { type: 'text' }
    case 'json':
      return { type: 'json_object' }
    case 'schema': {
      const { schema, name, description, strict } = format
      if (name === undefined) report.add('schema.name', '/response_format/json_schema/name')
      const wrapped = writing.native ? undefined : wrapRoot(schema)
      if (wrapped) {
        writing.output ??= 'value'
        report.add('output.wrapped', '', 'output.format.schema')
      }
      return {
        type: 'json_schema',
        json_schema: omitUndefined<
          Extract<
            NonNullable<ChatCompletionsBody['response_format']>,
            { type: 'json_schema' }
          >['json_schema']
        >({
          name: name ?? 'response',
          description,
          schema: wrapped ?? schema,
          strict: writing.native ? strict : (strict ?? undefined),
        }),
      }
    }
    case 'enum':
      report.add('output.enum', '', 'output.format')
      if (wrapRoot(format.schema)) writing.output = 'word'
      return encodeFormat({ type: 'schema', schema: format.schema }, writing)
    case 'opaque':
      if (format.protocol === protocolName) return asRead(format.raw)
      report.add('field.unsupported', '', 'output.format')
      return undefined
    default:
      return format satisfies never
  }
}

const word = (value: unknown) => (typeof value === 'string' && value ? value : undefined)
const tokens = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) ? value : undefined
const flag = (yes: string, no: string) => (value: unknown) => {
  if (value === true) return yes
  if (value === false) return no
  return undefined
}
const isOn = flag('enabled', 'disabled')
const efforts = new Set<unknown>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
] satisfies Effort[])
const knownEffort = (value: unknown) => (efforts.has(value) ? word(value) : undefined)

/**
 * The meaning of each field that controls reasoning on servers of this protocol. Earlier rows win
 * over later ones.
 */
const readings: {
  path: readonly [key: string, inner?: string]
  field: keyof ReasoningSpec
  read(value: unknown): string | number | undefined
}[] = [
  { path: ['reasoning_effort'], field: 'effort', read: knownEffort },
  { path: ['reasoning', 'enabled'], field: 'mode', read: isOn },
  {
    path: ['thinking', 'type'],
    field: 'mode',
    read: value => (reasoningModes.has(value) ? word(value) : undefined),
  },
  { path: ['enable_thinking'], field: 'mode', read: isOn },
  { path: ['chat_template_kwargs', 'enable_thinking'], field: 'mode', read: isOn },
  { path: ['chat_template_kwargs', 'thinking'], field: 'mode', read: isOn },
  { path: ['reasoning', 'effort'], field: 'effort', read: knownEffort },
  { path: ['reasoning', 'max_tokens'], field: 'budgetTokens', read: tokens },
  { path: ['reasoning', 'exclude'], field: 'display', read: flag('omitted', 'summarized') },
  { path: ['reasoning', 'summary'], field: 'summary', read: word },
  { path: ['thinking', 'budget_tokens'], field: 'budgetTokens', read: tokens },
  { path: ['thinking_budget'], field: 'budgetTokens', read: tokens },
  { path: ['include_reasoning'], field: 'display', read: flag('summarized', 'omitted') },
  // Unknown values are read only if no known value has set the canonical field.
  { path: ['reasoning_effort'], field: 'effort', read: word },
  { path: ['reasoning', 'effort'], field: 'effort', read: word },
  { path: ['thinking', 'type'], field: 'mode', read: word },
]

/** The fields of a body that control reasoning. */
export const controls = [...new Set(readings.map(({ path: [key] }) => key))]

export function controlsIn(body: JsonObject): JsonObject {
  const found: JsonObject = {}
  for (const key of controls) if (body[key] != null) found[key] = body[key]
  return found
}

/**
 * `left`: controls that are unknown, or that contradict one of an earlier row; `places`: the wire
 * path of each canonical field.
 */
export function decodeControls(received: JsonObject): {
  spec: ReasoningSpec | undefined
  left: JsonObject
  places: FieldNames
} {
  if (Object.keys(received).length === 0) return { spec: undefined, left: received, places: {} }
  const spec: Record<string, string | number> = {}
  const places: FieldNames = {}
  const left = Object.fromEntries(
    Object.entries(received).map(([key, value]) => [
      key,
      isObject(value) ? omitNullish(value) : value,
    ]),
  )
  for (const { path, field, read } of readings) {
    const [key, inner] = path
    const outer = left[key]
    if (outer === undefined) continue
    const nested = isObject(outer) ? outer : {}
    const place = inner === undefined ? left : nested
    const given = read(place[inner ?? key])
    if (given === undefined || contradicts(spec, field, given)) continue
    spec[field] = given
    places[`reasoning.${field}`] ??= path.join('/')
    delete place[inner ?? key]
    if (isObject(outer) && Object.keys(outer).length === 0) delete left[key]
  }
  return { spec: Object.keys(spec).length > 0 ? (spec as ReasoningSpec) : undefined, left, places }
}

/**
 * Does it contradict earlier values: another value, on and off at once, or an amount of reasoning
 * that is turned off?
 */
function contradicts(
  spec: Record<string, string | number>,
  field: string,
  value: string | number,
): boolean {
  if ((spec[field] ?? value) !== value) return true
  const { mode, effort, budgetTokens }: Record<string, string | number> = {
    ...spec,
    [field]: value,
  }
  if (effort === 'none' && (budgetTokens !== undefined || (mode ?? 'disabled') !== 'disabled'))
    return true
  return (
    mode === 'disabled' &&
    ((effort !== undefined && effort !== 'none') || budgetTokens !== undefined)
  )
}

/**
 * The protocol's own field. For a server of it, what the field cannot say is written into fields
 * that some servers have.
 */
export function encodeControls(
  reasoning: ReasoningSpec | undefined,
  writing: RequestWriting,
): Pick<ChatCompletionsBody, 'reasoning_effort' | 'thinking' | 'reasoning'> {
  const { report, native } = writing
  if (!reasoning) return {}
  const { effort, budgetTokens, mode, summary, display } = reasoning
  if (native)
    return {
      reasoning_effort: effort,
      thinking: mode && { type: mode },
      reasoning: omitUndefinedOrNone({
        max_tokens: budgetTokens,
        exclude: display && display === 'omitted',
        summary,
      }),
    }
  if (summary !== undefined && summary !== 'none')
    report.add('field.unsupported', '', 'reasoning.summary')
  if (display !== undefined && display !== 'omitted')
    report.add('field.unsupported', '', 'reasoning.display')
  return (
    budgetField(reasoning, writing) ?? {
      reasoning_effort: encodeEffort({ effort, budgetTokens, mode }, report),
    }
  )
}

/** A budget where the server has a field for it. Undefined: it becomes an effort. */
function budgetField(
  { effort, budgetTokens: budget = 0, mode = 'enabled' }: ReasoningSpec,
  { options: { thinking, efforts }, request }: RequestWriting,
): JsonObject | undefined {
  const isMeant = budget > 0 && effort === undefined && mode === 'enabled'
  if (!isMeant || budget >= (request.maxOutputTokens ?? Infinity)) return undefined
  if (thinking === 'object') return { reasoning: { max_tokens: budget } }
  // Where there are levels, too, one of them is surely taken.
  return thinking === 'flag' && efforts === ''
    ? { enable_thinking: true, thinking_budget: budget }
    : undefined
}

/** By canonical field: the paths of all request fields that control it. */
export const controlNames: Record<string, string[]> = {}
for (const { path, field } of readings) {
  const key = `reasoning.${field}`
  const names = controlNames[key] ?? []
  controlNames[key] = names
  const name = path.join('/')
  if (!names.includes(name)) names.push(name)
}
