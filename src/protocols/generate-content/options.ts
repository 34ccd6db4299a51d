import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How requests and replies of this protocol are read and written, where the protocols leave a choice. */
export type GeminiOptions = {
  /**
   * Where instructions in the middle of a conversation go. `auto` (default), `keep` and `user`: they become text of the user,
   * in place, as there is no role for them. `hoist`: they move to the field for instructions, which voids prompt caches.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /** Ids of calls and results. `always` (default): written. `never`: for servers that refuse them and match results by their order. */
  ids?: 'always' | 'never'
  /**
   * A tool result whose text is a JSON object. `text` (default): as text under `output`, because some keys of the object would
   * have a meaning here. `object`: as that object.
   */
  parseJson?: 'text' | 'object'
  /** How an effort is written. `auto` (default): as a budget for models up to 2.5, else as a level. `level` and `budget`: always so. */
  thinking?: 'auto' | 'level' | 'budget'
  /** The levels of thinking that the model knows, in lower case with spaces between them; the nearest one is written. Default: all levels. */
  efforts?: string
  /** The least budget of thinking that the model takes, in tokens. Default 0. */
  leastBudget?: number
  /**
   * Where a reply tells what was thought before a call. `parts` (default): in parts of its own. `calls`: also in the signature of
   * the call, for clients that forget thoughts, such as Gemini CLI: the reply is longer by it.
   */
  signedReasoning?: 'parts' | 'calls'
  /** The levels of thinking that a model knows; the nearest one is written. Default: all levels, and the server may refuse. */
  levels?: (model: string | undefined) => readonly GeminiLevel[] | undefined
  /**
   * A conversation that begins with the model. `keep` (default): written as it is, and the server may refuse it. `synthesize`:
   * a user message `.` is put before it.
   */
  leadingUser?: 'keep' | 'synthesize'
  /**
   * Bodies that stand inside another, as Code Assist has them: `{ model, request }` and `{ response }`. `refuse` (default).
   * `unwrap`: the inner body is read, and written inside the same again for this protocol.
   */
  wrapper?: 'refuse' | 'unwrap'
  /** Writes `metadata` as `labels`, which not every host of this protocol takes. Default false. */
  labels?: boolean
  /**
   * Functions beside tools that the provider runs (`serverTools: 'map'`). `include` (default): the reply is asked to tell what
   * the provider ran, without which Gemini's own servers refuse the request. `omit`: for Vertex AI, which does not know the field.
   */
  toolInvocations?: 'include' | 'omit'
  /** The API version in the path of a written request. Default `v1beta`, where everything is defined. */
  apiVersion?: 'v1beta' | 'v1' | 'v1alpha'
}

/** How much a model thinks, as this wire says it. */
export type GeminiLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

export type Options = CodecOptions & ToolOptions & GeminiOptions

/** The same for configurations and command lines. */
export const options = {
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  ids: ['always', 'never'],
  parseJson: ['text', 'object'],
  thinking: ['auto', 'level', 'budget'],
  efforts: 'text',
  leastBudget: 'number',
  levels: 'function',
  signedReasoning: ['parts', 'calls'],
  leadingUser: ['keep', 'synthesize'],
  wrapper: ['refuse', 'unwrap'],
  labels: 'flag',
  toolInvocations: ['include', 'omit'],
  apiVersion: ['v1beta', 'v1', 'v1alpha'],
} as const satisfies OptionTable<GeminiOptions>
