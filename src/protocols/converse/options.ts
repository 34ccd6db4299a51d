import type { CodecOptions, OptionTable, ToolOptions } from '../../protocol.ts'
import { type ConverseFamily, families } from './vocabulary.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ConverseOptions = {
  /**
   * The family of the model, which decides how reasoning is requested and what else it accepts.
   * Default: by the model id. Needed for ids that do not name one, such as application inference
   * profiles. In code, a function of the model id.
   */
  family?: ConverseFamily | ((model: string) => ConverseFamily | undefined)
  /**
   * Where instructions inside the conversation go. `user` (default): user text, in place. `hoist`:
   * the system field, which invalidates prompt caches.
   */
  systemPlacement?: 'user' | 'hoist'
  /**
   * Earlier reasoning without a signature of the model. `drop` (default), because most models
   * refuse it. `text`: as text. `keep`: as reasoning, for models that read it.
   */
  unsignedReasoning?: 'drop' | 'text' | 'keep'
  /**
   * A conversation that begins with the assistant, or contains instructions only. `auto` (default):
   * a user message `.` is inserted before the assistant's. `keep`: unchanged. `synthesize`: always
   * inserted.
   */
  leadingUser?: 'auto' | 'keep' | 'synthesize'
  /**
   * JSON without a schema, which the protocol cannot require. `drop` (default). `instruct`: a line
   * of the system prompt requests it.
   */
  jsonMode?: 'drop' | 'instruct'
  /** The tool choices that the model accepts. `all` (default). `auto`: no tool can be forced. */
  toolChoice?: 'all' | 'auto'
  /**
   * How thinking is turned off. `disabled` (default). `between_tools`: limited to the time between
   * calls. `omit`: not at all, for models that always think.
   */
  thinkingOff?: 'disabled' | 'between_tools' | 'omit'
  /**
   * Marks the end of the last user message for the prompt cache, as providers with automatic caching
   * do, for models that are known to cache. Requests with marks of their own stay as they are.
   * Default false, because cache writes cost extra; in the gateway true for requests with tools of
   * clients that speak another protocol.
   */
  autoCache?: boolean
  /**
   * Converts media to a format that the server accepts; returns undefined if it cannot. Default:
   * media in other formats are dropped.
   */
  convertMedia?: (media: {
    mime: string
    data: string
  }) => { mime: string; data: string } | undefined
}

export type Options = CodecOptions & ToolOptions & ConverseOptions

/** The same for configurations and command lines. */
export const options = {
  family: families,
  systemPlacement: ['user', 'hoist'],
  unsignedReasoning: ['drop', 'text', 'keep'],
  leadingUser: ['auto', 'keep', 'synthesize'],
  jsonMode: ['drop', 'instruct'],
  autoCache: 'flag',
  toolChoice: ['all', 'auto'],
  thinkingOff: ['disabled', 'between_tools', 'omit'],
  convertMedia: 'function',
} as const satisfies OptionTable<ConverseOptions>
