import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type GenerateContentOptions = {
  /**
   * Where instructions inside the conversation go. `auto` (default), `keep` and `user`: user text,
   * in place, because the protocol has no role for them. `hoist`: the field for instructions, which
   * invalidates prompt caches.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /**
   * How an effort is written. `auto` (default): as a budget for models up to 2.5, else as a level.
   * `level` and `budget`: always so.
   */
  thinking?: 'auto' | 'level' | 'budget'
  /**
   * The thinking levels that the model accepts, in lower case, separated by spaces. The nearest one
   * is written. Default: all levels up to `high`.
   */
  efforts?: string
  /** The minimum thinking budget of the model, in tokens. Default 0. */
  leastBudget?: number
  /**
   * JSON that is wanted next to tools. `keep` (default). `instruct`: for models that refuse it, it
   * is requested in the instructions.
   */
  jsonWithTools?: 'keep' | 'instruct'
  /**
   * Where a response carries the reasoning before a call. `parts` (default): in parts of its own.
   * `calls`: also in the signature of the call, for clients that drop reasoning, such as Gemini
   * CLI. Responses get longer.
   */
  signedReasoning?: 'parts' | 'calls'
  /**
   * The thinking levels that a model accepts; the nearest one is written. Default: all levels up
   * to `HIGH`, and the server may refuse.
   */
  levels?: (model: string | undefined) => readonly GenerateContentLevel[] | undefined
  /**
   * A conversation that begins with the model, or contains instructions only. `auto` (default): a
   * user message `.` is inserted before the model's. `keep`: unchanged; the server may refuse it.
   * `synthesize`: always inserted.
   */
  leadingUser?: 'auto' | 'keep' | 'synthesize'
  /**
   * Bodies inside another body, as Code Assist sends them: `{ model, request }` and `{ response }`.
   * `refuse` (default). `unwrap`: the inner body is decoded, and encoded in the same way for this
   * protocol.
   */
  wrapper?: 'refuse' | 'unwrap'
  /** Writes `metadata` as `labels`, which not every server accepts. Default false. */
  labels?: boolean
  /**
   * Functions next to provider tools (`tools.serverTools: 'map'`). `include` (default): the
   * response may report the provider's tool use, without which Gemini refuses the request. `omit`:
   * for Vertex AI, which does not know the field.
   */
  toolInvocations?: 'include' | 'omit'
  /** The API version in the path of a request. Default `v1beta`, which defines everything. */
  apiVersion?: 'v1beta' | 'v1' | 'v1alpha'
}

/** The thinking levels of this protocol. */
export type GenerateContentLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH' | 'XHIGH'

export type Options = CodecOptions & ToolOptions & GenerateContentOptions

/** The same for configurations and command lines. */
export const options = {
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  thinking: ['auto', 'level', 'budget'],
  efforts: 'text',
  leastBudget: 'number',
  jsonWithTools: ['keep', 'instruct'],
  levels: 'function',
  signedReasoning: ['parts', 'calls'],
  leadingUser: ['auto', 'keep', 'synthesize'],
  wrapper: ['refuse', 'unwrap'],
  labels: 'flag',
  toolInvocations: ['include', 'omit'],
  apiVersion: ['v1beta', 'v1', 'v1alpha'],
} as const satisfies OptionTable<GenerateContentOptions>
