import { defaultsOf } from '../../kit/fields/option-groups.ts'
import {
  type CodecOptions,
  type OptionTable,
  type SharedOptions,
  sharedOptions,
  type ToolOptions,
} from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type GenerateContentOptions = Pick<
  SharedOptions,
  'systemPlacement' | 'leadingUser' | 'efforts'
> & {
  /**
   * How an effort is written. `auto` (default): as a budget for models up to 2.5, else as a level.
   * `level` and `budget`: always so.
   */
  thinking?: 'auto' | 'level' | 'budget'
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
  /** Writes `metadata` as `labels`, which not every server accepts. Default false. */
  labels?: boolean
  /**
   * Functions next to provider tools (`tools.serverTools: 'map'`). `include` (default): the
   * response may report the provider's tool use, without which Gemini refuses the request. `omit`:
   * for Vertex AI, which does not know the field.
   */
  toolInvocations?: 'include' | 'omit'
}

export type Options = CodecOptions & ToolOptions & GenerateContentOptions

/** The same for configurations and command lines. */
export const options = {
  systemPlacement: sharedOptions.systemPlacement,
  thinking: ['auto', 'level', 'budget'],
  efforts: sharedOptions.efforts,
  leastBudget: 'number',
  jsonWithTools: ['keep', 'instruct'],
  signedReasoning: ['parts', 'calls'],
  leadingUser: sharedOptions.leadingUser,
  labels: 'flag',
  toolInvocations: ['include', 'omit'],
} as const satisfies OptionTable<GenerateContentOptions>

export const defaults = defaultsOf(options)
