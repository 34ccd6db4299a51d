import type { ProtocolFacts } from '../../protocol.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { type MessagesOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'

/** What both halves have. */
export const facts: ProtocolFacts<MessagesOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'messages',
  options,
  fieldNames,
  olderNames: { 'output.format': ['output_format'] },
  detect,
  decodeError,
  resold: { format: 'anthropic-claude-v1', issuer: protocolName, form: 'redacted' },
}
