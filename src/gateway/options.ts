import { z } from 'zod'
import { isEndpoint, isVersion, matchListing, matchOf } from '../address/paths.ts'
import { noteKinds } from '../canonical/note.ts'
import { isObject } from '../kit/json/json.ts'
import { plain, similar } from '../kit/text/similar.ts'
import { modalities } from '../models/model.ts'
import { optionFaults, optionSchemas, ungroupedOptions } from '../protocols/check-options.ts'
import { protocolNames, type WrittenOptions } from '../protocols/index.ts'
import { socketOf } from '../protocols/sockets.ts'
import { vendorNames } from '../vendors/index.ts'
import { cloudApis } from '../vendors/vendor.ts'
import { longestCredential } from './admission/credential.ts'
import { faultOfName } from './body/model-name.ts'
import { openPartsOf, vendorOf, withVendor } from './channel.ts'
import { isOfConnection, isPrivate, isSafe } from './headers.ts'
import { callbackNames } from './hooks.ts'
import { isPlain } from './passing/plain-path.ts'

/** In milliseconds. JavaScript timers with a longer delay fire at once. */
export const longestMs = 2 ** 31 - 1

/** How many characters a key of the admin API has at least. */
export const shortestAdminKey = 16
const milliseconds = z.int().min(0).max(longestMs)
const redisUrl = z.url({ protocol: /^rediss?$/, error: 'expected a URL like redis://host:6379' })
const perMinute = z.int().min(0)
const concurrent = z.int().min(0)
const name = z.string().min(1)
/** A star is allowed only at the end: anywhere else it would match nothing. */
const isPattern = (text: string) => !text.slice(0, -1).includes('*')
const patternFault = 'expected a star at its end alone'
const modelId = name.superRefine((id, context) => {
  const fault = isPattern(id) ? faultOfName(id) : patternFault
  if (fault) context.addIssue({ code: 'custom', message: fault })
})

/** An object with these keys and no others; the error names them. */
const entry = <Shape extends z.ZodRawShape>(shape: Shape) => {
  const keys = Object.keys(shape).filter(key => !key.startsWith('$'))
  return z.strictObject(shape, {
    error: issue =>
      issue.code === 'unrecognized_keys'
        ? `unknown key${issue.keys.length > 1 ? 's' : ''} ${issue.keys.join(', ')}; there are ${keys.join(', ')}${suggestions(issue.keys, keys)}`
        : `expected an object with ${keys.join(', ')}`,
  })
}

const isCallback = (key: string) => callbackNames.some(name => name === key)

/**
 * The keys that were meant: of this object, or else the paths of keys of the same name in others.
 */
function suggestions(unknown: readonly string[], known: readonly string[]): string {
  const meant = unknown.flatMap(key => similar(key, known) ?? pathsOf(key))
  if (unknown.some(isCallback)) return '; hooks are the second argument'
  return meant.length > 0 ? `; did you mean ${meant.join(' or ')}?` : ''
}

/** The path of a key of this name in the configuration, such as `defaults.retries`. */
function pathsOf(key: string): string[] {
  const found = new Set<string>()
  const walk = (schema: z.core.$ZodType, path: string) => {
    const {
      shape,
      element,
      innerType,
      valueType,
      options,
      in: source,
    } = schema._zod.def as z.core.$ZodTypeDef & {
      shape?: Record<string, z.core.$ZodType>
      element?: z.core.$ZodType
      innerType?: z.core.$ZodType
      valueType?: z.core.$ZodType
      options?: z.core.$ZodType[]
      in?: z.core.$ZodType
    }
    if (element) walk(element, `${path}[]`)
    for (const inner of [innerType, valueType, source, ...(options ?? [])])
      if (inner) walk(inner, path)
    for (const [name, field] of Object.entries(shape ?? {})) {
      const at = path === '' ? name : `${path}.${name}`
      if (plain(name) === plain(key) && !name.startsWith('$')) found.add(at)
      walk(field, at)
    }
  }
  walk(Config, '')
  return [...found].slice(0, 3)
}

const Key = entry({
  /** Identifies the key in logs, records and limits. */
  name,
  /** The secret that clients send. */
  key: z
    .string()
    .max(longestCredential)
    .regex(/^\S+$/, 'expected a key without spaces and line breaks'),
  /** An entry of `groups`. Absent: the key sees all models. */
  group: name.optional(),
  /** Of this key alone; 0 (default): no limit. */
  requestsPerMinute: perMinute.default(0),
  /**
   * Requests of this key in progress at the same time; further ones wait in a queue. A stream
   * counts until it ends. 0 (default): no limit.
   */
  concurrentRequests: concurrent.default(0),
  /** Default false. */
  disabled: z.boolean().default(false),
})

/** Budgets, which need records. Absent: none. Days and months are those of UTC. */
const budgets = {
  /** Tokens of all requests of a day. */
  tokensPerDay: z.int().min(0).optional(),
  /** Tokens of all requests of a month. */
  tokensPerMonth: z.int().min(0).optional(),
  /** US dollars. They need the prices of the models. */
  dollarsPerDay: z.number().min(0).optional(),
  /** US dollars of a month. They need the prices of the models. */
  dollarsPerMonth: z.number().min(0).optional(),
}

/** What keys of the database get where they are created without it. */
const NewKeys = entry({
  /** An entry of `groups`. Absent: they see all models. */
  group: name.optional(),
  /** Requests of the key in a minute. Absent: no limit. */
  requestsPerMinute: perMinute.optional(),
  /** Tokens of the key in a minute. Absent: no limit. */
  tokensPerMinute: z.int().min(0).optional(),
  ...budgets,
})

const Group = entry({
  /** Ids of the models that its keys see; a `*` at the end matches any rest. Default: all. */
  models: z.array(z.string().refine(isPattern, patternFault)).default(['*']),
  /** Of all its keys together; 0 (default): no limit. */
  requestsPerMinute: perMinute.default(0),
  /** False: `defaults.cachePrefix` does not apply to its keys. Default true. */
  cachePrefix: z.boolean().default(true),
  ...budgets,
})

/** Mapping options in their groups, which `docs/options.md` lists. */
const Mapping = z.record(z.string(), z.unknown()).superRefine((options, context) => {
  for (const { path, message } of optionFaults(options, ungroupedOptions))
    context.addIssue({ code: 'custom', path: path.split('.'), message })
})

/** How long each part of a call may take, in milliseconds. */
const Timeouts = entry({
  /** For the connection alone. Default 10,000; 0: no limit. */
  connectMs: milliseconds.default(10_000),
  /** Until the first byte of the response. Default 300,000; 0: no limit. */
  firstByteMs: milliseconds.default(300_000),
  /** Between two chunks of the response. Default 120,000; 0: no limit. */
  idleMs: milliseconds.default(120_000),
  /** For the whole exchange, retries included. Default 0: no limit. */
  totalMs: milliseconds.default(0),
  /**
   * How long the rest of a response is read after its client has left, for its usage. Default 0:
   * the call ends at once.
   */
  drainMs: milliseconds.default(0),
})

/** The circuit breaker of a channel. */
const Breaker = entry({
  /**
   * After this many failed requests in a row the channel gets no requests for `restMs`. Default 5;
   * 0: never.
   */
  failures: z.int().min(0).default(5),
  /** Milliseconds. Default 10,000. */
  restMs: milliseconds.default(10_000),
})

function inLowerCase(headers: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]),
  )
}

/** Refuses headers that would never be sent, or would make every call fail. */
function rejectUnsafe(headers: Record<string, string>, context: z.RefinementCtx): void {
  const known = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const reject = (message: string) => context.addIssue({ code: 'custom', path: [name], message })
    if (!isSafe(name, value))
      reject('expected a name and a value that a header can hold, without line breaks')
    if (isOfConnection(name)) reject('expected a header that is not of the connection')
    if (known.has(name.toLowerCase())) reject('expected each header only once, whatever its case')
    known.add(name.toLowerCase())
  }
}

const headerPattern = name
  .refine(
    header => !isPrivate(header),
    'expected a header that is no credential and not of the connection',
  )
  .refine(isPattern, patternFault)

/** Request fields by the upstream's names, with dots between levels. */
const Fields = z.record(z.string(), z.json()).superRefine((fields, context) => {
  for (const field of Object.keys(fields)) {
    const reject = (message: string) => context.addIssue({ code: 'custom', path: [field], message })
    if (field.split('.').includes(''))
      reject('expected the name of a field, with single dots between levels')
    if (/^(model|stream)(\.|$)/.test(field))
      reject('expected a field other than model and stream, which the gateway sets')
  }
})

/**
 * A path with its version, for instance `/v1/embeddings`, that the gateway does not serve itself.
 */
const passPath = z
  .string()
  .regex(
    /^\/v\d[a-z\d]*(\/[\w.:-]+)*(\/\*?)?$/,
    'expected a path such as /v1/embeddings or /v1/images/*',
  )
  .refine(path => isPlain(path), 'expected a path without dots as a step')
  .refine(path => !isEndpoint(path), 'expected a path that the gateway does not serve itself')

const proxyFault =
  'expected false, "env", or the URL of a proxy such as http://host:8080 or socks5://host:1080'
const proxyUrl = z.union(
  [
    z.literal(false),
    z.literal('env'),
    z.url({ protocol: /^(https?|socks(4a?|5h?)?)$/, hostname: /./, error: proxyFault }),
  ],
  proxyFault,
)

/** A word in a base URL. */
const urlPart = z.string().regex(/^[\w.:-]+$/, 'expected letters, digits, dots, colons and hyphens')
const secret = z.string().min(1)

/**
 * Keys and region for signatures of AWS (SigV4). Without keys the credential chain of AWS is used,
 * from the package `@aws-sdk/credential-providers`.
 */
const Aws = entry({
  /** A profile of the shared configuration files. Default: by the environment. */
  profile: name.optional(),
  /** Keys that do not change, with `secretAccessKey`. */
  accessKeyId: secret.optional(),
  /** The secret of `accessKeyId`. */
  secretAccessKey: secret.optional(),
  /** Of temporary keys. */
  sessionToken: secret.optional(),
  /** The region of the signature. Default: that of the channel, else that in the host name. */
  region: urlPart.optional(),
  /**
   * The service of the signature. Default: `bedrock-mantle` where the host name begins with it,
   * else `bedrock`.
   */
  service: urlPart.optional(),
}).refine(
  ({ accessKeyId, secretAccessKey }) =>
    (accessKeyId === undefined) === (secretAccessKey === undefined),
  'expected both keys, or none',
)

/**
 * Access tokens of Google, from the package `google-auth-library`. `{}`: application-default
 * credentials.
 */
const Google = entry({
  /** The path of a key file, for instance of a service account. */
  keyFile: name.optional(),
  /** The content of such a file: `env:GOOGLE_CREDENTIALS`. */
  credentials: secret.optional(),
}).refine(
  ({ keyFile, credentials }) => keyFile === undefined || credentials === undefined,
  'expected keyFile or credentials, not both',
)

/**
 * Access tokens of Microsoft Entra ID, from the package `@azure/identity`. `{}`: its default
 * credentials, such as a managed identity.
 */
const Entra = entry({
  tenantId: urlPart.optional(),
  /** Of an application, with `clientSecret`; without it, of a managed identity. */
  clientId: urlPart.optional(),
  /** The secret of the application. */
  clientSecret: secret.optional(),
  /**
   * Default `https://cognitiveservices.azure.com/.default`; for Foundry
   * `https://ai.azure.com/.default`.
   */
  scope: name.optional(),
  /** The authority of a national cloud. Default `https://login.microsoftonline.com`. */
  authorityHost: z
    .url({ protocol: /^https?$/, error: 'expected a URL like https://host' })
    .optional(),
}).refine(
  ({ tenantId, clientId, clientSecret }) => clientSecret === undefined || (tenantId && clientId),
  'expected tenantId and clientId with clientSecret',
)

/**
 * The authentication of a cloud, in place of `apiKey`. Its packages are loaded with the first call.
 */
const CloudAuth = entry({
  /** Every call is signed. `{}`: with the credential chain of AWS and the region of the channel. */
  aws: Aws.optional(),
  /** Every call has an access token of Google. `{}`: of the application-default credentials. */
  google: Google.optional(),
  /** Every call has an access token of Microsoft Entra ID. `{}`: of the default credentials. */
  entra: Entra.optional(),
}).refine(
  auth => Object.values(auth).filter(Boolean).length === 1,
  'expected one of aws, google, entra',
)

const Channel = entry({
  /** Identifies the channel in `models`, logs and limits. Default: the name of the vendor. */
  name: name.optional(),
  /**
   * Who serves the upstream: `wireglot vendors` lists the names. Its URLs, protocols and
   * requirements are then known. Default: recognized by `baseUrl`. `generic`: nothing is known, and
   * requests are written so that every server of the protocol accepts them.
   */
  vendor: z.enum(['generic', ...vendorNames]).optional(),
  /** A region of the vendor: for its base URL, and for signatures of AWS. */
  region: urlPart.optional(),
  /** For vendors whose base URL contains `{project}`. */
  project: urlPart.optional(),
  /** For vendors whose base URL contains `{resource}`. */
  resource: urlPart.optional(),
  /**
   * Another API of the vendor for the same protocol: `invoke-model` for Claude on Amazon Bedrock,
   * `deployments` for the older API of Azure.
   */
  api: z.enum(cloudApis).optional(),
  /** The query parameter `api-version` of `deployments`. Default `2024-10-21`. */
  apiVersion: urlPart.optional(),
  /**
   * The protocols that the upstream speaks. The first one is used where the client's own is not
   * among them. Default: those of the vendor.
   */
  protocols: z.array(z.enum(protocolNames)).min(1).optional(),
  /**
   * Base address, with or without a version. `/v1` (`/v1beta` for generate-content) is added where
   * it does not end in one.
   */
  baseUrl: z.url({ protocol: /^https?$/, error: 'expected a URL like https://host' }).optional(),
  /**
   * `false`: no version is added to `baseUrl`, for servers whose endpoints have none. Default true.
   */
  addVersion: z.boolean().default(true),
  /**
   * The key of the upstream, sent in the header that its protocol uses. Absent or empty: none is
   * sent.
   */
  apiKey: z
    .string()
    .refine(
      key => isSafe('authorization', key),
      'expected a key that a header can hold, without line breaks',
    )
    .refine(key => !/^bearer\s/i.test(key), 'expected the key alone, without "Bearer"')
    .transform(key => key || undefined)
    .optional(),
  /** Instead of `apiKey`: keys and tokens of a cloud, which are renewed before they expire. */
  auth: CloudAuth.optional(),
  /** Added to every call. */
  headers: z
    .record(z.string(), z.string())
    .default({})
    .superRefine(rejectUnsafe)
    .transform(inLowerCase),
  /** Names of further client headers to send to the upstream; a `*` at the end matches any rest. */
  forwardHeaders: z.array(headerPattern).default([]),
  /** Names of further upstream headers to send to the client; a `*` at the end matches any rest. */
  returnHeaders: z.array(headerPattern).default([]),
  /**
   * The proxy for calls to this channel: a URL (`http:`, `https:`, `socks5:` or `socks4:`, with
   * user and password if needed), `env`: that of the environment variables `HTTPS_PROXY`,
   * `HTTP_PROXY` and `NO_PROXY`, or `false`. SOCKS needs the package `fetch-socks`. Default: that
   * of the gateway.
   */
  proxy: proxyUrl.optional(),
  /**
   * How generation requests are sent. `websocket`: as messages of a WebSocket connection, for
   * protocols that have it (responses); needs the package `ws`, no `proxy`, and a host on Node. All
   * other calls use HTTP. Default `http`.
   */
  transport: z.enum(['http', 'websocket']).default('http'),
  /** Further calls go to the next channel. Default 0: no limit. */
  requestsPerMinute: perMinute.default(0),
  /**
   * Requests in progress at the same time. Further ones go to the next channel; when all channels
   * of the model are at their limits, they wait in a queue. A stream counts until it ends. 0
   * (default): no limit.
   */
  concurrentRequests: concurrent.default(0),
  timeouts: Timeouts.prefault({}),
  breaker: Breaker.prefault({}),
  options: Mapping.default({}),
  /**
   * Request fields that get this value, whatever the client sends: `{ "temperature": 0 }`. Dots
   * between levels: `reasoning.effort`.
   */
  set: Fields.optional(),
  /** The same for requests that do not have the field. */
  setIfAbsent: Fields.optional(),
  /**
   * Paths of further endpoints of the upstream, such as `/v1/embeddings` and `/v1/audio/*`; a `*`
   * at the end matches any rest. Requests to them pass unchanged, except for the name of the model.
   * Default: none.
   */
  passThrough: z.array(passPath).default([]),
  /**
   * When the upstream refuses a field of a request, leave it out, try once more, and remember it
   * for ten minutes. Default true.
   */
  learnUnsupported: z.boolean().default(true),
  /**
   * Ask for usage in every stream, also where the client did not. `false`: for upstreams that
   * refuse `stream_options`. Default true.
   */
  streamUsage: z.boolean().default(true),
  /** The built-in demo model in place of an upstream; needs no `baseUrl` and no `protocols`. */
  embedded: z.literal('demo').optional(),
})
  .superRefine((channel, context) => {
    const need = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    if (
      channel.name === undefined &&
      (channel.vendor === undefined || channel.vendor === 'generic')
    )
      need('name', 'expected a string, but it is missing')
    if (channel.embedded) return
    const vendor =
      channel.vendor === undefined || channel.vendor === 'generic' ? undefined : vendorOf(channel)
    const open = vendor ? openPartsOf(vendor, channel) : []
    if (!channel.baseUrl && !vendor)
      need('baseUrl', 'expected a URL like https://host (or "embedded": "demo")')
    if (!channel.baseUrl && vendor && open.length > 0)
      need(
        'baseUrl',
        `expected ${vendor.endpoints[0].baseUrl} with your ${open.join(', ')}; or set ${open.map(part => part.slice(1, -1)).join(', ')}`,
      )
    if (!channel.protocols && !vendor)
      need('protocols', `expected a list of ${protocolNames.join(', ')}`)
    const spoken = channel.protocols ?? vendor?.endpoints.map(({ protocol }) => protocol) ?? []
    const overSocket = protocolNames.filter(one => socketOf({ name: one }))
    if (channel.transport === 'websocket' && !overSocket.some(one => spoken.includes(one)))
      need('transport', `expected http: only ${overSocket.join(', ')} can be sent over WebSocket`)
    const fault = channel.baseUrl && faultOfBase(channel.baseUrl)
    if (fault) need('baseUrl', fault)
  })
  .superRefine((channel, context) => {
    const need = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message })
    const vendor = vendorOf(channel)
    const regions = vendor?.endpoints.flatMap(endpoint => Object.keys(endpoint.regions ?? {})) ?? []
    const isOpen = vendor?.endpoints.some(({ baseUrl }) => baseUrl.includes('{region}'))
    if (
      channel.region !== undefined &&
      !isOpen &&
      channel.auth?.aws === undefined &&
      !regions.includes(channel.region)
    )
      need(
        'region',
        `expected one of ${[...new Set(regions)].join(', ') || 'none: this vendor has one'}`,
      )
    const apis =
      vendor?.endpoints.flatMap(endpoint => endpoint.apis?.map(({ api }) => api) ?? []) ?? []
    if (channel.api !== undefined && !apis.includes(channel.api))
      need('api', `expected one of ${apis.join(', ') || 'none: this vendor has one'}`)
    if (channel.auth && channel.apiKey !== undefined) need('auth', 'expected no "apiKey" with it')
  })
  .transform(withVendor)

const Capabilities = entry({
  /** What the model reads. Default: what is known of it. */
  input: z.array(z.enum(modalities)).min(1).optional(),
  /** `prompt`: the model has no tools, so that the instructions describe them. Default `native`. */
  tools: z.enum(['native', 'prompt']).optional(),
  /**
   * `prompt`: the server has no format of the output, so that the instructions ask for the JSON.
   * Default `native`.
   */
  structuredOutput: z.enum(['native', 'prompt']).optional(),
  /** Its calls of tools may come as text: they become calls. Default: by the vendor. */
  leaksToolCalls: z.boolean().optional(),
})

const ModelChannel = entry({
  /** Name of an entry in `channels`. */
  name,
  /**
   * The upstream's name of the model; a `*` at the end takes the rest that the `*` of the id
   * matched. Absent: the name that the client used.
   */
  model: name.optional(),
  /** Share of the requests among channels of equal priority. Default 1. */
  weight: z.number().positive().default(1),
  /** Smaller ones are tried first. Default 0. */
  priority: z.number().default(0),
  /** Request fields for this model at this channel. Overrides model and channel. */
  set: Fields.optional(),
  /** The same for requests that do not have the field. */
  setIfAbsent: Fields.optional(),
})

const modelChannelsFault = 'expected a list such as [{ "name": the name of a channel }]'

/** What a request may fail of, where another model may help. */
const failureCauses = ['context', 'input', 'overloaded', 'quota', 'refused'] as const

/** See `on` of a fallback. */
export type FailureCause = (typeof failureCauses)[number]

/** A model for failures of certain causes. */
const Fallback = entry({
  /**
   * `context`: the conversation is too long. `input`: the upstream refuses the request, or it cannot
   * be written for it. `overloaded`: the upstream is, or limits the rate. `quota`: no quota or balance is left. `refused`: the
   * content is against a policy.
   */
  on: z.array(z.enum(failureCauses)).min(1),
  /** The id of another model of this configuration. */
  model: z.string().min(1),
})

const Model = entry({
  /** The name that clients use; a `*` at the end matches any rest. */
  id: modelId,
  /** Further names, which listings do not show. */
  aliases: z.array(modelId).default([]),
  /** The channels that serve the model. */
  channels: z.array(ModelChannel, modelChannelsFault).min(1, modelChannelsFault),
  /** For listings. */
  displayName: z.string().optional(),
  /** For listings. */
  contextTokens: z.int().positive().optional(),
  /**
   * For listings; larger limits of clients are lowered to it, and requests without one get it where
   * the protocol of the upstream requires a limit. Default: what is known about the model.
   */
  maxOutputTokens: z.int().positive().optional(),
  /**
   * Request fields that the model refuses, e.g. `reasoning.summary`: they are removed, with a note.
   */
  unsupported: z.array(z.string().min(1)).default([]),
  /**
   * What the gateway requests from the upstream, whatever the client wants. `only`: always a
   * stream; `never`: always JSON. Default `both`: as the client.
   */
  streaming: z.enum(['both', 'only', 'never']).default('both'),
  /** What the model and its server can do themselves; the gateway does the rest. */
  capabilities: Capabilities.optional(),
  /** `false`: the gateway does nothing in place of the model. Default true. */
  bridge: z.boolean().default(true),
  /** Override those of the channel. */
  options: Mapping.default({}),
  /**
   * Request fields that get this value, whatever the client sends: `{ "temperature": 0 }`. Dots
   * between levels: `reasoning.effort`. Overrides the channel.
   */
  set: Fields.optional(),
  /** The same for requests that do not have the field. */
  setIfAbsent: Fields.optional(),
  /**
   * Send all requests of a conversation to the same one of several equal channels, so that prompt
   * caches are hit. Default true.
   */
  sticky: z.boolean().default(true),
  /**
   * Names with an effort at their end, such as `model-high`, `model:high` and `model(high)`, ask
   * this model with that effort, and `GET /v1/models` lists them. Default false.
   */
  suffixes: z.boolean().default(false),
  /**
   * What becomes of media that the model does not read: one of both. Default: a sentence in their
   * place.
   */
  media: entry({
    /** The id of a model that describes images. */
    describe: z.string().min(1).optional(),
    /** The id of a model that gets requests with such media instead. */
    route: z.string().min(1).optional(),
  })
    .refine(({ describe, route }) => (describe === undefined) !== (route === undefined), {
      error: 'expected one of describe and route',
    })
    .optional(),
  /**
   * Who runs tools of the provider, such as `web_search`, for which the application has a hook
   * `serverTools`. `app`: always the application. Default `provider`: the upstream, if it speaks the
   * caller's protocol, else the application.
   */
  serverTools: z.enum(['provider', 'app']).default('provider'),
  /**
   * A stream that breaks after its first content is continued by a further call: of text and calls
   * of functions, up to three times. Default false.
   */
  resume: z.boolean().default(false),
  /**
   * Models to try in this order when all channels of this one have failed before the first content
   * of a response: ids, or `{ "on": ["context"], "model": "large" }` for failures of certain causes
   * alone, also of those that no other channel would mend. Their own fallbacks do not count.
   */
  fallbacks: z
    .array(z.union([z.string().min(1), Fallback], 'expected an id, or an object with on and model'))
    .default([]),
})

const Defaults = entry({
  /**
   * The limit for requests without one, where the protocol of the upstream requires it and the
   * model has none. In tokens; default 32,000.
   */
  maxOutputTokens: z.int().positive().default(32_000),
  /** Further attempts at the same channel, before the next one is tried. Default 2. */
  retries: z.int().min(0).max(10).default(2),
  /**
   * The longest wait before a retry. When the upstream asks for a longer one, the next channel is
   * tried. Default 5,000.
   */
  retryWaitMs: milliseconds.default(5_000),
  /**
   * Tell in records and metrics how much of each prompt begins as the one before it in its
   * conversation, which a cache of the provider may have. Default false.
   */
  cachePrefix: z.boolean().default(false),
  /** Larger request bodies, counted after decompression, are refused with 413. Default 32 MiB. */
  bodyLimitBytes: z
    .int()
    .positive()
    .default(32 * 1024 * 1024),
  /** JSON that is nested deeper is refused with 400. Default 256. */
  depthLimit: z.int().positive().default(256),
  /** The longest event of an upstream's stream, in UTF-16 units. Default 64 Mi. */
  eventLimit: z
    .int()
    .positive()
    .default(64 * 1024 * 1024),
  /**
   * After this many wrong keys an address is refused with 429. Default 0: no limit. Not for use
   * behind a proxy: there all clients have one address.
   */
  wrongKeysPerMinute: perMinute.default(0),
  /**
   * The most requests that wait for the `concurrentRequests` of one key or channel. Further ones
   * are refused: 429 for a key, 503 for a channel. Default 100.
   */
  queueLimit: z.int().min(0).default(100),
  /** The longest wait in a queue; then the request is refused in the same way. Default 30,000. */
  queueWaitMs: milliseconds.default(30_000),
  /** After this much silence in a stream the client gets a keep-alive. Default 15,000; 0: never. */
  keepAliveMs: milliseconds.default(15_000),
  /**
   * Refuse instead of noting. `true`: anything dropped or approximated; a list: these kinds of
   * notes. Default false.
   */
  strict: z
    .union(
      [z.boolean(), z.array(z.enum(noteKinds))],
      `expected true, false, or a list of ${noteKinds.join(', ')}`,
    )
    .default(false),
  /** Send the notes in the header `wireglot-notes`. Default true. */
  notesHeader: z.boolean().default(true),
})

/** Where responses are kept. Without `memory` and `redis`: in the hook `store`. */
const Store = entry({
  /** In the memory of this process. */
  memory: z.literal(true).optional(),
  /** In Redis, which several processes share: its URL. */
  redis: redisUrl.optional(),
  /** Default 30 days. */
  ttlMs: z
    .int()
    .positive()
    .default(30 * 24 * 60 * 60 * 1000),
  /** Of `memory` only; the entries that were not used for longest are removed. Default 256 MiB. */
  memoryLimitBytes: z
    .int()
    .positive()
    .default(256 * 1024 * 1024),
  /** Also keep reasoning signatures for chat clients that do not send them back. Default false. */
  signatures: z.boolean().default(false),
}).refine(({ memory, redis }) => !(memory && redis), 'expected memory or redis, not both')

const isOrigin = (text: string) =>
  URL.canParse(text) && new URL(text).origin === text && !text.includes('*')
const originFault = 'expected "*", or an origin such as https://app.example.com, without a path'

/**
 * Web pages of other origins that may use the gateway. Cookies are never allowed; keys are sent in
 * headers.
 */
const Cors = entry({
  /** Origins such as `https://app.example.com`; `*`: every web page. */
  origins: z
    .array(
      z.string().refine(origin => origin === '*' || isOrigin(origin), originFault),
      originFault,
    )
    .min(1, originFault),
  /**
   * How long browsers may remember the response to a preflight request, in seconds. Default 7,200.
   */
  maxAgeSeconds: z.int().min(0).default(7_200),
})

/** Limits that each process has for itself. */
const ofProcess = {
  /**
   * For the bytes of all requests and WebSocket connections together; further requests are refused
   * with 503. One key gets half of it. Default: a quarter of the heap that JavaScript may use, but
   * at least four times `bodyLimitBytes`.
   */
  memoryBytes: z.int().positive().optional(),
  /** The most WebSocket connections of a key at the same time. Default 100; 0: no limit. */
  webSocketsPerKey: concurrent.default(100),
}

/**
 * What happens to requests with a limit when its store fails: Redis for requests per minute, the
 * database for budgets. `open` (default): they are served, and each process counts its own.
 * `closed`: they are refused with 503.
 */
const onFailure = z.enum(['open', 'closed']).default('open')

const limitsFault = 'expected { "store": "memory" }, or { "redis": a URL like redis://host:6379 }'

/** Records are deleted when they are older than so many days. Absent: never. */
const kept = {
  /** Records are deleted when they are older; their sums stay. */
  keepDays: z.number().min(1).optional(),
  /** Keep the body of each request, up to 64 KiB. It contains the prompt. Default false. */
  keepBodies: z.boolean().optional(),
}
const recordsFault =
  'expected false, { "file": a path } or { "url": a URL like postgres://host/database }'

const channelsFault = `expected a list of upstreams, such as [{ "name": "up", "protocols": ["${protocolNames[0]}"], "baseUrl": "https://host" }]`

const Config = entry({
  /** For editors. Ignored. */
  $schema: z.string().optional(),
  /**
   * `none`: everybody is served. Without this, keys and the hook `authenticate`, only clients on
   * the same machine are.
   */
  auth: z.literal('none').optional(),
  /** The keys of clients. */
  keys: z.array(Key).default([]),
  /** By name: which models keys see, and how often they may ask. */
  groups: z.record(z.string(), Group).default({}),
  /**
   * Only for `wireglot serve` and `wireglot keys`: the limits of keys that are created without them
   * in the database of records. Default: none.
   */
  newKeys: NewKeys.prefault({}),
  /** The upstreams. */
  channels: z.array(Channel, channelsFault).min(1, channelsFault),
  /** The models and their channels. Absent: every model id goes to all channels, in their order. */
  models: z
    .array(Model)
    .min(
      1,
      'expected a model: none would be served (without "models" every id goes to all channels)',
    )
    .optional(),
  /** For all channels and models. */
  defaults: Defaults.prefault({}),
  /**
   * Where requests per minute are counted: in this process (default), or in Redis for several
   * processes; and the limits of this process.
   */
  limits: z
    .union(
      [
        z.strictObject(
          {
            /** The URL of Redis, which several processes share. */
            redis: redisUrl,
            onFailure,
            ...ofProcess,
          },
          limitsFault,
        ),
        z.strictObject(
          {
            /** In this process. */
            store: z.literal('memory').default('memory'),
            onFailure,
            ...ofProcess,
          },
          limitsFault,
        ),
      ],
      limitsFault,
    )
    .prefault({}),
  /** Absent, and no hook `store`: responses are not kept. */
  store: Store.optional(),
  /** Absent: web pages of other origins cannot read responses. */
  cors: Cors.optional(),
  /**
   * Only for `wireglot serve`: where usage records and keys are kept. `false`: nowhere. Default:
   * PostgreSQL by `DATABASE_URL`, else the file `wireglot.db`.
   */
  records: z
    .union(
      [
        z.literal(false),
        z.strictObject({
          /** The path of a file of libSQL. */
          file: z.string().min(1),
          ...kept,
        }),
        z.strictObject({
          /** The URL of a PostgreSQL, such as `postgres://host/database`. */
          url: z.string().min(1),
          ...kept,
        }),
      ],
      recordsFault,
    )
    .optional(),
  /**
   * Only for `wireglot serve`: the key of the admin API, `/admin/*`. Default: the environment
   * variable `WIREGLOT_ADMIN_KEY`; without both it is off.
   */
  adminKey: z
    .string()
    .min(shortestAdminKey, `expected at least ${shortestAdminKey} characters`)
    .optional(),
  /**
   * US dollars for a million tokens, by the upstream's name of the model; a `*` at the end matches
   * any rest. For the cost in records and budgets. Default: what the makers of known models ask.
   */
  prices: z
    .record(
      z.string().min(1),
      entry({
        /** For tokens of the request. */
        input: z.number().min(0),
        /** For tokens of the response. */
        output: z.number().min(0),
        /** For tokens that a prompt cache had. Default: as `input`. */
        cacheRead: z.number().min(0).optional(),
        /** For tokens that are written to a prompt cache. Default: as `input`. */
        cacheWrite: z.number().min(0).optional(),
      }),
    )
    .optional(),
  /**
   * The proxy for calls to all channels without one of their own. Default: `env` for `wireglot
   * serve`, else none.
   */
  proxy: proxyUrl.optional(),
  /**
   * In an application: also respond to requests for paths that are nearly right, such as
   * `/v1/v1/messages`, with a 404 that names the right URL. Default false: they belong to the
   * application. Without an application behind the gateway they always get it.
   */
  hints: z.boolean().default(false),
  /**
   * Accept WebSocket connections where a protocol has them (`/v1/responses`). Needs the package
   * `ws`. Default false: they are refused with 426.
   */
  webSocket: z.boolean().default(false),
  /**
   * The URL by which clients reach the gateway, such as `https://llm.example.com`, for the settings
   * that it generates for them. Default: that of the request, as proxies in front forward it.
   */
  publicUrl: z
    .url({ protocol: /^https?$/, error: 'expected a URL like https://llm.example.com' })
    .transform(url => url.replace(/\/$/, ''))
    .optional(),
  /**
   * Compactions of responses, as Codex asks for them, on upstreams that make none: the model writes
   * a summary, and the client gets it sealed with `key`. Without it they are refused there.
   */
  compaction: entry({
    /** At least 16 letters. The same one opens what it has sealed. */
    key: secret.min(16),
    /** What the model is asked for. Default: a summary from which the work can go on. */
    instructions: z.string().min(1).optional(),
  }).optional(),
  /** Only for `wireglot serve`: whether the console is at `/console`. Default true. */
  console: z.boolean().optional(),
}).superRefine(({ auth, keys, groups, newKeys, channels, models }, context) => {
  const need = (path: (string | number)[], message: string) =>
    context.addIssue({ code: 'custom', path, message })
  if (auth === 'none' && keys.length > 0) need(['auth'], 'expected no keys beside "none"')
  const names = Object.keys(groups).join(', ') || 'there are none'
  if (newKeys.group !== undefined && !Object.hasOwn(groups, newKeys.group))
    need(['newKeys', 'group'], `expected one of the groups: ${names}`)
  keys.forEach(({ group }, index) => {
    if (group !== undefined && !Object.hasOwn(groups, group))
      need(['keys', index, 'group'], `expected one of the groups: ${names}`)
  })
  keys.forEach(({ key }, index) => {
    if (keys.findIndex(other => other.key === key) < index)
      need(['keys', index, 'key'], 'expected a key that no other entry has')
  })
  const known = new Set<string>()
  channels.forEach((channel, index) => {
    if (known.has(channel.name))
      need(['channels', index, 'name'], 'expected a name that no other channel has')
    known.add(channel.name)
  })
  const ids = new Set<string>()
  const served = models?.flatMap(({ id, aliases }) => [id, ...aliases]) ?? []
  const isServed = (id: string) =>
    served.some(known => known === id || (known.endsWith('*') && id.startsWith(known.slice(0, -1))))
  models?.forEach((model, index) => {
    model.fallbacks.forEach((fallback, at) => {
      const id = typeof fallback === 'string' ? fallback : fallback.model
      if (!isServed(id) || id === model.id)
        need(
          ['models', index, 'fallbacks', at],
          'expected the id of another model of this configuration',
        )
    })
    for (const [key, id] of Object.entries(model.media ?? {}))
      if (id !== undefined && (id === model.id || !isServed(id)))
        need(
          ['models', index, 'media', key],
          'expected the id of another model of this configuration',
        )
    for (const id of [model.id, ...model.aliases]) {
      if (ids.has(id))
        need(['models', index, 'id'], 'expected ids and aliases that no other model has')
      ids.add(id)
    }
    model.channels.forEach((channel, at) => {
      if (!known.has(channel.name))
        need(
          ['models', index, 'channels', at, 'name'],
          `expected one of the channels: ${[...known].join(', ')}`,
        )
    })
  })
})

/** The JSON Schema of a configuration file, for editors. */
export function configSchema(): object {
  const { $schema, ...schema } = z.toJSONSchema(Config, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === (Mapping as z.core.$ZodType))
        Object.assign(jsonSchema, { properties: optionSchemas(), additionalProperties: false })
    },
  })
  return { $schema, title: 'Configuration of wireglot', ...schema }
}

type Written = z.input<typeof Config>
type WithOptions<Entry> = Omit<Entry, 'options'> & { options?: WrittenOptions }

/**
 * The configuration as users write it. A string `env:NAME` is replaced by an environment variable.
 */
export type GatewayConfig = Omit<Written, 'channels' | 'models'> & {
  /** The upstreams. */
  channels: WithOptions<Written['channels'][number]>[]
  /** The models and their channels. Absent: every model id goes to all channels, in their order. */
  models?: WithOptions<NonNullable<Written['models']>[number]>[] | undefined
}
/** The same, with all defaults. */
export type ParsedConfig = Omit<z.output<typeof Config>, 'models'> & { models: ModelEntry[] }
export type ChannelEntry = z.output<typeof Channel>
export type ModelEntry = z.output<typeof Model>
export type StoreEntry = z.output<typeof Store>
export type KeyEntry = z.output<typeof Key>

/** The settings of the hook `store` when the configuration has no `store`. */
export const storeDefaults: StoreEntry = Store.parse({})

/** A configuration with the demo model alone, which needs no network. */
export const demo: GatewayConfig = {
  channels: [{ name: 'demo', embedded: 'demo' }],
  models: [
    {
      id: 'demo',
      channels: [{ name: 'demo' }],
      displayName: 'Demo',
      contextTokens: 200_000,
      maxOutputTokens: 64_000,
    },
  ],
}

/**
 * A fault of a configuration. `path`: e.g. `channels[0].baseUrl`; `''`: the whole configuration.
 */
export type ConfigFault = { path: string; message: string }

/**
 * The configuration is invalid. The message has a line for each fault, with its path and what is
 * expected there.
 * @example
 * import { ConfigError, createGateway } from 'wireglot/gateway'
 *
 * try {
 *   createGateway(JSON.parse('{"channels":5}'))
 * } catch (error) {
 *   if (error instanceof ConfigError) console.log(error.message) // … channels …
 * }
 */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  /** Of the first fault. */
  readonly path: string
  /** All of them. */
  readonly faults: readonly ConfigFault[]

  constructor(path: string, message: string, more: readonly ConfigFault[] = []) {
    const faults = [{ path, message }, ...more]
    super(
      faults
        .map(fault => `configuration${fault.path ? ` at ${fault.path}` : ''}: ${fault.message}`)
        .join('\n'),
    )
    this.path = path
    this.faults = faults
  }
}

/**
 * Checks a configuration, replaces `env:NAME` by environment variables and fills in the defaults.
 * @throws ConfigError with all faults
 */
export function parseConfig(
  config: unknown,
  environment: Record<string, string | undefined>,
): ParsedConfig {
  const faults: ConfigFault[] = []
  const result = Config.safeParse(fromEnvironment(config, environment, '', faults), {
    reportInput: true,
  })
  if (!result.success) {
    const unset = new Set(faults.map(({ path }) => path))
    for (const issue of mainIssues(result.error.issues)) {
      const path = place(issue.path)
      if (!unset.has(path))
        faults.push({ path, message: wording(issue) + insteadAt(issue, config) })
    }
  }
  const [first, ...more] = faults
  if (first) throw new ConfigError(first.path, first.message, more)
  if (!result.success) throw new ConfigError('', 'cannot be read')
  const { models, ...rest } = result.data
  for (const channel of rest.channels) channel.proxy ??= rest.proxy
  return {
    ...rest,
    models: models ?? [
      Model.parse({ id: '*', channels: rest.channels.map(channel => ({ name: channel.name })) }),
    ],
  }
}

/**
 * Unknown keys first. A required key of the same object may be missing because it is misspelt: then
 * the unknown key is the better message.
 */
function mainIssues(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue[] {
  const unknown = issues.filter(({ code }) => code === 'unrecognized_keys')
  const misspelt = new Set(unknown.map(({ path }) => place(path)))
  const others = issues.filter(
    issue =>
      !unknown.includes(issue) &&
      !(issue.input === undefined && misspelt.has(place(issue.path.slice(0, -1)))),
  )
  return [...unknown, ...others]
}

/** Reports variables that are not set to `faults`, and leaves them as they are. */
function fromEnvironment(
  value: unknown,
  environment: Record<string, string | undefined>,
  path: string,
  faults: ConfigFault[],
): unknown {
  if (typeof value === 'string' && value.startsWith('env:')) {
    const variable = value.slice(4)
    const found = environment[variable]
    if (found) return found
    const message = variable
      ? `expected the environment variable ${variable} to be set${found === '' ? ' (it is empty)' : ''}`
      : 'expected the name of an environment variable after env:'
    faults.push({ path, message })
    return value
  }
  if (Array.isArray(value))
    return value.map((item, index) =>
      fromEnvironment(item, environment, `${path}[${index}]`, faults),
    )
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      fromEnvironment(item, environment, path ? `${path}.${key}` : key, faults),
    ]),
  )
}

/**
 * What is wrong with a `baseUrl`. Undefined: nothing, or it is no URL at all, which the schema
 * reports.
 */
function faultOfBase(base: string): string | undefined {
  if (!URL.canParse(base)) return undefined
  const { pathname, username, password } = new URL(base)
  // Some HTTP clients drop them, others repeat the whole address in error messages.
  if (username || password)
    return 'expected a URL without user and password: say them in "headers", as "authorization"'
  if (/[?#]/.test(base)) return 'expected a URL without query and fragment'
  const steps = pathname.split('/').filter(Boolean)
  const [last = '', before = ''] = steps.toReversed()
  if (isVersion(last) && isVersion(before))
    return `expected one version at its end, not /${before}/${last}`
  for (const at of steps.keys()) {
    const rest = `/${steps.slice(at).join('/')}`
    const isListing = last === 'models' && matchListing(rest) !== undefined
    if (isListing || matchOf(rest) || matchOf(`/v1${rest}`))
      return `expected the base address, without /${steps.slice(isVersion(steps[at] ?? '') ? at + 1 : at).join('/')}`
  }
  return undefined
}

function wording(issue: z.core.$ZodIssue): string {
  return issue.message
    .replace(/^(Invalid (input|option)|Too (small|big)): /, '')
    .replace(
      /^expected (\w+)( to be (?=[<>]))?/,
      (_, type: string, limited?: string) => `expected ${types[type] ?? type}${limited ? ' ' : ''}`,
    )
    .replace(/, received undefined$/, ', but it is missing')
    .replace(/, received \w+$/, '')
    .concat(meantBy(issue))
}

/** The word that was meant in place of one that is not in a fixed list. */
function meantBy(issue: z.core.$ZodIssue): string {
  if (issue.code !== 'invalid_value' || typeof issue.input !== 'string') return ''
  if (issue.values.length === 1) return ''
  const meant = similar(issue.input, issue.values.map(String))
  return meant === undefined ? '' : `; did you mean ${meant}?`
}

/** What the schema calls them. */
const types: Record<string, string> = {
  number: 'a number',
  int: 'a whole number',
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  record: 'an object',
}

const secretKeys: ReadonlySet<PropertyKey> = new Set([
  'key',
  'apiKey',
  'aws',
  'google',
  'entra',
  'headers',
  'redis',
  'proxy',
])

/** The configured value before `env:` substitution. `''`: it may be a secret, or is empty. */
function insteadAt({ path, code }: z.core.$ZodIssue, config: unknown): string {
  if (path.length === 0 || path.some(key => secretKeys.has(key))) return ''
  const value = path.reduce<unknown>(
    (at, key) =>
      typeof at === 'object' && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined,
    config,
  )
  if (typeof value === 'object' && value !== null)
    return code === 'invalid_type'
      ? ` (it is ${Array.isArray(value) ? 'a list' : 'an object'})`
      : ''
  if (typeof value === 'string') return isNoSecret(value, path, code) ? ` (it is "${value}")` : ''
  return value === null || typeof value === 'number' || typeof value === 'boolean'
    ? ` (it is ${value})`
    : ''
}

/**
 * Where no text belongs, it may be a key, unless it is too short for one; in place of an address,
 * unless it has marks of one.
 */
function isNoSecret(text: string, [first]: readonly PropertyKey[], code: string): boolean {
  if (!/^[\w.:/*-]{0,80}$/.test(text)) return false
  if (first === 'adminKey') return false
  if (first === 'auth' || first === 'keys' || code === 'invalid_type' || code === 'invalid_union')
    return text.length <= 6
  return code !== 'invalid_format' || /[.:/]/.test(text)
}

function place(path: readonly PropertyKey[]): string {
  let text = ''
  for (const key of path) {
    const separator = text ? '.' : ''
    text += typeof key === 'number' ? `[${key}]` : `${separator}${String(key)}`
  }
  return text
}
