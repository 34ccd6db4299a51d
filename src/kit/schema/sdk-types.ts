// The only `any` of the source, for what only the official SDKs list: nothing else is assignable to
// their enums and closed unions.
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Any = any

// In each protocol, `Sent…` are the types of requests, and `Received…` those of responses and
// events. Received content is built of sent content, which the SDKs type alike.

/**
 * A request with the name of its model. A source with the model in its path needs the option
 * `model`.
 */
export type Named<T> = Omit<T, 'model'> & { model: string }

/**
 * What an encoder writes, as the SDKs take it. For encoders that leave out what they lack, and
 * write no null for it.
 */
export type AsSdk<T> = unknown extends T
  ? Any
  : T extends readonly (infer Item)[]
    ? AsSdk<Item>[]
    : T extends object
      ? { [Key in keyof T]: FieldAsSdk<T, Key> }
      : T

type FieldAsSdk<T, Key extends keyof T> = Key extends OpenKey
  ? Any
  : Key extends WordKey
    ? Word<Present<T, Key>>
    : AsSdk<Present<T, Key>>

type Present<T, Key extends keyof T> = undefined extends T[Key]
  ? Exclude<T[Key], null | undefined>
  : T[Key]

type Word<T> = string extends T ? Any : T extends readonly string[] ? Any[] : AsSdk<T>

/** Keys of objects that the SDKs describe more closely than the encoders do. */
type OpenKey =
  | 'args'
  | 'audio'
  | 'format'
  | 'mcp_servers'
  | 'mediaResolution'
  | 'output_format'
  | 'prediction'
  | 'prompt_cache_breakpoint'
  | 'response_format'
  | 'schema'
  | 'thinking'
  | 'tool_choice'

/** Keys of words, in lists that grow. */
type WordKey =
  | 'allowed_callers'
  | 'behavior'
  | 'blockReason'
  | 'category'
  | 'context'
  | 'detail'
  | 'effort'
  | 'finishReason'
  | 'include'
  | 'level'
  | 'media_type'
  | 'mode'
  | 'modality'
  | 'modalities'
  | 'prompt_cache_retention'
  | 'reasoning_effort'
  | 'responseModalities'
  | 'role'
  | 'search_context_size'
  | 'serviceTier'
  | 'service_tier'
  | 'speed'
  | 'summary'
  | 'syntax'
  | 'thinkingLevel'
  | 'threshold'
  | 'truncation'
  | 'ttl'
  | 'type'
  | 'verbosity'
