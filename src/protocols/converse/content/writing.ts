import type { CanonicalRequest } from '../../../canonical/request.ts'
import { type BlockWriting, requestWriting } from '../../../kit/conversation/block-writing.ts'
import { startNames, type UsedNames } from '../../../kit/text/free-names.ts'
import type { FieldNames } from '../../../protocol.ts'
import { familyOf } from '../models.ts'
import type { Options } from '../options.ts'
import { type ConverseReport, protocolName } from '../own.ts'
import { type ConverseFamily, signatureIssuers } from '../vocabulary.ts'

/** The context for reading a block. */
export type Reading = {
  report: ConverseReport
  /** Of the model that the request is for, or that the response is from. */
  family: ConverseFamily
  /**
   * Receives the names of fields in this body that differ from the protocol's own table, such as
   * the place of a cache point.
   */
  names: FieldNames
  /**
   * Of a response, whose tool results are those of the provider's own tools, whatever their type.
   */
  isResponse: boolean
}

/** The context for encoding a part. */
export type Writing = BlockWriting<ConverseReport> & {
  /** Of the model that the request is for. Of a response: of the model that its client requested. */
  family: ConverseFamily
  /** The names of the documents so far, which must be unique in a request. */
  documents: UsedNames
}

// ---- for requests

export type RequestWriting = Writing & {
  options: Options
}

export function startWriting(
  request: CanonicalRequest,
  options: Options,
  report: ConverseReport,
  native: boolean,
): RequestWriting {
  const family = familyOf(request.model, options)
  const issuers = [protocolName, signatureIssuers[family]]
  return {
    options,
    family,
    documents: startNames(),
    ...requestWriting(request, options, { report, native, issuers }),
  }
}
