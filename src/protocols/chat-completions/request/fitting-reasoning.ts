import { nearestEffort } from '../../../kit/fields/effort.ts'
import { isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import type { ChatCompletionsReport } from '../notes.ts'
import { type ChatCompletionsOptions, defaults } from '../options.ts'

type Form = NonNullable<ChatCompletionsOptions['thinking']>

/** The fields that turn reasoning on or off. Undefined: the server has none. */
const switches: Record<Form, (on: boolean, effort: string | undefined) => JsonObject | undefined> =
  {
    effort: () => undefined,
    always: on => (on ? {} : undefined),
    type: on => ({ thinking: { type: on ? 'enabled' : 'disabled' } }),
    adaptive: on => ({ thinking: { type: on ? 'adaptive' : 'disabled' } }),
    flag: on => ({ enable_thinking: on }),
    template: on => ({ chat_template_kwargs: { enable_thinking: on } }),
    disable: on => (on ? {} : { disable_reasoning: true }),
    object: (on, effort) => {
      if (!on) return { reasoning: { enabled: false } }
      return { reasoning: effort === undefined ? { enabled: true } : { effort } }
    },
  }

/**
 * Writes `reasoning_effort` as this server reads it. What a client has written for it in its own
 * form stays.
 */
export function fitReasoning(
  body: JsonObject,
  { efforts, thinking: form = defaults.thinking }: ChatCompletionsOptions,
  report: ChatCompletionsReport,
): JsonObject {
  const effort = body['reasoning_effort']
  if (typeof effort !== 'string' || (efforts === undefined && form === 'effort')) return body
  const known = efforts?.split(/[\s,]+/).filter(Boolean)
  const rest = without(body, ['reasoning_effort'])
  if (effort === 'none') return withoutReasoning(body, rest, { form, known, report })
  const word = known === undefined ? effort : nearestEffort(effort, known)
  if (word !== effort)
    report.add(word === undefined ? 'reasoning.no-effort' : 'reasoning.effort', '/reasoning_effort')
  const switched = switches[form](true, word) ?? {}
  const effortField =
    'reasoning' in switched || word === undefined ? {} : { reasoning_effort: word }
  if (word === effort && Object.keys(switched).length === 0) return body
  return withDefaults({ ...rest, ...effortField }, switched)
}

type Off = { form: Form; known: readonly string[] | undefined; report: ChatCompletionsReport }

function withoutReasoning(
  body: JsonObject,
  rest: JsonObject,
  { form, known, report }: Off,
): JsonObject {
  const off = switches[form](false, undefined)
  if (off) return withDefaults(rest, off)
  if (form !== 'always' && (known === undefined || known.includes('none'))) return body
  const least = known && nearestEffort('minimal', known)
  report.add(
    least === undefined && form !== 'always' ? 'reasoning.no-effort' : 'reasoning.always-on',
    '/reasoning_effort',
  )
  return least === undefined ? rest : { ...rest, reasoning_effort: least }
}

/** Keys that the client has set itself win. */
function withDefaults(body: JsonObject, added: JsonObject): JsonObject {
  const merged = { ...body }
  for (const [key, value] of Object.entries(added)) {
    const own = merged[key]
    merged[key] = isObject(own) && isObject(value) ? { ...value, ...own } : (own ?? value)
  }
  return merged
}
