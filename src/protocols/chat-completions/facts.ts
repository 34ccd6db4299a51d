import type { ProtocolFacts } from '../../protocol.ts'
import { path, protocolName } from './content/own.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { type ChatCompletionsOptions, options } from './options.ts'
import { controlNames } from './request/effort.ts'
import { fieldNames, olderNames } from './request/field-names.ts'
import { frames } from './stream/frames.ts'
import { shortcut } from './stream/shortcut.ts'

/** What both halves have. */
export const facts: ProtocolFacts<ChatCompletionsOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'chatCompletions',
  options,
  fieldNames,
  olderNames: { ...olderNames, ...controlNames },
  detect,
  decodeError,
  frames,
  shortcut,
}
