import type { CodecOptions, OptionTable } from '../../protocol.ts'

/** How requests and replies of this protocol are read and written, where the protocols leave a choice. */
export type GeminiOptions = {
  /**
   * Where instructions in the middle of a conversation go. `auto` (default), `keep` and `user`: they become text of the user,
   * in place, as there is no role for them. `hoist`: they move to the field for instructions, which voids prompt caches.
   */
  systemPlacement?: 'auto' | 'keep' | 'user' | 'hoist'
  /** Ids of calls and results. `always` (default): written. `never`: for servers that refuse them and match results by their order. */
  gcIds?: 'always' | 'never'
  /**
   * A tool result whose text is a JSON object. `text` (default): as text under `output`, because some keys of the object would
   * have a meaning here. `object`: as that object.
   */
  gcParseJson?: 'text' | 'object'
  /** How an effort is written. `auto` (default): as a budget for models up to 2.5, else as a level. `level` and `budget`: always so. */
  gcThinking?: 'auto' | 'level' | 'budget'
  /** The levels of thinking that the model knows, in lower case with spaces between them; the nearest one is written. Default: all levels. */
  gcEfforts?: string
  /** The least budget of thinking that the model takes, in tokens. Default 0. */
  gcLeastBudget?: number
  /**
   * Where a reply tells what was thought before a call. `parts` (default): in parts of its own. `calls`: also in the signature of
   * the call, for clients that forget thoughts, such as Gemini CLI: the reply is longer by it.
   */
  gcThoughts?: 'parts' | 'calls'
  /** The levels of thinking that a model knows; the nearest one is written. Default: all levels, and the server may refuse. */
  gcLevels?: (model: string | undefined) => readonly GeminiLevel[] | undefined
  /**
   * A conversation that begins with the model. `keep` (default): written as it is, and the server may refuse it. `synthesize`:
   * a user message `.` is put before it.
   */
  amLeadingUser?: 'keep' | 'synthesize'
  /**
   * Bodies that stand inside another, as Code Assist has them: `{ model, request }` and `{ response }`. `refuse` (default).
   * `unwrap`: the inner body is read, and written inside the same again for this protocol.
   */
  gcWrapper?: 'refuse' | 'unwrap'
  /** Writes `metadata` as `labels`, which not every host of this protocol takes. Default false. */
  gcLabels?: boolean
  /**
   * Functions beside tools that the provider runs (`serverTools: 'map'`). `include` (default): the reply is asked to tell what
   * the provider ran, without which Gemini's own servers refuse the request. `omit`: for Vertex AI, which does not know the field.
   */
  gcToolInvocations?: 'include' | 'omit'
  /** The API version in the path of a written request. Default `v1beta`, where everything is defined. */
  gcApiVersion?: 'v1beta' | 'v1' | 'v1alpha'
  /** Earlier uses of tools that another provider ran. `drop` (default): the text after them tells the outcome. `text`: each in one line of text. */
  serverToolHistory?: 'drop' | 'text'
  /** Tools that another provider runs. `drop` (default): tools of different providers never match. `map`: the nearest one of this provider. */
  serverTools?: 'drop' | 'map'
  /**
   * Tools that the client runs itself, but that only another provider knows by name (a shell, an editor, a memory), become
   * functions with their documented input, as with `serverTools: 'map'`. Default false: a model that was not trained on such a
   * tool may use it badly.
   */
  expandClientTools?: boolean
  /**
   * Proofs of other providers in the history. `drop` (default): they are left out, because only their issuer takes them. `wrap`:
   * they are sent in the envelopes that clients hold, for a server that is such a gateway itself and opens them.
   */
  foreignProofs?: 'drop' | 'wrap'
}

/** How much a model thinks, as this wire says it. */
export type GeminiLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

export type Options = CodecOptions & GeminiOptions

/** The same for configurations and command lines. */
export const options = {
  systemPlacement: ['auto', 'keep', 'user', 'hoist'],
  gcIds: ['always', 'never'],
  gcParseJson: ['text', 'object'],
  gcThinking: ['auto', 'level', 'budget'],
  gcEfforts: 'text',
  gcLeastBudget: 'number',
  gcThoughts: ['parts', 'calls'],
  amLeadingUser: ['keep', 'synthesize'],
  gcWrapper: ['refuse', 'unwrap'],
  gcLabels: 'flag',
  gcToolInvocations: ['include', 'omit'],
  gcApiVersion: ['v1beta', 'v1', 'v1alpha'],
  serverToolHistory: ['drop', 'text'],
  serverTools: ['drop', 'map'],
  expandClientTools: 'flag',
  foreignProofs: ['drop', 'wrap'],
} as const satisfies OptionTable<GeminiOptions>
