import type { ProtocolFacts } from '../../protocol.ts'
import { detect } from './detect.ts'
import { decodeError } from './errors.ts'
import { options, type ResponsesOptions } from './options.ts'
import { path, protocolName } from './own.ts'
import { fieldNames } from './request/fields.ts'

/** What both halves have. */
export const facts: ProtocolFacts<ResponsesOptions> & { readonly name: typeof protocolName } = {
  name: protocolName,
  address: { path },
  optionsKey: 'responses',
  options,
  fieldNames,
  detect,
  decodeError,
}
