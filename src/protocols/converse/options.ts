import { defaultsOf } from '../../kit/fields/option-groups.ts'
import {
  type CodecOptions,
  type OptionTable,
  type SharedOptions,
  sharedOptions,
  type ToolOptions,
} from '../../protocol.ts'
import { type ConverseFamily, families } from './vocabulary.ts'

/** How this protocol is decoded and encoded, where more than one way is right. */
export type ConverseOptions = Pick<
  SharedOptions,
  'systemPlacement' | 'leadingUser' | 'jsonMode' | 'autoCache' | 'convertMedia'
> & {
  /**
   * The family of the model, which decides how reasoning is requested and what else it accepts.
   * Default: by the model id. Needed for ids that do not name one, such as application inference
   * profiles. In code, a function of the model id.
   */
  family?: ConverseFamily | ((model: string) => ConverseFamily | undefined)
  /**
   * How a model of Claude is asked to think. `auto` (default): as its name says. `adaptive` and
   * `enabled`: always with an effort, or with a budget.
   */
  thinking?: 'auto' | 'adaptive' | 'enabled'
  /** The tool choices that the model accepts. `all` (default). `auto`: no tool can be forced. */
  toolChoice?: 'all' | 'auto'
  /**
   * How thinking is turned off. `disabled` (default). `between_tools`: limited to the time between
   * calls. `omit`: not at all, for models that always think.
   */
  thinkingOff?: 'disabled' | 'between_tools' | 'omit'
}

export type Options = CodecOptions & ToolOptions & ConverseOptions

/** The same for configurations and command lines. */
export const options = {
  family: families,
  systemPlacement: sharedOptions.systemPlacement,
  leadingUser: sharedOptions.leadingUser,
  jsonMode: sharedOptions.jsonMode,
  autoCache: sharedOptions.autoCache,
  thinking: ['auto', 'adaptive', 'enabled'],
  toolChoice: ['all', 'auto'],
  thinkingOff: ['disabled', 'between_tools', 'omit'],
  convertMedia: sharedOptions.convertMedia,
} as const satisfies OptionTable<ConverseOptions>

export const defaults = defaultsOf(options)
