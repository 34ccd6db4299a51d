import { keepingSource } from '../../kit/fields/source.ts'
import { isObject } from '../../kit/json/json.ts'
import type { Protocol } from '../../protocol.ts'
import { address } from './address.ts'
import { responses as client } from './client.ts'
import type { ResponsesOptions } from './options.ts'
import { notes, protocolName } from './own.ts'
import { toolTypes } from './request/fitting.ts'
import { outcome } from './response/response.ts'
import { responses as upstream } from './upstream.ts'
import type { ResponsesWire } from './written.ts'

export type { ResponsesOptions } from './options.ts'

/** `POST /v1/responses`, of OpenAI and of Open Responses. */
export const responses: Protocol<ResponsesOptions, ResponsesWire> & {
  readonly name: typeof protocolName
} = {
  ...client,
  ...upstream,
  address,
  notes,
  withModel(wire, model) {
    if (!isObject(wire)) return wire
    const { response } = wire
    if (isObject(response) && typeof wire['type'] === 'string')
      return { ...wire, response: { ...response, model } }
    if (!('model' in wire) && (typeof wire['type'] === 'string' || wire['error'] != null))
      return wire
    return { ...wire, model }
  },
  wantsStream(wire) {
    const stream = isObject(wire) ? wire['stream'] : undefined
    return typeof stream === 'boolean' ? stream : undefined
  },
  toolTypes,
  ...keepingSource<ResponsesOptions, ResponsesWire>(protocolName, { ...client, ...upstream }),
  outcome,
}
