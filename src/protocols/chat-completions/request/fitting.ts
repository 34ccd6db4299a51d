import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId, mapName, mapNameByLetter, shortId } from '../../../kit/conversation/ids.ts'
import { fitCacheKey } from '../../../kit/fields/cache-key.ts'
import { nearestEffort } from '../../../kit/fields/effort.ts'
import { type Edit as EditWith, fitWith, wordsOf } from '../../../kit/fields/fit.ts'
import { isEmptyList, isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { jsonInstruction } from '../../../kit/response/json-instruction.ts'
import { dialectOf, fitOutput, fitSchemas, fitTools } from '../../../kit/tools/fit-tool.ts'
import type { Demands, InstructionDemands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { type ChatCompletionsOptions, defaults, type Options } from '../options.ts'
import { type ChatCompletionsReport, createChatReport } from '../own.ts'
import { fitMessages } from './fitting-messages.ts'

const longest = 64

/** For the keyword in responses: https://github.com/vercel/ai/pull/20621 (2026-09-10) */
const schemaDialect: SchemaDialect = {
  strict: 'closed',
  patterns: 'python',
  outputWithout: ['propertyNames'],
}
/** Of servers that enforce each schema in their form. */
const { strict: _, ...enforcedDialect } = schemaDialect

const later = {
  auto: 'user',
  user: 'user',
  hoist: 'front',
  keep: 'keep',
} as const satisfies Record<string, InstructionDemands['later']>

/**
 * Servers refuse a result that does not follow its call; many refuse more than one system message,
 * and one inside the conversation.
 */
export function demands(
  _request: CanonicalRequest,
  {
    shortIds,
    namesByLetter,
    systemPlacement = defaults.systemPlacement,
    instructionsRole,
    customTools,
    schemas,
  }: Options,
): Demands {
  return {
    lateTools: 'list',
    // What a vendor demands besides is edited in what is written.
    schemas: schemas === 'typed' ? enforcedDialect : schemaDialect,
    instructions: {
      later: later[systemPlacement],
      joined: true,
      developer: instructionsRole === 'developer',
    },
    toolNames: {
      spell: name => (namesByLetter ? mapNameByLetter : mapName)(name, longest),
      longest,
      freeform: customTools === 'write' ? 'freeform' : 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      uniqueCallIds: 'turn',
      wireCallId: shortIds ? shortId : id => mapCallId(id, validCallId),
    },
  }
}

type Edit = EditWith<Options, ChatCompletionsReport>

/** Codes of notes that only say how a field is spelled. */
export const spellings = ['max-tokens.field', 'sampling.seed-field'] as const

const limitField: Edit = (body, { maxTokensField: field }, report) => {
  const other = field === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens'
  if (field === undefined || body[other] === undefined || body[other] === null) return body
  report.add('max-tokens.field', `/${other}`)
  return {
    [field]: body[other],
    ...without(body, [other]),
    ...(body[field] != null && { [field]: body[field] }),
  }
}

const seedField: Edit = (body, { seedField: field = 'seed' }, report) => {
  const { seed } = body
  if (field === 'seed' || seed === undefined || seed === null) return body
  report.add('sampling.seed-field', '/seed')
  return { ...without(body, ['seed']), [field]: seed }
}

/** Models that take tools only without reasoning keep their tools. */
const toolsAlone: Edit = (body, { effortWithTools: effort }, report) => {
  const { tools, reasoning_effort: wanted } = body
  if (effort !== 'none' || wanted === 'none' || !Array.isArray(tools) || tools.length === 0)
    return body
  report.add('reasoning.with-tools', wanted == null ? '/tools' : '/reasoning_effort')
  return { ...body, reasoning_effort: 'none' }
}

/** Servers refuse an empty list of tools, and a choice without one. */
const noTools: Edit = (body, _, report) => {
  const { tools, functions, tool_choice: choice } = body
  const hasTools = functions !== undefined || (tools !== undefined && !isEmptyList(tools))
  if (hasTools || !aboutTools.some(key => key in body)) return body
  if (choice != null && choice !== 'auto' && choice !== 'none')
    report.add('tool-choice.without-tools', '/tool_choice')
  return without(body, aboutTools)
}

const aboutTools = ['tools', 'tool_choice', 'parallel_tool_calls'] as const

const toolChoice: Edit = (body, { toolChoice: taken = defaults.toolChoice, thinking }, report) => {
  const choice = body['tool_choice']
  if (taken === 'all' || choice === undefined || choice === null || choice === 'auto')
    return taken === 'omit' && choice ? without(body, ['tool_choice']) : body
  if (choice === 'none') {
    // The model is not to call anything: without tools it cannot.
    if (takingNone.has(taken)) return body
    for (const field of ['tools', 'tool_choice'])
      if (body[field]) report.add('tool-choice.tools-left-out', `/${field}`)
    return without(body, ['tool_choice', 'tools', 'parallel_tool_calls'])
  }
  if (taken === 'any' || taken === 'words') {
    const forcing = taken === 'any' ? 'any' : 'required'
    return choice === 'required' || choice === 'any'
      ? body
      : onlyChosen(body, choice, forcing, report)
  }
  if ((taken === 'unforced' || taken === 'unthinking') && isOpenList(choice)) return body
  if (taken === 'unthinking') {
    const thinks = isThinking(body)
    if (thinks === false) return body
    if (thinks === undefined && thinking === 'flag') {
      report.add('reasoning.forced-tool', '/tool_choice')
      return { ...body, ...switches.flag(false, undefined) }
    }
  }
  report.add('tool-choice.not-forced', '/tool_choice')
  return taken === 'omit' ? without(body, ['tool_choice']) : { ...body, tool_choice: 'auto' }
}

const takingNone: ReadonlySet<string> = new Set(['any', 'words', 'unforced', 'unthinking'])

/** Does the request say whether the model thinks? */
function isThinking({
  thinking,
  enable_thinking: flag,
  reasoning_effort: effort,
}: JsonObject): boolean | undefined {
  const type = isObject(thinking) ? thinking['type'] : undefined
  if (flag === false || type === 'disabled' || effort === 'none') return false
  return flag != null || type !== undefined || effort != null ? true : undefined
}

/** Some tools may be called, and none has to be. */
const isOpenList = (choice: unknown): boolean =>
  isObject(choice) &&
  isObject(choice['allowed_tools']) &&
  choice['allowed_tools']['mode'] === 'auto'

/** A server that can force any tool, but none by name, gets only the one that is forced. */
function onlyChosen(
  body: JsonObject,
  choice: unknown,
  forcing: string,
  report: ChatCompletionsReport,
): JsonObject {
  const named =
    isObject(choice) && isObject(choice['function']) ? choice['function']['name'] : undefined
  const tools = Array.isArray(body['tools'])
    ? body['tools'].filter(
        tool => isObject(tool) && isObject(tool['function']) && tool['function']['name'] === named,
      )
    : []
  if (tools.length === 0) {
    report.add('tool-choice.not-forced', '/tool_choice')
    return without(body, ['tool_choice'])
  }
  report.add('tool-choice.only-chosen', '/tool_choice')
  return { ...body, tools, tool_choice: forcing }
}

const serialCalls: Edit = (body, { parallelCalls: taken }, report) => {
  if (taken !== 'forbid' || !Array.isArray(body['tools']) || body['parallel_tool_calls'] === false)
    return body
  if (body['parallel_tool_calls'] === true)
    report.add('tool-choice.serial-calls', '/parallel_tool_calls')
  return { ...body, parallel_tool_calls: false }
}

const toolStream: Edit = (body, { toolStream: wanted }) =>
  wanted &&
  body['stream'] === true &&
  Array.isArray(body['tools']) &&
  body['tool_stream'] === undefined
    ? { ...body, tool_stream: true }
    : body

const schemas: Edit = (body, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return body
  const dialect = dialectOf(taken, schemaDialect)
  const path = ['function', 'parameters']
  const tools = fitSchemas(body['tools'], { at: '/tools', path, dialect }, report)
  const fitted = tools === body['tools'] ? body : { ...body, tools }
  return fitOutput(fitted, ['response_format', 'json_schema', 'schema'], dialect, report)
}

/**
 * A format that the server does not have is requested in the instructions, with the nearest format
 * that it has.
 */
const format: Edit = (body, { formats: taken }, report) => {
  const { response_format: wanted } = body
  if (taken === undefined || !isObject(wanted) || wanted['type'] === 'text') return body
  const formats = wordsOf(taken)
  const type = String(wanted['type'])
  if (formats.includes(type)) return body
  const inner = isObject(wanted['json_schema']) ? wanted['json_schema']['schema'] : undefined
  if (type === 'json_object' && formats.includes('json_schema')) {
    report.add('output.format', '/response_format')
    return {
      ...body,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'response', schema: { type: 'object' } },
      },
    }
  }
  report.add('output.format-instructed', '/response_format')
  const choice = jsonInstruction(isObject(inner) ? inner : undefined)
  const rest = formats.includes('json_object')
    ? { ...body, response_format: { type: 'json_object' } }
    : without(body, ['response_format'])
  return { ...rest, messages: withInstruction(body['messages'] as unknown[], choice) }
}

/** Added to the leading system message, as many servers take only one. */
function withInstruction(messages: readonly unknown[], text: string): unknown[] {
  const [first, ...rest] = messages
  if (!isObject(first) || (first['role'] !== 'system' && first['role'] !== 'developer'))
    return [{ role: 'system', content: text }, ...messages]
  const { content } = first
  const longer =
    typeof content === 'string'
      ? `${content}\n\n${text}`
      : [...(Array.isArray(content) ? (content as unknown[]) : []), { type: 'text', text }]
  return [{ ...first, content: longer }, ...rest]
}

/** Servers that require the word JSON look for it in the messages. */
const jsonWord: Edit = (body, { jsonWord: taken }, report) => {
  const { response_format: wanted, messages } = body
  if (taken !== 'add' || !isObject(wanted) || wanted['type'] !== 'json_object') return body
  if (/json/i.test(JSON.stringify(messages))) return body
  report.add('output.json-instructed', '/response_format')
  return { ...body, messages: withInstruction(messages as unknown[], jsonInstruction()) }
}

/** Where some functions are strict and some are not, none is. */
const strictFunctions: Edit = (body, { strictFunctions: taken }, report) => {
  const { tools } = body
  if (taken !== 'all' || !Array.isArray(tools)) return body
  const isStrict = (tool: unknown) =>
    isObject(tool) && isObject(tool['function']) && tool['function']['strict'] === true
  if (!tools.some(isStrict) || tools.every(isStrict)) return body
  const loose = fitTools(tools, (tool, i) => {
    if (!isObject(tool) || !isStrict(tool)) return tool
    report.add('tool.strict', `/tools/${i}/function/strict`)
    return { ...tool, function: without(tool['function'] as JsonObject, ['strict']) }
  })
  return { ...body, tools: loose }
}

const cacheKey: Edit = (body, { longCacheKey }, report) => fitCacheKey(body, longCacheKey, report)

const edits: readonly Edit[] = [
  noTools,
  limitField,
  seedField,
  fitReasoning,
  toolsAlone,
  toolChoice,
  serialCalls,
  toolStream,
  schemas,
  strictFunctions,
  fitMessages,
  format,
  jsonWord,
  cacheKey,
]

const fitKnown = fitWith(edits, createChatReport)

/** The request as its server requires by the options. */
export const fitRequest: typeof fitKnown = (wire, options) =>
  isObject(wire) && Array.isArray(wire['messages']) ? fitKnown(wire, options) : { wire, notes: [] }

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
function fitReasoning(
  given: JsonObject,
  { efforts, thinking: form = defaults.thinking, thinkingOff }: ChatCompletionsOptions,
  report: ChatCompletionsReport,
): JsonObject {
  const known = efforts === undefined ? undefined : wordsOf(efforts)
  const refused = thinkingOff === 'least' ? turningOff(given) : []
  for (const field of refused) report.add('reasoning.always-on', `/${field}`)
  const body = refused.length > 0 ? withLeast(without(given, refused), known) : given
  const effort = body['reasoning_effort']
  if (typeof effort !== 'string' || (efforts === undefined && form === 'effort')) return body
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

function withLeast(body: JsonObject, known: readonly string[] | undefined): JsonObject {
  const least = known && nearestEffort('minimal', known)
  const isAsked = body['reasoning_effort'] != null
  return least === undefined || isAsked ? body : { ...body, reasoning_effort: least }
}

/** The fields that turn reasoning off, in the common words and in those of resellers. */
function turningOff({ reasoning_effort: effort, reasoning }: JsonObject): string[] {
  const isOff =
    isObject(reasoning) && (reasoning['enabled'] === false || reasoning['effort'] === 'none')
  return [...(effort === 'none' ? ['reasoning_effort'] : []), ...(isOff ? ['reasoning'] : [])]
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
