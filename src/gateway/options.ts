import { z } from 'zod'
import { isVersion, matchListing, matchOf } from '../address/paths.ts'
import { isObject } from '../kit/json.ts'
import type { OptionWords } from '../protocol.ts'
import { mappingOptionWords, protocolNames, type WrittenOptions } from '../protocols/index.ts'
import { longestCredential } from './credential.ts'
import { isOfConnection, isPrivate, isSafe } from './headers.ts'
import { faultOfName } from './model-name.ts'

/** In milliseconds. A timer that is set for longer fires at once. */
export const longestMs = 2 ** 31 - 1
const milliseconds = z.int().min(0).max(longestMs)
const redisUrl = z.url({ protocol: /^rediss?$/, error: 'expected a URL like redis://host:6379' })
const perMinute = z.int().min(0)
const name = z.string().min(1)
/** A star anywhere else would fit nothing. */
const isPattern = (text: string) => !text.slice(0, -1).includes('*')
const patternFault = 'expected a star at its end alone'
const modelId = name.superRefine((id, context) => {
  const fault = isPattern(id) ? faultOfName(id) : patternFault
  if (fault) context.addIssue({ code: 'custom', message: fault })
})

/** An object with these keys and no others. */
const entry = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject(shape, {
    error: ({ code, keys }) =>
      code === 'unrecognized_keys' ? `unknown key${keys.length > 1 ? 's' : ''} ${keys.join(', ')}; there are ${Object.keys(shape).join(', ')}` : undefined,
  })

const Key = entry({
  name,
  key: z.string().max(longestCredential).regex(/^\S+$/, 'expected a key without spaces and line breaks'),
  group: name.optional(),
  requestsPerMinute: perMinute.default(0),
  disabled: z.boolean().default(false),
})

const Group = entry({ models: z.array(z.string().refine(isPattern, patternFault)).default(['*']), requestsPerMinute: perMinute.default(0) })

/** How translations to and from a channel or model are done, where there is a choice. */
const Mapping = z
  .record(z.string(), z.union([z.string(), z.number(), z.boolean()], 'expected a string, a number or a boolean'))
  .superRefine((options, context) => {
    const known = mappingOptionWords()
    for (const [option, value] of Object.entries(options)) {
      const words = known[option]
      const fault = words === undefined ? `there is no option ${option}; there are ${Object.keys(known).sort().join(', ')}` : faultOf(value, words)
      if (fault) context.addIssue({ code: 'custom', path: [option], message: fault })
    }
  })

function faultOf(value: string | number | boolean, words: OptionWords): string | undefined {
  if (typeof words === 'object') return words.some(word => word === value) ? undefined : `expected one of ${words.join(', ')}`
  const wanted = { flag: 'boolean', number: 'number', text: 'string' }[words]
  return typeof value === wanted ? undefined : `expected a ${wanted}`
}

const Timeouts = entry({
  connectMs: milliseconds.default(10_000),
  firstByteMs: milliseconds.default(300_000),
  idleMs: milliseconds.default(120_000),
  totalMs: milliseconds.default(0),
})

/** A channel that failed so many times in a row is left alone for so long; 0 failures: never. */
const Breaker = entry({ failures: z.int().min(0).default(5), restMs: milliseconds.default(10_000) })

function inLowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}

/** Refuses headers that would silently be left out of every call, or make each fail. */
function refuseUnsafe(headers: Record<string, string>, context: z.RefinementCtx): void {
  const known = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const refuse = (message: string) => context.addIssue({ code: 'custom', path: [name], message })
    if (!isSafe(name, value)) refuse('expected a name and a value that a header can hold, without line breaks')
    if (isOfConnection(name)) refuse('expected a header that is not of the connection')
    if (known.has(name.toLowerCase())) refuse('expected each header only once, whatever its case')
    known.add(name.toLowerCase())
  }
}

const headerPattern = name
  .refine(header => !isPrivate(header), 'expected a header that is no credential and not of the connection')
  .refine(isPattern, patternFault)

const Channel = entry({
  name,
  protocols: z.array(z.enum(protocolNames)).min(1).optional(),
  baseUrl: z.url({ protocol: /^https?$/, error: 'expected a URL like https://host' }).optional(),
  /** `false`: only the endpoint is added, for servers whose paths say no version in front of it. */
  addVersion: z.boolean().default(true),
  apiKey: z
    .string()
    .refine(key => isSafe('authorization', key), 'expected a key that a header can hold, without line breaks')
    .refine(key => !/^bearer\s/i.test(key), 'expected the key alone, without "Bearer"')
    .transform(key => key || undefined)
    .optional(),
  headers: z.record(z.string(), z.string()).default({}).superRefine(refuseUnsafe).transform(inLowerCase),
  forwardHeaders: z.array(headerPattern).default([]),
  returnHeaders: z.array(headerPattern).default([]),
  requestsPerMinute: perMinute.default(0),
  timeouts: Timeouts.prefault({}),
  breaker: Breaker.prefault({}),
  options: Mapping.default({}),
  streamUsage: z.boolean().default(true),
  embedded: z.literal('demo').optional(),
}).superRefine((channel, context) => {
  const need = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (channel.embedded) return
  if (!channel.baseUrl) need('baseUrl', 'expected a URL like https://host (or "embedded": "demo")')
  if (!channel.protocols) need('protocols', `expected a list of ${protocolNames.join(', ')}`)
  const fault = channel.baseUrl && faultOfBase(channel.baseUrl)
  if (fault) need('baseUrl', fault)
})

const ModelChannel = entry({ name, model: name.optional(), weight: z.number().positive().default(1), priority: z.number().default(0) })

const Model = entry({
  id: modelId,
  aliases: z.array(modelId).default([]),
  channels: z.array(ModelChannel).min(1),
  displayName: z.string().optional(),
  contextTokens: z.int().positive().optional(),
  maxOutputTokens: z.int().positive().optional(),
  unsupported: z.array(z.string().min(1)).default([]),
  streaming: z.enum(['both', 'only', 'never']).default('both'),
  options: Mapping.default({}),
})

const Defaults = entry({
  maxOutputTokens: z.int().positive().default(32_000),
  /** At the same channel, before the next one is tried. */
  retries: z.int().min(0).max(10).default(2),
  /** The longest wait before a retry; an upstream that asks for more is not waited for. */
  retryWaitMs: milliseconds.default(5_000),
  bodyLimitBytes: z
    .int()
    .positive()
    .default(32 * 1024 * 1024),
  depthLimit: z.int().positive().default(256),
  /** Of one event of an upstream's stream, in UTF-16 units. */
  eventLimit: z
    .int()
    .positive()
    .default(64 * 1024 * 1024),
  /** From one address; 0: no limit. Behind a proxy all clients have one. */
  wrongKeysPerMinute: perMinute.default(0),
  keepAliveMs: milliseconds.default(15_000),
  strict: z
    .union([z.boolean(), z.array(z.enum(['dropped', 'approximated', 'synthesized']))], 'expected true, false, or a list of dropped, approximated, synthesized')
    .default(false),
  notesHeader: z.boolean().default(true),
})

/** Where replies are kept. `memory` and `redis` absent: the hook `store` says where. */
const Store = entry({
  memory: z.literal(true).optional(),
  redis: redisUrl.optional(),
  ttlMs: z
    .int()
    .positive()
    .default(30 * 24 * 60 * 60 * 1000),
  memoryLimitBytes: z
    .int()
    .positive()
    .default(256 * 1024 * 1024),
  signatures: z.boolean().default(false),
}).refine(({ memory, redis }) => !(memory && redis), 'expected memory or redis, not both')

const limitsFault = 'expected { "store": "memory" }, or { "redis": a URL like redis://host:6379 }'

const Config = entry({
  auth: z.literal('none').optional(),
  keys: z.array(Key).default([]),
  groups: z.record(z.string(), Group).default({}),
  channels: z.array(Channel).min(1),
  models: z.array(Model).min(1, 'expected a model: none would be served (without "models" every id goes to all channels)').optional(),
  defaults: Defaults.prefault({}),
  limits: z
    .union([z.strictObject({ redis: redisUrl }, limitsFault), z.strictObject({ store: z.literal('memory').default('memory') }, limitsFault)], limitsFault)
    .prefault({}),
  store: Store.optional(),
  /** Absent: only where the command serves. */
  page: z.boolean().optional(),
}).superRefine(({ auth, keys, groups, channels, models }, context) => {
  const need = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  if (auth === 'none' && keys.length > 0) need(['auth'], 'expected no keys beside "none"')
  keys.forEach(({ group }, index) => {
    if (group !== undefined && !Object.hasOwn(groups, group))
      need(['keys', index, 'group'], `expected one of the groups: ${Object.keys(groups).join(', ') || 'there are none'}`)
  })
  keys.forEach(({ key }, index) => {
    if (keys.findIndex(other => other.key === key) < index) need(['keys', index, 'key'], 'expected a key that no other entry has')
  })
  const known = new Set<string>()
  channels.forEach((channel, index) => {
    if (known.has(channel.name)) need(['channels', index, 'name'], 'expected a name that no other channel has')
    known.add(channel.name)
  })
  const ids = new Set<string>()
  models?.forEach((model, index) => {
    for (const id of [model.id, ...model.aliases]) {
      if (ids.has(id)) need(['models', index, 'id'], 'expected ids and aliases that no other model has')
      ids.add(id)
    }
    model.channels.forEach((channel, at) => {
      if (!known.has(channel.name)) need(['models', index, 'channels', at, 'name'], `expected one of the channels: ${[...known].join(', ')}`)
    })
  })
})

type Written = z.input<typeof Config>
type WithOptions<Entry> = Omit<Entry, 'options'> & { options?: WrittenOptions }

/** What users write. */
export type GatewayConfig = Omit<Written, 'channels' | 'models'> & {
  channels: WithOptions<Written['channels'][number]>[]
  models?: WithOptions<NonNullable<Written['models']>[number]>[] | undefined
}
/** The same, complete. */
export type Settled = Omit<z.output<typeof Config>, 'models'> & { models: ModelEntry[] }
export type ChannelEntry = z.output<typeof Channel>
export type ModelEntry = z.output<typeof Model>
export type StoreEntry = z.output<typeof Store>
export type KeyEntry = z.output<typeof Key>

/** The settings of a store that comes as a hook, without a configuration of its own. */
export const storeDefaults: StoreEntry = Store.parse({})

/** One model that answers without a network. */
export const demo: GatewayConfig = {
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [{ id: 'demo', channels: [{ name: 'demo' }], displayName: 'Demo', contextTokens: 200_000, maxOutputTokens: 64_000 }],
}

/** A fault of the configuration: names the place and what was expected there. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly path: string

  constructor(path: string, message: string) {
    super(`configuration${path ? ` at ${path}` : ''}: ${message}`)
    this.path = path
  }
}

/**
 * Checks a configuration, reads `env:NAME` from the environment and fills in what was not said. Without `models`, every
 * model id goes to all channels in their order.
 * @throws ConfigError
 */
export function settle(config: unknown, environment: Record<string, string | undefined>): Settled {
  const result = Config.safeParse(fromEnvironment(config, environment, ''))
  if (!result.success) {
    const { issues } = result.error
    // What is missing may be there under a misspelt key.
    const issue = issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0]
    throw new ConfigError(place(issue?.path ?? []), issue ? wording(issue) : 'cannot be read')
  }
  const { models, ...rest } = result.data
  return { ...rest, models: models ?? [Model.parse({ id: '*', channels: rest.channels.map(channel => ({ name: channel.name })) })] }
}

function fromEnvironment(value: unknown, environment: Record<string, string | undefined>, path: string): unknown {
  if (typeof value === 'string' && value.startsWith('env:')) {
    const variable = value.slice(4)
    const found = environment[variable]
    if (!found) throw new ConfigError(path, `expected the environment variable ${variable} to be set`)
    return found
  }
  if (Array.isArray(value)) return value.map((item, index) => fromEnvironment(item, environment, `${path}[${index}]`))
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, fromEnvironment(item, environment, path ? `${path}.${key}` : key)]))
}

/** What is wrong with a `baseUrl`, in words. With the endpoint in it, which we add, every call would fail. */
function faultOfBase(base: string): string | undefined {
  if (!URL.canParse(base)) return undefined
  const { pathname, username, password } = new URL(base)
  // Some HTTP clients do not send them, others repeat the whole address in their errors.
  if (username || password) return 'expected a URL without user and password: say them in "headers", as "authorization"'
  if (/[?#]/.test(base)) return 'expected a URL without query and fragment'
  const steps = pathname.split('/').filter(Boolean)
  const [last = '', before = ''] = steps.toReversed()
  if (isVersion(last) && isVersion(before)) return `expected one version at its end, not /${before}/${last}`
  for (const at of steps.keys()) {
    const rest = `/${steps.slice(at).join('/')}`
    const isListing = last === 'models' && matchListing(rest) !== undefined
    if (isListing || matchOf(rest) || matchOf(`/v1${rest}`))
      return `expected the base address, without /${steps.slice(isVersion(steps[at] ?? '') ? at + 1 : at).join('/')}`
  }
  return undefined
}

function wording({ message }: z.core.$ZodIssue): string {
  return message.replace(/^Invalid (input|option): /, '').replace(/, received undefined$/, ', but it is missing')
}

function place(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) text += typeof key === 'number' ? `[${key}]` : text ? `.${String(key)}` : String(key)
  return text
}
