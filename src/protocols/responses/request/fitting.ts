import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapCallId, mapName, mapNameByLetter } from '../../../kit/conversation/ids.ts'
import { fitCacheKey } from '../../../kit/fields/cache-key.ts'
import { type Edit as EditWith, fitWith } from '../../../kit/fields/fit.ts'
import { fitEffort } from '../../../kit/fields/fit-effort.ts'
import { isObject, without } from '../../../kit/json/json.ts'
import { jsonInstruction } from '../../../kit/response/json-instruction.ts'
import { dialectOf, fitOutput, fitTool, fitTools } from '../../../kit/tools/fit-tool.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import { validCallId } from '../content/calls.ts'
import type { Options } from '../options.ts'
import { createResponsesReport, type ResponsesReport } from '../own.ts'

const longest = 128

/** For the keyword in responses: https://github.com/vercel/ai/pull/20621 (2026-09-10) */
const schemaDialect: SchemaDialect = {
  strict: 'closed',
  patterns: 'python',
  outputWithout: ['propertyNames'],
}
/** Of servers that enforce each schema in their form. */
const { strict: _, ...enforcedDialect } = schemaDialect

/** Calls and results are items of their own, linked by the id alone. */
export function demands(_request: CanonicalRequest, { schemas, namesByLetter }: Options): Demands {
  return {
    lateTools: 'parts',
    // What a vendor demands besides is edited in what is written.
    schemas: schemas === 'typed' ? enforcedDialect : schemaDialect,
    toolNames: {
      spell: name => (namesByLetter ? mapNameByLetter(name, 64) : mapName(name, longest)),
      longest: namesByLetter ? 64 : longest,
      namespaces: true,
    },
    toolPairs: { uniqueCallIds: 'turn', wireCallId: id => mapCallId(id, validCallId) },
  }
}

type Edit = EditWith<Options, ResponsesReport>

/** The types of all tools, also of those in the conversation. */
export function toolTypes(wire: unknown): string[] {
  if (!isObject(wire)) return []
  const typesIn = (list: unknown) =>
    Array.isArray(list)
      ? list.flatMap((tool: unknown) => (isObject(tool) ? [String(tool['type'])] : []))
      : []
  const items = Array.isArray(wire['input']) ? wire['input'] : []
  return [
    ...typesIn(wire['tools']),
    ...items.flatMap((item: unknown) =>
      isObject(item) && item['type'] === 'additional_tools' ? typesIn(item['tools']) : [],
    ),
  ]
}

const effort: Edit = (body, { efforts }, report) =>
  fitEffort(body, ['reasoning', 'effort'], efforts, report)

const schemas: Edit = (body, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return body
  const dialect = dialectOf(taken, schemaDialect)
  const fitAt =
    (place: string) =>
    (tool: unknown, i: number): unknown => {
      const at = `${place}/${i}`
      // Those of a namespace are listed in it.
      if (isObject(tool) && Array.isArray(tool['tools'])) {
        const tools = fitTools(tool['tools'], fitAt(`${at}/tools`))
        return tools === tool['tools'] ? tool : { ...tool, tools }
      }
      return fitTool(tool, ['parameters'], dialect, () =>
        report.add('schema.keywords', `${at}/parameters`),
      )
    }
  const tools = fitTools(body['tools'], fitAt('/tools'))
  const fitted = tools === body['tools'] ? body : { ...body, tools }
  return fitOutput(fitted, ['text', 'format', 'schema'], dialect, report)
}

const forcedTools: Edit = (body, { toolChoice: taken }, report) => {
  const { tool_choice: choice } = body
  if (taken !== 'unforced' || choice == null || choice === 'auto' || choice === 'none') return body
  const isList = isObject(choice) && choice['type'] === 'allowed_tools'
  if (isList && choice['mode'] === 'auto') return body
  report.add('tool-choice.not-forced', '/tool_choice')
  return { ...body, tool_choice: isList ? { ...choice, mode: 'auto' } : 'auto' }
}

const choiceOfTools: Edit = (body, { choiceWithoutTools: taken }, report) => {
  if (
    taken !== 'drop' ||
    body['tool_choice'] === undefined ||
    (Array.isArray(body['tools']) && body['tools'].length > 0)
  )
    return body
  if (body['tool_choice'] !== 'auto' && body['tool_choice'] !== 'none')
    report.add('tool-choice.without-tools', '/tool_choice')
  return without(body, ['tool_choice'])
}

/** Servers that require the word JSON look for it in the input, not in the instructions. */
const jsonWord: Edit = (body, { jsonWord: taken }, report) => {
  const { text, input } = body
  const wanted = isObject(text) ? text['format'] : undefined
  if (taken !== 'add' || !isObject(wanted) || wanted['type'] !== 'json_object') return body
  if (/json/i.test(JSON.stringify(input) ?? '')) return body
  report.add('output.json-instructed', '/text/format')
  const items: unknown[] = Array.isArray(input) ? input : [{ role: 'user', content: input ?? '' }]
  return { ...body, input: [{ role: 'developer', content: jsonInstruction() }, ...items] }
}

const cacheKey: Edit = (body, { longCacheKey }, report) => fitCacheKey(body, longCacheKey, report)

/** The request as its server requires by the options. */
export const fitRequest = fitWith<Options, ResponsesReport>(
  [effort, schemas, forcedTools, choiceOfTools, jsonWord, cacheKey],
  createResponsesReport,
)
