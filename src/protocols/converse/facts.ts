import { eventStream } from '../../eventstream/framing.ts'
import type { ProtocolFacts } from '../../protocol.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { type ConverseOptions, options } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'
import { signatureIssuers } from './vocabulary.ts'

/** What both halves have. */
export const facts: ProtocolFacts<ConverseOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'converse',
  options,
  fieldNames,
  detect,
  decodeError,
  framing: eventStream,
  resold: { format: 'anthropic-claude-v1', issuer: signatureIssuers.claude, form: 'redacted' },
}
