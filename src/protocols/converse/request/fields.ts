import { fieldTable, type InCode, rowFor } from '../../../kit/fields/fields.ts'
import { filledStops } from '../../../kit/fields/stop.ts'
import { isObject } from '../../../kit/json/json.ts'
import type { FieldNames } from '../../../protocol.ts'
import type { RequestWriting } from '../content/writing.ts'
import { errorTable } from '../errors.ts'
import { usageTable } from '../usage.ts'
import { tierWords } from '../vocabulary.ts'
import { encodeMetadata } from './settings.ts'

const row = rowFor<RequestWriting>()
const byCode = { write: false } as const
const code = { read: false, write: false } as const
const more = 'additionalModelRequestFields'

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
const asWhole = (value: unknown) => (Number.isInteger(value) ? (value as number) : undefined)
const textByCode = { ...byCode, read: asText }
const wholeByCode = { ...byCode, read: asWhole }
/** A limit of less than nothing has no meaning here. */
const isLimit = (value: unknown): value is number => typeof value === 'number' && value >= 0
const isDisplay = (value: unknown): value is string => value === 'summarized' || value === 'omitted'

const inCode: InCode = {
  wire: ['messages', 'system', 'toolConfig/tools'],
  fields: [
    'tools',
    'parallelToolCalls',
    'output.modalities',
    'reasoning.summary',
    'candidateCount',
    'cache.auto',
    'cache.contentRef',
    'cache.mode',
    'state',
    'stream',
  ],
}

/**
 * The request fields that hold one value. Those that only some models have are in
 * `additionalModelRequestFields`, under the names of the models' own APIs; of several with one
 * meaning, the last one counts.
 */
export const fields = fieldTable<RequestWriting>(inCode, [
  row('modelId', 'model', byCode),
  row('toolConfig/toolChoice', 'toolChoice', code),
  row('outputConfig/textFormat', 'output.format', code),
  row('inferenceConfig/maxTokens', 'maxOutputTokens', {
    ...byCode,
    read: value => (isLimit(value) ? value : undefined),
  }),
  row('inferenceConfig/temperature', 'sampling.temperature', byCode),
  row('inferenceConfig/topP', 'sampling.topP', byCode),
  row('inferenceConfig/stopSequences', 'stop', { write: filledStops }),
  row('requestMetadata', 'metadata', { write: encodeMetadata }),
  row('serviceTier/type', 'serviceTier.tier', {
    ...byCode,
    read: word => tierWords.toOurs(word as string) ?? (word as string),
  }),
  row(`${more}/top_k`, 'sampling.topK', wholeByCode),
  row(`${more}/inferenceConfig/topK`, 'sampling.topK', wholeByCode),
  row(`${more}/reasoning_config/type`, 'reasoning.mode', textByCode),
  row(`${more}/reasoning_config/budget_tokens`, 'reasoning.budgetTokens', wholeByCode),
  row(`${more}/reasoningConfig/type`, 'reasoning.mode', textByCode),
  row(`${more}/thinking/budget_tokens`, 'reasoning.budgetTokens', wholeByCode),
  row(`${more}/thinking/display`, 'reasoning.display', {
    ...byCode,
    read: value => (isDisplay(value) ? value : undefined),
  }),
  row(`${more}/thinking/type`, 'reasoning.mode', textByCode),
  row(`${more}/reasoning_effort`, 'reasoning.effort', textByCode),
  row(`${more}/reasoning_config`, 'reasoning.effort', {
    ...byCode,
    read: value => (isObject(value) ? null : asText(value)),
  }),
  row(`${more}/reasoningConfig/maxReasoningEffort`, 'reasoning.effort', textByCode),
  row(`${more}/reasoning/effort`, 'reasoning.effort', textByCode),
  row(`${more}/output_config/effort`, 'reasoning.effort', textByCode),
  row('outputConfig/effort', 'reasoning.effort', byCode),
])

/** Fields with several places: the places, the one that counts last. */
export const places: Readonly<Record<string, readonly string[]>> = {
  'sampling.topK': ['top_k', 'inferenceConfig/topK'],
  'reasoning.mode': ['reasoning_config/type', 'reasoningConfig/type', 'thinking/type'],
  'reasoning.budgetTokens': ['reasoning_config/budget_tokens', 'thinking/budget_tokens'],
  'reasoning.effort': [
    'reasoning_effort',
    'reasoning_config',
    'reasoningConfig/maxReasoningEffort',
    'reasoning/effort',
    'output_config/effort',
  ],
}

/** The path of each canonical field on this wire. */
export const fieldNames: FieldNames = {
  ...fields.names,
  ...usageTable.names,
  ...errorTable.names,
  turns: 'messages',
  'output.format.strict': 'outputConfig/textFormat',
  'output.format.schema': 'outputConfig/textFormat/structure/jsonSchema/schema',
  'output.format.description': 'outputConfig/textFormat/structure/jsonSchema/description',
  'toolChoice.mode': 'toolConfig/toolChoice',
  'toolChoice.raw': 'toolConfig/toolChoice',
  'toolChoice.name': 'toolConfig/toolChoice/tool/name',
  'toolChoice:name': 'tool/name',
  parallelToolCalls: 'additionalModelRequestFields/tool_choice/disable_parallel_tool_use',
  parameters: 'inputSchema/json',
  isError: 'status',
  callId: 'toolUseId',
  'toolUse:id': 'toolUseId',
  'image:mime': 'format',
  'document:mime': 'format',
  'video:mime': 'format',
  'audio:mime': 'format',
  title: 'name',
  'reasoningContent:signature': 'reasoningText/signature',
  redacted: 'redactedContent',
  phase: '',
  // With `/*`: objects whose unknown keys are kept under the object's name.
  'additionalModelRequestFields/*': '',
  'inferenceConfig/*': '',
  'outputConfig/*': '',
  'textFormat/*': '',
  'structure/*': '',
  'jsonSchema/*': '',
  'toolConfig/*': '',
  'toolChoice/*': '',
  'serviceTier/*': '',
  'thinking/*': '',
  'reasoning_config/*': '',
  'reasoningConfig/*': '',
  'reasoning/*': '',
  'output_config/*': '',
  'tool_choice/*': '',
  'inputSchema/*': '',
  'source/*': '',
  'content/*': '',
  'sourceContent/*': '',
  'location/*': '',
  'web/*': '',
  'documentChar/*': '',
  'documentPage/*': '',
  'documentChunk/*': '',
  'searchResultLocation/*': '',
  's3Location/*': '',
  'citations/*': '',
  'reasoningText/*': '',
  'output/*': '',
  'message/*': '',
  'metrics/*': '',
  ':details': '',
  ':status': 'message',
  'finish.reason': 'stopReason',
  'finish.sequence': 'additionalModelResponseFields',
  'finish.details': 'trace',
  serviceTier: 'serviceTier/type',
  serverTools: 'serverToolUsage',
  cacheWriteByTtl: 'cacheDetails',
}
