import type { OptionTable } from '../../protocol.ts'

/** How requests and replies of this protocol are read and written, where the protocols leave a choice. */
export type GeminiOptions = {
  /**
   * Where instructions in mid-conversation go. `auto` (default) and `user`: text of a user, in place; `hoist`: the field for
   * instructions, which voids prompt caches.
   */
  systemPlacement?: 'auto' | 'user' | 'hoist'
  /** Ids of calls and results. `always` (default); `never`: for servers that refuse them, where pairs are told by their order. */
  gcIds?: 'always' | 'never'
  /** A result whose text is a JSON object. `text` (default): under `output`, for some keys have a meaning here; `object`: as that object. */
  gcParseJson?: 'text' | 'object'
  /**
   * How an effort is said. `auto` (default): as a budget to models up to 2.5, else as a level; `level` and `budget`: always so.
   */
  gcThinking?: 'auto' | 'level' | 'budget'
  /** The levels of thinking that a model knows, of which the nearest is written. Default: all, and the server answers. */
  gcLevels?: (model: string | undefined) => readonly GeminiLevel[] | undefined
  /** A conversation that the model begins. `keep` (default): the server answers; `synthesize`: a user says `.` first. */
  amLeadingUser?: 'keep' | 'synthesize'
  /**
   * Bodies inside of another, as Code Assist has them: `{ model, request }` and `{ response }`. `refuse` (default), or `unwrap`: what
   * is inside is read, and written inside of the same again for this protocol.
   */
  gcWrapper?: 'refuse' | 'unwrap'
  /** `metadata` as `labels`, which not every host of this protocol takes. Default false. */
  gcLabels?: boolean
  /** The version of the API that a written request goes to. Default `v1beta`: everything is defined there. */
  gcApiVersion?: 'v1beta' | 'v1' | 'v1alpha'
  /** Calls without result and results without call. `keep` (default): the server answers; nothing is invented. */
  repairToolPairs?: 'keep' | 'synthesize' | 'drop'
  /** Past uses of tools that another provider ran. `drop` (default): the text after them tells what came of it; `text`: in one line. */
  serverToolHistory?: 'drop' | 'text'
  /** Tools that another provider runs. `drop` (default): vendors' tools never match; `map`: the nearest one here. */
  serverTools?: 'drop' | 'map'
}

/** How much a model thinks, as this wire says it. */
export type GeminiLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH'

/** The same for configurations and command lines. */
export const options = {
  systemPlacement: ['auto', 'user', 'hoist'],
  gcIds: ['always', 'never'],
  gcParseJson: ['text', 'object'],
  gcThinking: ['auto', 'level', 'budget'],
  amLeadingUser: ['keep', 'synthesize'],
  gcWrapper: ['refuse', 'unwrap'],
  gcLabels: 'flag',
  gcApiVersion: ['v1beta', 'v1', 'v1alpha'],
  repairToolPairs: ['keep', 'synthesize', 'drop'],
  serverToolHistory: ['drop', 'text'],
  serverTools: ['drop', 'map'],
} as const satisfies OptionTable<GeminiOptions>
