import { isObject, type JsonObject } from '../kit/json/json.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'
import { knownModel } from './index.ts'
import type { Model } from './model.ts'
import { isAlwaysThinking } from './names.ts'

/** What follows from a model for requests of one protocol. */
export type ModelSettings = {
  /** The vendor that made it. */
  maker?: string
  /** Defaults for the mapping options. */
  options: WrittenOptions
  /** The same for reading responses: none. */
  responseOptions: WrittenOptions
  /** Fields that are dropped, as the protocol names them. */
  unsupported: string[]
  /** Fields that are dropped from a request that asks for something else. Absent: none. */
  dependent?: readonly DependentField[]
  /** The most tokens that it takes. */
  limits: { output?: number | undefined; budget?: number | undefined }
}

/**
 * A field that is refused next to another. `beside`: whether a request has that; `isTaken`: values
 * that are taken all the same.
 */
export type DependentField = {
  field: string
  beside(body: JsonObject): boolean
  isTaken(value: unknown): boolean
}

/** Each model has one object for each protocol, as the options of most requests are these alone. */
const made = new WeakMap<Model, Partial<Record<ProtocolName, ModelSettings>>>()

/** What applies to requests of this protocol for this model. Undefined: nothing is known. */
export function modelSettings(
  protocol: ProtocolName,
  name: string | undefined,
): ModelSettings | undefined {
  const { maker, model } = knownModel(name) ?? {}
  if (!maker || !model) return undefined
  const known = made.get(model) ?? {}
  if (!made.has(model)) made.set(model, known)
  known[protocol] ??= {
    responseOptions: {},
    limits: { output: model.outputTokens, budget: model.budget?.most },
    ...(maker.protocols.includes(protocol)
      ? { maker: maker.vendor ?? maker.name, ...inItsTerms(model, protocol) }
      : elsewhere(model, protocol)),
  }
  return known[protocol]
}

const inItsTerms = (model: Model, protocol: ProtocolName) => ({
  options: optionsFor[protocol](model),
  unsupported: [
    ...(model.sampling === 'none' ? samplingFields[protocol] : []),
    ...(model.thinking?.length === 0 ? thinkingFields[protocol] : []),
    ...(model.efforts === '' ? effortFields[protocol] : []),
    ...(model.refuses ?? []),
  ],
  dependent: dependentOf(model, protocol),
})

/**
 * What a model refuses wherever it is served: to be told not to think, other sampling than its own,
 * and a choice of tools that forces one.
 */
const elsewhere = (model: Model, protocol: ProtocolName) => ({
  options: optionsElsewhere[protocol]?.(model) ?? {},
  unsupported:
    model.sampling === 'none'
      ? [...samplingFields[protocol], ...(protocol === 'chat-completions' ? ['top_k'] : [])]
      : [],
  dependent: dependentOf(model, protocol),
})

/** The fields that ask for thinking, where they are not efforts. */
const thinkingFields: Record<ProtocolName, readonly string[]> = {
  'chat-completions': [],
  responses: [],
  messages: ['thinking'],
  'generate-content': ['generationConfig.thinkingConfig'],
  converse: ['additionalModelRequestFields.thinking'],
}

/** The same for efforts, where no option of the protocol sees to them. */
const effortFields: Record<ProtocolName, readonly string[]> = {
  'chat-completions': [],
  responses: [],
  messages: [],
  'generate-content': [],
  converse: [],
}

const isOne = (value: unknown) => value === 1
const never = () => false
/** Anthropic: https://platform.claude.com/docs/en/build-with-claude/extended-thinking */
const isNearlyAll = (value: unknown) => typeof value === 'number' && value >= 0.95

type Taken = Readonly<Record<string, (value: unknown) => boolean>>

/** What a model that thinks refuses of sampling, and the values that it takes. */
const besideThinking: Record<ProtocolName, Taken> = {
  'chat-completions': { temperature: isOne, top_p: isOne, logprobs: never, top_logprobs: never },
  responses: { temperature: isOne, top_p: isOne, top_logprobs: never },
  messages: { temperature: isOne, top_p: isNearlyAll, top_k: never },
  'generate-content': {},
  converse: {
    'inferenceConfig.temperature': isOne,
    'inferenceConfig.topP': isNearlyAll,
    'additionalModelRequestFields.top_k': never,
  },
}

const under = (value: unknown, key: string) => (isObject(value) ? value[key] : undefined)
const isEffort = (word: unknown) => typeof word === 'string' && word !== 'none'
const isOn = (thinking: unknown) =>
  ['enabled', 'adaptive'].includes(String(under(thinking, 'type')))

/** Does a request ask for thinking? */
const thinks: Record<ProtocolName, (body: JsonObject) => boolean> = {
  'chat-completions': ({ reasoning_effort: effort, reasoning }) =>
    isEffort(effort) ||
    isEffort(under(reasoning, 'effort')) ||
    under(reasoning, 'enabled') === true,
  responses: body => isEffort(under(body['reasoning'], 'effort')),
  messages: body => isOn(body['thinking']),
  'generate-content': never,
  converse: body => isOn(under(body['additionalModelRequestFields'], 'thinking')),
}

/** Has a request the first of two values of which the model takes one? */
const hasTemperature: Partial<Record<ProtocolName, (body: JsonObject) => boolean>> = {
  'chat-completions': body => body['temperature'] != null,
  responses: body => body['temperature'] != null,
  messages: body => body['temperature'] != null,
  converse: body => under(body['inferenceConfig'], 'temperature') != null,
}

function dependentOf(
  { sampling, samplingWithThinking }: Model,
  protocol: ProtocolName,
): DependentField[] {
  const thinking = samplingWithThinking === false ? besideThinking[protocol] : {}
  const beside = thinks[protocol]
  const found = Object.entries(thinking).map(([field, isTaken]) => ({ field, beside, isTaken }))
  const other = sampling === 'one' ? hasTemperature[protocol] : undefined
  const field = protocol === 'converse' ? 'inferenceConfig.topP' : 'top_p'
  return other ? [...found, { field, beside: other, isTaken: never }] : found
}

/** The fields of sampling, where a model takes their defaults alone. */
const samplingFields: Record<ProtocolName, readonly string[]> = {
  'chat-completions': [
    'temperature',
    'top_p',
    'presence_penalty',
    'frequency_penalty',
    'logit_bias',
    'logprobs',
    'top_logprobs',
  ],
  responses: ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty', 'top_logprobs'],
  messages: ['temperature', 'top_p', 'top_k'],
  'generate-content': [],
  converse: [
    'inferenceConfig.temperature',
    'inferenceConfig.topP',
    'additionalModelRequestFields.top_k',
  ],
}

/** The options that are known, without a group that would be empty. */
function group<Key extends keyof WrittenOptions>(
  key: Key,
  values: Record<string, unknown>,
): WrittenOptions {
  const known = Object.entries(values).filter(([, value]) => value !== undefined)
  return known.length > 0 ? { [key]: Object.fromEntries(known) } : {}
}

const effortsOf = (efforts: string | undefined): WrittenOptions =>
  efforts === undefined ? {} : { efforts }

const schemasOf = ({ toolSchemas }: Model): WrittenOptions =>
  toolSchemas === undefined ? {} : { tools: { schemas: toolSchemas } }

const optionsFor: Record<ProtocolName, (model: Model) => WrittenOptions> = {
  'chat-completions': model => ({
    ...schemasOf(model),
    ...effortsOf(model.chatEfforts ?? model.efforts),
    ...group('chatCompletions', {
      thinking: isAlwaysThinking(model) ? 'always' : undefined,
      toolChoice: model.toolChoice,
      effortWithTools: model.effortWithTools,
      afterResults: betweenOf(model),
    }),
  }),
  responses: model => ({
    ...schemasOf(model),
    ...effortsOf(model.efforts),
  }),
  messages: ({ thinking, efforts }) => ({
    ...effortsOf(efforts),
    ...group('messages', { thinking: thinking && onlyForm(thinking) }),
  }),
  'generate-content': ({ thinking, efforts, budget, jsonWithTools }) => ({
    ...effortsOf(efforts),
    ...group('generateContent', {
      thinking: thinking && !thinking.includes('effort') ? 'budget' : undefined,
      leastBudget: budget?.least,
      jsonWithTools: jsonWithTools && 'instruct',
    }),
  }),
  converse: model => ({
    ...schemasOf(model),
    ...effortsOf(model.efforts),
    ...group('converse', {
      thinking: model.thinking && onlyForm(model.thinking),
      toolChoice: model.toolChoice,
      thinkingOff: offOf(model),
    }),
  }),
}

/** The same where a model is served in the words of others. */
const optionsElsewhere: Partial<Record<ProtocolName, (model: Model) => WrittenOptions>> = {
  'chat-completions': model => ({
    ...leastEfforts(model),
    ...group('chatCompletions', {
      thinkingOff: isAlwaysThinking(model) ? 'least' : undefined,
      toolChoice: model.toolChoice && 'unforced',
      afterResults: betweenOf(model),
    }),
  }),
  responses: model => ({
    ...leastEfforts(model),
    ...group('responses', { toolChoice: model.toolChoice && 'unforced' }),
  }),
}

const betweenOf = ({ userAfterResults }: Model) =>
  userAfterResults === false ? 'assistant' : undefined

/** What cannot be told not to think is told to think as little as it can. */
const leastEfforts = (model: Model): WrittenOptions =>
  isAlwaysThinking(model) ? effortsOf(model.efforts || undefined) : {}

/** What is written to turn thinking off. Undefined: what says so. */
function offOf(model: Model): 'between_tools' | 'omit' | undefined {
  if (!isAlwaysThinking(model)) return undefined
  return model.thinking?.includes('between_tools') ? 'between_tools' : 'omit'
}

/** The only way to ask for thinking. Undefined: there are both. */
function onlyForm(thinking: NonNullable<Model['thinking']>): 'enabled' | 'adaptive' | undefined {
  if (!thinking.includes('adaptive')) return 'enabled'
  return thinking.includes('budget') ? undefined : 'adaptive'
}
