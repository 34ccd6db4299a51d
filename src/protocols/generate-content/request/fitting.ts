import type { CanonicalRequest } from '../../../canonical/request.ts'
import { mapName } from '../../../kit/conversation/ids.ts'
import { nearestEffort } from '../../../kit/fields/effort.ts'
import { type Edit as EditWith, fitWith, wordsOf } from '../../../kit/fields/fit.ts'
import { isEmptyList, isObject, type JsonObject, without } from '../../../kit/json/json.ts'
import { jsonInstruction } from '../../../kit/response/json-instruction.ts'
import { dialectOf, fitSchemas, fitTools } from '../../../kit/tools/fit-tool.ts'
import type { Demands, SchemaDialect } from '../../../protocol.ts'
import type { Options } from '../options.ts'
import { createGeminiReport, type GenerateContentReport } from '../own.ts'
import { budgets } from './settings.ts'

/**
 * The server matches results to calls by their names and their order, and refuses an id that occurs
 * twice. Its contents have no system role.
 */
export function demands(_request: CanonicalRequest, { systemPlacement }: Options): Demands {
  return {
    lateTools: 'list',
    validatedChoice: true,
    schemas: schemaDialect,
    instructions: { later: systemPlacement === 'hoist' ? 'front' : 'user' },
    toolNames: { spell, longest, freeform: 'wrapped' },
    toolPairs: { resultsFollowCalls: true, namesInResults: true, uniqueCallIds: 'request' },
  }
}

const longest = 128

const schemaDialect: SchemaDialect = { references: 'bare' }

/** A name begins with a letter or an underscore, and may hold dots and colons. */
function spell(name: string): string {
  if (/^[A-Za-z_][A-Za-z0-9_.:-]{0,127}$/.test(name)) return name
  const mapped = mapName(name, longest)
  return /^[A-Za-z_]/.test(mapped) ? mapped : `_${mapped.slice(0, longest - 1)}`
}

type Edit = EditWith<Options, GenerateContentReport>

const configOf = ({ generationConfig: config }: JsonObject): JsonObject =>
  isObject(config) ? config : {}

const thinking: Edit = (wire, options, report) => {
  const config = configOf(wire)
  const { thinkingConfig: asked } = config
  const met = isObject(asked) ? fitThinking(asked, options, report) : asked
  return met === asked ? wire : { ...wire, generationConfig: { ...config, thinkingConfig: met } }
}

const place = '/generationConfig/thinkingConfig'

function fitThinking(
  thinking: JsonObject,
  options: Options,
  report: GenerateContentReport,
): JsonObject {
  const { thinkingLevel: level, thinkingBudget: budget } = thinking
  const { thinking: way, efforts, leastBudget: least = 0 } = options
  if (typeof level === 'string' && way === 'budget') {
    report.add('reasoning.effort-as-budget', `${place}/thinkingLevel`)
    const amount = Math.max(least, budgets.get(level.toLowerCase()) ?? 8192)
    return { thinkingBudget: amount, ...without(thinking, ['thinkingLevel']) }
  }
  if (typeof budget === 'number' && budget >= 0 && budget < least) {
    report.add('reasoning.least-budget', `${place}/thinkingBudget`)
    return { ...thinking, thinkingBudget: least }
  }
  if (typeof level !== 'string' || efforts === undefined) return thinking
  const word = nearestEffort(level.toLowerCase(), wordsOf(efforts))
  if (word === undefined || word === level.toLowerCase()) return thinking
  report.add('reasoning.effort', `${place}/thinkingLevel`)
  return { ...thinking, thinkingLevel: word.toUpperCase() }
}

const schemaKeys = ['responseJsonSchema', '_responseJsonSchema', 'responseSchema']

/** A model that refuses a format next to tools is asked for it in the instructions. */
const format: Edit = (wire, { jsonWithTools }, report) => {
  const config = configOf(wire)
  const { tools, systemInstruction: system } = wire
  if (jsonWithTools !== 'instruct' || !Array.isArray(tools) || tools.length === 0) return wire
  if (config['responseMimeType'] !== 'application/json') return wire
  report.add('output.format-instructed', '/generationConfig/responseMimeType')
  const schema = schemaKeys.map(key => config[key]).find(isObject)
  const parts = isObject(system) && Array.isArray(system['parts']) ? system['parts'] : []
  const left = without(config, ['responseMimeType', ...schemaKeys])
  return {
    ...(Object.keys(left).length > 0
      ? { ...wire, generationConfig: left }
      : without(wire, ['generationConfig'])),
    systemInstruction: {
      ...(isObject(system) && system),
      parts: [...parts, { text: jsonInstruction(schema) }],
    },
  }
}

/** The schemas of the other dialect, in `parameters`, stay. */
const schemas: Edit = (wire, { schemas: taken = 'keep' }, report) => {
  if (taken === 'keep') return wire
  const dialect = dialectOf(taken, { ...schemaDialect, incomplete: true })
  const tools = fitTools(wire['tools'], (tool, i) => {
    if (!isObject(tool)) return tool
    const at = `/tools/${i}/functionDeclarations`
    const path = ['parametersJsonSchema']
    const list = fitSchemas(tool['functionDeclarations'], { at, path, dialect }, report)
    return list === tool['functionDeclarations'] ? tool : { ...tool, functionDeclarations: list }
  })
  return tools === wire['tools'] ? wire : { ...wire, tools }
}

/** An empty list of functions is refused, and so is a choice among none. */
const noFunctions: Edit = (wire, _, report) => {
  const { tools, toolConfig: config } = wire
  if (!Array.isArray(tools) || !tools.every(isOfNothing)) return wire
  const choice = isObject(config) ? config['functionCallingConfig'] : undefined
  if (isObject(choice) && !isLeftToModel(choice))
    report.add('tool-choice.without-tools', '/toolConfig/functionCallingConfig')
  const left = isObject(config) ? without(config, ['functionCallingConfig']) : {}
  const rest = without(wire, ['tools', 'toolConfig'])
  return Object.keys(left).length > 0 ? { ...rest, toolConfig: left } : rest
}

const isLeftToModel = ({ mode = 'AUTO', ...others }: JsonObject) =>
  (mode === 'AUTO' || mode === 'NONE') && Object.keys(others).length === 0

const isOfNothing = (tool: unknown) => isObject(tool) && Object.values(tool).every(isEmptyList)

/** The request as its server requires by the options. */
export const fitRequest = fitWith<Options, GenerateContentReport>(
  [noFunctions, thinking, format, schemas],
  createGeminiReport,
)
