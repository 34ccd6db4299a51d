import { isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { dialectOf, fitTool, fitTools } from '../../../kit/tools/fit-tool.ts'
import { type ConverseReport, createConverseReport } from '../notes.ts'
import { defaults, type Options } from '../options.ts'
import { schemaDialect } from './demands.ts'

type Edit = (body: JsonObject, options: Options, report: ConverseReport) => JsonObject

/**
 * The request as its model requires by the options, with a note for each change. The same object if
 * nothing has to change.
 */
export function fitRequest(
  wire: unknown,
  options: Options,
): { wire: unknown; notes: ConverseReport['notes'] } {
  const report = createConverseReport()
  if (!isObject(wire)) return { wire, notes: [] }
  let body = wire
  for (const edit of edits) body = edit(body, options, report)
  return { wire: body, notes: report.notes }
}

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

/** Thinking that cannot be turned off. */
const thinkingOff: Edit = (body, { thinkingOff: taken = defaults.thinkingOff }, report) => {
  const own = objectAt(body, 'additionalModelRequestFields')
  if (taken === 'disabled' || objectAt(own, 'thinking')['type'] !== 'disabled') return body
  report.add('reasoning.always-on', '/additionalModelRequestFields/thinking')
  const left = {
    ...without(own, ['thinking']),
    ...(taken === 'between_tools' && { thinking: { type: taken } }),
  }
  return Object.keys(left).length > 0
    ? { ...body, additionalModelRequestFields: left }
    : without(body, ['additionalModelRequestFields'])
}

const schemas: Edit = (body, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return body
  const config = objectAt(body, 'toolConfig')
  const dialect = dialectOf(taken, { ...schemaDialect, incomplete: true })
  const tools = fitTools(config['tools'], (tool, i) =>
    fitTool(tool, ['toolSpec', 'inputSchema', 'json'], dialect, () =>
      report.add('schema.keywords', `/toolConfig/tools/${i}/toolSpec/inputSchema/json`),
    ),
  )
  return tools === config['tools'] ? body : { ...body, toolConfig: { ...config, tools } }
}

const edits: readonly Edit[] = [toolChoice, ownChoice, thinkingOff, schemas]
