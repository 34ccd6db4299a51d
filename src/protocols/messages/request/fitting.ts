import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId, mapName, mapProperty } from '../../../kit/conversation/ids.ts'
import { asSystemParts, partsOf } from '../../../kit/conversation/system-text.ts'
import { type Edit as EditWith, fitWith } from '../../../kit/fields/fit.ts'
import { fitEffort } from '../../../kit/fields/fit-effort.ts'
import { budgetOf, effortOf } from '../../../kit/fields/thinking.ts'
import { isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { append } from '../../../kit/text/append.ts'
import { dialectOf, fitSchemas } from '../../../kit/tools/fit-tool.ts'
import {
  alwaysThinks,
  grammarLimits,
  takesMidSystem,
  takesNoForcedTool,
  thinksBetweenTools,
} from '../../../models/claude.ts'
import type { Demands, InstructionDemands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { defaults, type Options } from '../options.ts'
import { createMessagesReport, type MessagesReport } from '../own.ts'
import { isForced } from './tool-choice.ts'

const longest = 128

const schemaDialect: SchemaDialect = {
  plainRoot: true,
  strict: grammarLimits,
  checkedNames: true,
}

const later = { user: 'user', hoist: 'front', keep: 'behind-user' } as const satisfies Record<
  string,
  InstructionDemands['later']
>

/**
 * The server refuses a turn with calls that the results of all of them do not follow, and an id
 * that occurs twice.
 */
export function demands(
  { model }: CanonicalRequest,
  { systemPlacement = defaults.systemPlacement }: Options,
): Demands {
  const automatic = takesMidSystem(model) ? 'keep' : 'user'
  const placement = systemPlacement === 'auto' ? automatic : systemPlacement
  return {
    lateTools: 'list',
    instructions: { later: later[placement] },
    schemas: schemaDialect,
    toolNames: {
      spell: name => mapName(name, longest),
      spellProperty: mapProperty,
      longest,
      freeform: 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      wireCallId: id => mapCallId(id, validCallId),
      uniqueCallIds: 'request',
    },
  }
}

type Edit = EditWith<Options, MessagesReport>

const modelOf = ({ model }: JsonObject) => (typeof model === 'string' ? model : undefined)

/**
 * A system message that the model does not take inside the conversation becomes text of the user,
 * next to the results of a turn.
 */
const placement: Edit = (body, { systemPlacement: where }, report) => {
  const { messages } = body
  const takes =
    where === undefined ||
    where === 'keep' ||
    where === 'hoist' ||
    (where === 'auto' && takesMidSystem(modelOf(body)))
  if (takes || !Array.isArray(messages) || !messages.some(isSystem)) return body
  const placed: JsonObject[] = []
  let joined: (JsonObject & { content: JsonObject[] }) | undefined
  for (const [i, message] of messages.entries()) {
    if (!isObject(message)) return body
    const user = isSystem(message)
      ? { role: 'user', content: asSystemParts(message['content']) }
      : message
    if (user !== message) report.add('system.mid-conversation-as-user', `/messages/${i}`)
    const last = placed.at(-1)
    if (user['role'] !== 'user' || last?.['role'] !== 'user') placed.push(user)
    else if (last === joined) append(joined.content, partsOf(user['content']))
    else {
      joined = { ...last, content: [...partsOf(last['content']), ...partsOf(user['content'])] }
      placed[placed.length - 1] = joined
    }
  }
  return { ...body, messages: placed }
}

const isSystem = (message: unknown) => isObject(message) && message['role'] === 'system'

/** Thinking in the way that the model knows. */
const thinking: Edit = (body, { thinking: way }, report) => {
  const { thinking: requested } = body
  if (!isObject(requested)) return body
  const { type, budget_tokens: budget, ...shown } = requested
  const model = modelOf(body)
  if (type === 'disabled' && alwaysThinks(model)) {
    report.add('reasoning.always-on', '/thinking')
    return thinksBetweenTools(model)
      ? { ...body, thinking: { type: 'between_tools' } }
      : without(body, ['thinking'])
  }
  if (way === undefined || way === 'auto') return body
  if (type === 'enabled' && way === 'adaptive') {
    report.add('reasoning.budget-as-effort', '/thinking')
    return withEffort(
      { ...body, thinking: { type: 'adaptive', ...shown } },
      typeof budget === 'number' ? effortOf(budget) : undefined,
    )
  }
  if (type !== 'adaptive' || way !== 'enabled') return body
  const most = typeof body['max_tokens'] === 'number' ? body['max_tokens'] - 1 : 0
  const amount = Math.min(budgetOf(effortIn(body)), most)
  report.add(amount < 1024 ? 'reasoning.no-room' : 'reasoning.effort-as-budget', '/thinking')
  return amount < 1024
    ? without(body, ['thinking'])
    : { ...body, thinking: { type: 'enabled', budget_tokens: amount, ...shown } }
}

const configOf = ({ output_config: config }: JsonObject): JsonObject =>
  isObject(config) ? config : {}

function effortIn(body: JsonObject): string | undefined {
  const { effort } = configOf(body)
  return typeof effort === 'string' ? effort : undefined
}

const withEffort = (body: JsonObject, effort: string | undefined): JsonObject =>
  effort === undefined || effortIn(body) !== undefined
    ? body
    : { ...body, output_config: { ...configOf(body), effort } }

const effort: Edit = (body, { efforts }, report) =>
  fitEffort(body, ['output_config', 'effort'], efforts, report)

/** A model that cannot be forced decides itself. */
const toolChoice: Edit = (body, _, report) => {
  const { tool_choice: choice } = body
  if (!isObject(choice) || !isForced(choice) || !takesNoForcedTool(modelOf(body))) return body
  report.add('tool-choice.not-forced', '/tool_choice')
  return { ...body, tool_choice: { ...without(choice, ['name']), type: 'auto' } }
}

const schemas: Edit = (body, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return body
  const dialect = dialectOf(taken, { ...schemaDialect, incomplete: true })
  const tools = fitSchemas(body['tools'], { at: '/tools', path: ['input_schema'], dialect }, report)
  return tools === body['tools'] ? body : { ...body, tools }
}

// The budget is made of the effort as the client wrote it.
/** The request as its server requires by the options. */
export const fitRequest = fitWith<Options, MessagesReport>(
  [placement, thinking, effort, toolChoice, schemas],
  createMessagesReport,
)
