import { refusedWords } from '../../../src/testing/hosts/anthropic.ts'
import { chatServer, schemaHas } from './base/chat.ts'
import { blocksOf, messagesServer } from './base/messages.ts'
import { isJson, type Json, listOf, type Simulator } from './base/turn.ts'

/**
 * By line of models: how thinking is requested, whether sampling is accepted, and where system
 * messages may be.
 */
const lines: {
  models: RegExp
  thinking: string[]
  efforts: string[]
  sampling: boolean
  midSystem: boolean
  forced: boolean
}[] = [
  {
    models: /opus-4-5/,
    thinking: ['enabled', 'disabled'],
    efforts: ['low', 'medium', 'high'],
    sampling: true,
    midSystem: false,
    forced: true,
  },
  {
    models: /-4-6/,
    thinking: ['adaptive', 'enabled', 'disabled'],
    efforts: ['low', 'medium', 'high', 'max'],
    sampling: true,
    midSystem: false,
    forced: true,
  },
  {
    models: /opus-4-7/,
    thinking: ['adaptive', 'disabled'],
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    sampling: false,
    midSystem: false,
    forced: true,
  },
  {
    models: /opus-4-8|sonnet-5|opus-5/,
    thinking: ['adaptive', 'disabled'],
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    sampling: false,
    midSystem: true,
    forced: true,
  },
  {
    models: /fable|mythos/,
    thinking: ['adaptive'],
    efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
    sampling: false,
    midSystem: true,
    forced: false,
  },
  {
    models: /./,
    thinking: ['enabled', 'disabled'],
    efforts: [],
    sampling: true,
    midSystem: false,
    forced: true,
  },
]

const lineOf = (model: string) =>
  lines.find(({ models }) => models.test(model)) as (typeof lines)[number]

/** A keyword that structured outputs do not take. */
const badKeyword = (schema: unknown) =>
  schemaHas(
    schema,
    (key, value, inner) =>
      refusedWords.has(key) ||
      (key === 'minItems' && Number(value) > 1) ||
      (key === 'type' && value === 'object' && inner['additionalProperties'] !== false),
  )

/** What Claude refuses wherever it is served. */
export function refusedByClaude(body: Json, model: string): string | undefined {
  const { thinking, efforts, sampling, forced } = lineOf(model)
  const config = isJson(body['output_config']) ? body['output_config'] : {}
  const mode = isJson(body['thinking']) ? String(body['thinking']['type']) : undefined
  if (mode !== undefined && !thinking.includes(mode))
    return `thinking.type: '${mode}' is not supported on this model`
  if (config['effort'] !== undefined && !efforts.includes(String(config['effort'])))
    return 'output_config.effort: this level is not supported on this model'
  if (!sampling && ['temperature', 'top_p', 'top_k'].some(key => body[key] !== undefined))
    return '`temperature` is deprecated for this model.'
  if (body['temperature'] !== undefined && body['top_p'] !== undefined)
    return '`temperature` and `top_p` cannot both be specified for this model.'
  const isOn = mode === 'enabled' || mode === 'adaptive'
  if (isOn && sampling && body['temperature'] !== undefined && body['temperature'] !== 1)
    return '`temperature` may only be set to 1 when thinking is enabled.'
  const choice = isJson(body['tool_choice']) ? body['tool_choice']['type'] : undefined
  if ((choice === 'any' || choice === 'tool') && (!forced || mode === 'enabled'))
    return 'Thinking may not be enabled when tool_choice forces tool use.'
  const tools = listOf(body['tools'])
  if (tools.length > 0 && tools.every(tool => tool['defer_loading'] === true))
    return 'At least one tool must have defer_loading=false'
  const schemas = [
    isJson(config['format']) ? config['format']['schema'] : undefined,
    ...tools.filter(({ strict }) => strict === true).map(tool => tool['input_schema']),
  ]
  const keyword = schemas.map(badKeyword).find(Boolean)
  if (keyword)
    return `output_config.format.schema: For this type, property '${keyword}' is not supported`
  if (mode === 'enabled') {
    const last = listOf(body['messages']).findLast(({ role }) => role === 'assistant')
    const parts = listOf(last?.['content'])
    if (
      parts.some(({ type }) => type === 'tool_use') &&
      !/thinking$/.test(String(parts[0]?.['type'])) &&
      isOpenLoop(body)
    )
      return 'messages: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block'
  }
  return blocksOf(body).some(
    ({ type, content }) => type === 'tool_result' && Array.isArray(content) && content.length === 0,
  )
    ? 'tool_result: content must not be empty'
    : undefined
}

const isOpenLoop = (body: Json) =>
  listOf(listOf(body['messages']).at(-1)?.['content']).some(({ type }) => type === 'tool_result')

const isSilent = (body: Json, model: string) => {
  const mode = isJson(body['thinking']) ? body['thinking']['type'] : undefined
  return mode === 'disabled' || (mode === undefined && !/fable|mythos|opus-5|sonnet-5/.test(model))
}
export const claude = {
  midSystem: (model: string) => lineOf(model).midSystem,
  silent: isSilent,
  refuse: refusedByClaude,
}

export const anthropic: Simulator = {
  models: ['claude-opus-5', 'claude-sonnet-4-5', 'claude-opus-4-7', 'claude-fable-5'],
  endpoints: [
    messagesServer({ urls: ['https://api.anthropic.com/v1/messages'], isStrict: true, ...claude }),
    chatServer({
      urls: ['https://api.anthropic.com/v1/chat/completions'],
      roles: ['developer', 'system', 'user', 'assistant', 'tool'],
      silent: () => true,
      refuse: body => (body['n'] !== undefined && body['n'] !== 1 ? 'n: must be 1' : undefined),
    }),
  ],
}
