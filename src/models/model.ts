/**
 * How a model is asked to think. `off`: it can be told not to. `between_tools`: only between calls.
 * `budget`: in tokens. `effort`: in words. `adaptive`: it decides itself, which an effort may guide.
 */
export type ThinkingForm = 'off' | 'between_tools' | 'budget' | 'effort' | 'adaptive'

/** Every kind of content. */
export const modalities = ['text', 'image', 'audio', 'video', 'file'] as const

/** A kind of content. */
export type Modality = (typeof modalities)[number]

/**
 * Where a fact was published, and a day on which it stood there: that of the version which was
 * read, or else of the reading.
 */
export type Source = { date: string; url: string }

/**
 * What is known about a model, or about several that do not differ in it. Whatever is absent is not
 * known, and nothing is changed because of it.
 */
export type Model = {
  /**
   * Patterns of its name: `*` is any text, and `5.6+` this version or a newer one, so that a newer
   * model is taken for the newest known one of its family.
   */
  names: readonly string[]
  /** The most tokens of input and output together. */
  contextTokens?: number
  /** The most tokens of one response. */
  outputTokens?: number
  /** What it reads. */
  input?: readonly Modality[]
  /** What it makes, if not text alone. */
  output?: readonly Modality[]
  /** Empty: it does not think. Without `off` it always does. */
  thinking?: readonly ThinkingForm[]
  /** The words of its effort, separated by spaces. Empty: it takes none. */
  efforts?: string
  /** The same in chat-completions, where that differs. */
  chatEfforts?: string
  /** The least and the most tokens of a thinking budget. */
  budget?: { least?: number; most?: number }
  /** `none`: values other than the defaults are refused. `one`: temperature or top_p, not both. */
  sampling?: 'none' | 'one'
  /** `false`: values of sampling other than the defaults are refused while it thinks. */
  samplingWithThinking?: false
  /** Other fields that it refuses, as the protocols of its maker name them. */
  refuses?: readonly string[]
  /** `auto`: no tool can be forced. */
  toolChoice?: 'auto'
  /** `none`: in chat-completions it takes tools only with this effort. */
  effortWithTools?: 'none'
  /**
   * `plain`: the schema of a tool must be one object at its root, without alternatives. `flat`:
   * with nothing but `type`, `properties` and `required` there, and without references.
   */
  toolSchemas?: 'plain' | 'flat'
  /** `false`: calls cannot be limited to one at a time. */
  serialCalls?: false
  /** `false`: the result of a tool contains text alone. */
  mediaInResults?: false
  /** `false`: it signs no calls, so that none needs a signature. */
  signsCalls?: false
  /** `instructed`: JSON next to tools has to be asked for in the instructions. */
  jsonWithTools?: 'instructed'
  /** `false`: the user must not speak straight after the result of a tool. */
  userAfterResults?: false
  /** `false`: a conversation must not end with a message of the assistant. */
  prefill?: false
  /** System messages are accepted inside of a conversation. */
  systemAnywhere?: true
  /** Thinking is bound to the conversation before it. */
  preservedThinking?: true
  /** `false`: Converse takes neither strict tools nor a schema for its response. */
  converseSchemas?: false
  sources: readonly Source[]
}

/**
 * A maker of models. `vendor`: the name of its vendor profile, where it is another. `protocols`:
 * where its models are asked in their own terms; others serve them in words of their own. `models`:
 * newest first; the first one whose name fits counts.
 */
export type Maker = {
  name: string
  title: string
  vendor?: string
  protocols: readonly string[]
  models: readonly Model[]
}
