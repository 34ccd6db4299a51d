import {
  type CodecOptions,
  type OptionTable,
  type SharedOptions,
  sharedOptions,
  type ToolOptions,
} from '../../protocol.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ResponsesOptions = Pick<SharedOptions, 'efforts' | 'longCacheKey' | 'jsonWord'> & {
  /**
   * How clients receive raw reasoning of chat-completions servers. `content` (default): as the
   * content of a reasoning item. `summary`: as its summary, for clients that show only that.
   */
  rawReasoning?: 'content' | 'summary'
  /**
   * The values of `tool_choice` that the model accepts. `unforced`: `auto` and `none`. Default `all`.
   */
  toolChoice?: 'all' | 'unforced'
  /** `tool_choice` without tools. `keep` (default). `drop`: for servers that refuse it. */
  choiceWithoutTools?: 'keep' | 'drop'
  /**
   * Tool names begin with a letter or an underscore and have three characters at least and 64 at
   * most, which some servers require. Default false.
   */
  namesByLetter?: boolean
}

export type Options = CodecOptions & ToolOptions & ResponsesOptions

/** The same for configurations and command lines. */
export const options = {
  rawReasoning: ['content', 'summary'],
  efforts: sharedOptions.efforts,
  longCacheKey: sharedOptions.longCacheKey,
  jsonWord: sharedOptions.jsonWord,
  toolChoice: ['all', 'unforced'],
  choiceWithoutTools: ['keep', 'drop'],
  namesByLetter: 'flag',
} as const satisfies OptionTable<ResponsesOptions>
