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
  /** The most tokens that it takes. */
  limits: { output?: number | undefined; budget?: number | undefined }
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
  const settings = known[protocol] ?? {
    responseOptions: {},
    limits: { output: model.outputTokens, budget: model.budget?.most },
    ...(maker.protocols.includes(protocol)
      ? { maker: maker.vendor ?? maker.name, ...inItsTerms(model, protocol) }
      : { options: {}, unsupported: [] }),
  }
  made.set(model, { ...known, [protocol]: settings })
  return settings
}

const inItsTerms = (model: Model, protocol: ProtocolName) => ({
  options: optionsFor[protocol](model),
  unsupported: [
    ...(model.sampling === 'none' ? samplingFields[protocol] : []),
    ...(model.refuses ?? []),
  ],
})

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
    ...group('converse', { toolChoice: model.toolChoice, thinkingOff: offOf(model) }),
  }),
}

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
