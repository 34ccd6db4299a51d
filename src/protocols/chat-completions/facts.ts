import type { ProtocolFacts } from '../../protocol.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { type ChatCompletionsOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { controlNames } from './request/effort.ts'
import { fieldNames, olderNames } from './request/fields.ts'

/** What both halves have. */
export const facts: ProtocolFacts<ChatCompletionsOptions> & { readonly name: typeof protocolName } =
  {
    name: protocolName,
    address: { path },
    optionsKey: 'chatCompletions',
    options,
    fieldNames,
    olderNames: { ...olderNames, ...controlNames },
    detect,
    decodeError,
  }
