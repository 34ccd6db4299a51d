import { keepingSource } from '../../kit/fields/source.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { generateContent as client } from './client.ts'
import type { GenerateContentOptions } from './options.ts'
import { notes, protocolName, within } from './own.ts'
import { outcome } from './response/response.ts'
import { generateContent as upstream } from './upstream.ts'
import type { GenerateContentWire } from './written.ts'

export type { GenerateContentOptions } from './options.ts'

/** POST /v1beta/models/{model}:generateContent and :streamGenerateContent. */
export const generateContent: Protocol<GenerateContentOptions, GenerateContentWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  withModel,
  // Only the path shows whether to stream.
  wantsStream: () => undefined,
  ...keepingSource<GenerateContentOptions, GenerateContentWire>(protocolName, {
    ...client,
    ...upstream,
    withModel,
  }),
  outcome,
}

/**
 * Sets the model: in a response always, in a request only if its body has one, because the path
 * names it.
 */
function withModel(wire: unknown, model: string): unknown {
  return within(wire, body => {
    const version = 'model_version' in body ? 'model_version' : 'modelVersion'
    if (version in body || 'candidates' in body) return { ...body, [version]: model }
    const named = body['model']
    return typeof named === 'string'
      ? { ...body, model: named.startsWith('models/') ? `models/${model}` : model }
      : body
  })
}
