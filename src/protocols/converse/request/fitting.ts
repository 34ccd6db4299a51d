import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId, mapName, mapProperty, shortId } from '../../../kit/conversation/ids.ts'
import { type Edit as EditWith, fitWith } from '../../../kit/fields/fit.ts'
import { fitEffort } from '../../../kit/fields/fit-effort.ts'
import { budgetOf, effortOf, leastBudget } from '../../../kit/fields/thinking.ts'
import { isEmptyList, isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { dialectOf, fitSchemas } from '../../../kit/tools/fit-tool.ts'
import { grammarLimits } from '../../../models/claude.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import { familyOf } from '../models.ts'
import { defaults, type Options } from '../options.ts'
import { type ConverseReport, createConverseReport } from '../own.ts'

const longest = 64

const schemaDialect: SchemaDialect = { plainRoot: true, checkedNames: true }

/**
 * The server refuses a turn with calls that the results of all of them do not follow, and takes
 * instructions inside the conversation of few models only.
 */
export function demands({ model }: CanonicalRequest, options: Options): Demands {
  const family = familyOf(model, options)
  const dialect = dialectOf(options.schemas, schemaDialect)
  return {
    lateTools: 'list',
    instructions: { later: options.systemPlacement === 'hoist' ? 'front' : 'user' },
    schemas: family === 'claude' ? Object.assign({}, dialect, { strict: grammarLimits }) : dialect,
    toolNames: {
      spell: name => mapName(name, longest),
      spellProperty: mapProperty,
      longest,
      freeform: 'wrapped',
    },
    toolPairs: {
      resultsFollowCalls: true,
      // Models of Mistral take no others.
      wireCallId: family === 'mistral' ? shortId : id => mapCallId(id, validCallId),
      uniqueCallIds: 'request',
    },
  }
}

type Edit = EditWith<Options, ConverseReport>

const objectAt = (body: JsonObject, key: string): JsonObject =>
  isObject(body[key]) ? body[key] : {}

/** A model that cannot be forced decides itself. */
const toolChoice: Edit = (body, { toolChoice: taken }, report) => {
  const config = objectAt(body, 'toolConfig')
  const { any, tool } = objectAt(config, 'toolChoice')
  if (taken !== 'auto' || (any === undefined && tool === undefined)) return body
  report.add('tool-choice.not-forced', '/toolConfig/toolChoice')
  return { ...body, toolConfig: { ...config, toolChoice: { auto: {} } } }
}

/** The same in the fields of the model's own API. */
const ownChoice: Edit = (body, { toolChoice: taken }, report) => {
  const own = objectAt(body, 'additionalModelRequestFields')
  const choice = objectAt(own, 'tool_choice')
  if (taken !== 'auto' || (choice['type'] !== 'any' && choice['type'] !== 'tool')) return body
  report.add('tool-choice.not-forced', '/additionalModelRequestFields/tool_choice')
  const left = { ...without(choice, ['name']), type: 'auto' }
  return { ...body, additionalModelRequestFields: { ...own, tool_choice: left } }
}

/** Thinking in the form that the model knows, with a budget or with an effort. */
const thinking: Edit = (body, { thinking: form = defaults.thinking }, report) => {
  const own = objectAt(body, 'additionalModelRequestFields')
  const { type, budget_tokens: budget, ...shown } = objectAt(own, 'thinking')
  const config = objectAt(own, 'output_config')
  const place = '/additionalModelRequestFields/thinking'
  if (type === 'enabled' && form === 'adaptive') {
    report.add('reasoning.budget-as-effort', place)
    const effort = typeof budget === 'number' ? { effort: effortOf(budget) } : {}
    return withOwn(body, {
      ...own,
      thinking: { type: form, ...shown },
      ...((typeof budget === 'number' || own['output_config'] !== undefined) && {
        output_config: { ...effort, ...config },
      }),
    })
  }
  if (type !== 'adaptive' || form !== 'enabled') return body
  report.add('reasoning.effort-as-budget', place)
  const limits = objectAt(body, 'inferenceConfig')
  const most = limits['maxTokens']
  const wanted = budgetOf(typeof config['effort'] === 'string' ? config['effort'] : undefined)
  const tokens =
    typeof most === 'number' ? Math.max(leastBudget, Math.min(wanted, most - 1)) : wanted
  const asked = { type: form, budget_tokens: tokens, ...shown }
  const fitted = withOwn(body, { ...own, thinking: asked })
  if (typeof most !== 'number' || most > tokens) return fitted
  report.add('reasoning.budget-room', '/inferenceConfig/maxTokens')
  return { ...fitted, inferenceConfig: { ...limits, maxTokens: tokens + leastBudget } }
}

/** The effort in the words of the model, behind a budget that is made of it. */
const effort: Edit = (body, { efforts }, report) =>
  fitEffort(body, ['additionalModelRequestFields', 'output_config', 'effort'], efforts, report)

/** Without the object of the model's own fields if it would be empty. */
const withOwn = (body: JsonObject, own: JsonObject): JsonObject =>
  Object.keys(own).length > 0
    ? { ...body, additionalModelRequestFields: own }
    : without(body, ['additionalModelRequestFields'])

/** Thinking that cannot be turned off. */
const thinkingOff: Edit = (body, { thinkingOff: taken = defaults.thinkingOff }, report) => {
  const own = objectAt(body, 'additionalModelRequestFields')
  if (taken === 'disabled' || objectAt(own, 'thinking')['type'] !== 'disabled') return body
  report.add('reasoning.always-on', '/additionalModelRequestFields/thinking')
  const left = {
    ...without(own, ['thinking']),
    ...(taken === 'between_tools' && { thinking: { type: taken } }),
  }
  return withOwn(body, left)
}

const schemas: Edit = (body, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return body
  const config = objectAt(body, 'toolConfig')
  const dialect = dialectOf(taken, { ...schemaDialect, incomplete: true })
  const path = ['toolSpec', 'inputSchema', 'json']
  const tools = fitSchemas(config['tools'], { at: '/toolConfig/tools', path, dialect }, report)
  return tools === config['tools'] ? body : { ...body, toolConfig: { ...config, tools } }
}

/** An empty list of tools is refused. */
const noTools: Edit = (body, _, report) => {
  const { tools, toolChoice: choice } = objectAt(body, 'toolConfig')
  if (!isEmptyList(tools)) return body
  if (isObject(choice) && !choice['auto'])
    report.add('tool-choice.without-tools', '/toolConfig/toolChoice')
  return without(body, ['toolConfig'])
}

/** The request as its server requires by the options. */
export const fitRequest = fitWith<Options, ConverseReport>(
  [noTools, toolChoice, ownChoice, thinking, effort, thinkingOff, schemas],
  createConverseReport,
)
