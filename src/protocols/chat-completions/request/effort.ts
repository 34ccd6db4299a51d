import { type Effort, type ReasoningSpec, reasoningModes } from '../../../canonical/request.ts'
import { encodeEffort } from '../../../kit/fields/effort.ts'
import { omitNullish, omitUndefinedOrNone } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject } from '../../../kit/json/json.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { Writing } from '../content/writing.ts'
import type { ChatCompletionsBody } from '../schema.ts'

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
  { report, native }: Writing,
): Pick<ChatCompletionsBody, 'reasoning_effort' | 'thinking' | 'reasoning'> {
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
  return { reasoning_effort: encodeEffort({ effort, budgetTokens, mode }, report) }
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
