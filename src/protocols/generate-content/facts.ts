import type { ProtocolFacts } from '../../protocol.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { type GenerateContentOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'

/** What both halves have. */
export const facts: ProtocolFacts<GenerateContentOptions> & { readonly name: typeof protocolName } =
  {
    name: protocolName,
    address: { path },
    optionsKey: 'generateContent',
    options,
    fieldNames,
    detect,
    decodeError,
    resold: { format: 'google-gemini-v1', issuer: protocolName, form: 'thought' },
  }
