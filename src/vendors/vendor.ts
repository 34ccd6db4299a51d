import type { Capabilities } from '../models/capabilities.ts'
import type { Source } from '../models/model.ts'
import type { ProtocolName, WrittenOptions } from '../protocols/index.ts'

/**
 * A vendor, or a server that people run themselves, as data: where it is reached, and what it
 * requires and refuses beyond the published protocol. Without a vendor, requests are written so
 * that every server of the protocol accepts them.
 *
 * @example
 * import type { Vendor } from './vendor.ts'
 *
 * const docs = { date: '2026-11-30', url: 'https://acme.example/docs' }
 *
 * export const acme: Vendor = {
 *   name: 'acme',
 *   title: 'Acme AI',
 *   keyVariable: 'ACME_API_KEY',
 *   endpoints: [{ protocol: 'chat-completions', baseUrl: 'https://api.acme.example/v1', auth: 'bearer', sources: [docs] }],
 *   facts: [{ fact: 'The token limit is `max_tokens`.', options: { maxTokensField: 'max_tokens' }, sources: [docs] }],
 * }
 */
export type Vendor = {
  /** Its name in configurations, and the name of its file. */
  name: string
  /** Its name for people. */
  title: string
  /**
   * Its name in the conventions of OpenTelemetry, where it differs from `name`.
   * Source: https://opentelemetry.io/docs/specs/semconv/registry/attributes/gen-ai/
   */
  telemetryName?: string
  /** The environment variable that conventionally holds its API key. Absent: it needs no key. */
  keyVariable?: string
  /**
   * The best protocol first: it is used for clients of a protocol that the vendor does not serve
   * well.
   */
  endpoints: readonly [Endpoint, ...Endpoint[]]
  /**
   * Paths of further endpoints, for the `passThrough` of a channel: `wireglot serve` without a
   * configuration serves them too. Absent: none.
   */
  passThrough?: readonly string[]
  /**
   * What differs from the published protocols. Later facts override earlier ones, so general facts
   * come first.
   */
  facts: readonly Fact[]
  /**
   * How errors with a status of 5xx begin that are the fault of the request: they are sent to its
   * client as 400, and neither retried nor counted by the circuit breaker.
   */
  requestFaults?: { words: readonly string[]; sources: readonly Source[] }
}

/**
 * How the API key is sent. `protocol`: as the protocol does. `none`: no key is needed; one that is
 * given is sent as the protocol does.
 */
export type Auth = 'protocol' | 'bearer' | 'x-api-key' | 'api-key' | 'none'

/** A wrapping of calls: another path, another body or other frames than those of the protocol. */
export type CloudApi = (typeof cloudApis)[number]

export const cloudApis = ['invoke-model', 'raw-predict', 'deployments'] as const

/** Where a vendor serves one protocol. */
export type Endpoint = {
  protocol: ProtocolName
  /**
   * The URL before the path of the protocol. A channel fills in each `{name}` by its field of that
   * name, such as `region`.
   */
  baseUrl: string
  /** Other base URLs of the same service, by region. */
  regions?: Readonly<Record<string, string>>
  /**
   * `false`: the path has no version (`/chat/completions` instead of `/v1/chat/completions`).
   * Default true.
   */
  addVersion?: false
  auth: Auth
  /** How a cloud wraps the calls. Absent: they are those of the protocol. */
  api?: CloudApi
  /** The same protocol in other wrappings, for channels that ask for one by `api`. */
  apis?: readonly (Pick<Endpoint, 'baseUrl' | 'addVersion' | 'auth'> & { api: CloudApi })[]
  /**
   * `partial`: used only for clients of this protocol that ask for it by a channel's `protocols`,
   * because the vendor serves another one better.
   */
  support?: 'partial'
  /**
   * The types of tools that it takes; a request with others is sent with another protocol. Absent:
   * all types.
   */
  tools?: readonly string[]
  sources: readonly Source[]
}

/**
 * What a request may ask for: tools, the choice of a tool other than `auto`, a format of the output
 * other than text, a number of tokens for reasoning.
 */
export type Asked = 'tools' | 'tool-choice' | 'format' | 'thinking-budget'

/** One fact about a vendor, what follows from it, and where and when it was published. */
export type Fact = {
  /** One sentence, in plain words. */
  fact: string
  /** The protocols it is about. Absent: all that the vendor serves. */
  protocols?: readonly ProtocolName[]
  /**
   * The models it is about: patterns of names as in `src/models/`. What a model is like wherever it
   * is served stands there, too. Absent: all.
   */
  models?: readonly string[]
  /** Defaults for the mapping options of requests. Options of the user take precedence. */
  options?: WrittenOptions
  /** The same for reading responses. */
  responseOptions?: WrittenOptions
  /**
   * Fields of a request that the vendor refuses, as its protocol names them, with dots between
   * levels and `*` for every entry of a list. They are dropped with a note.
   */
  refuses?: readonly string[]
  /** What the bridge has to make up for. */
  capabilities?: Capabilities
  /**
   * Requests of these models are sent with this protocol, where it is available. `when`: only those
   * that ask for this, because it is refused or ignored over the protocols of the fact.
   */
  speak?: { protocol: ProtocolName; when: 'always' | Asked }
  sources: readonly Source[]
}
