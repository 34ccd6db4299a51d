import { expect, test } from 'vitest'
import { asksFor } from '../../src/gateway/asked.ts'
import { translateRequest } from '../../src/index.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { type VendorName, vendors } from '../../src/vendors/index.ts'
import { endpointOf, protocolFor } from '../../src/vendors/settings.ts'
import { recordedRequests, skipReason } from '../corpus/data.ts'
import { simulators } from '../support/vendors/index.ts'

type Body = Record<string, unknown>

/** What `translateRequest` writes for a vendor, over the protocol that the gateway would choose. */
const recorded = recordedRequests()

/**
 * What no request can say right at a simulated server: it knows the reasoning of its own responses
 * alone, and a recorded client may have left a part of its history with its provider.
 */
const ofHistory =
  /signature|encrypted content|No tool call found|without its tool_use|belongs to no call|must start with a thinking block/

/**
 * What is refused all the same: a picture to a model that reads text alone is the fault of its
 * request, clients of the same protocol send what they want, and a model that takes sampling only
 * without reasoning is known to the gateway once it has refused it.
 */
const known = [
  /unsupported content block 'image'|unknown part type 'image_url'/,
  /content\/\d+\/annotations: missing/,
  /^Unsupported parameter: 'temperature' is not supported with this model/,
]

function chosenFor(vendor: VendorName, from: ProtocolName, body: Body, model: string) {
  const protocol = protocols[from]
  const { tools } = body
  return protocolFor(vendors[vendor], from, {
    model,
    hasTools: Array.isArray(tools) && tools.length > 0,
    toolTypes: () => protocol.toolTypes?.(body) ?? [],
    asks: what => asksFor(body, protocol, what),
  })
}

test.skipIf(recorded.length === 0).each(Object.keys(simulators) as VendorName[])(
  `no recorded request is refused by %s, which ${skipReason}`,
  vendor => {
    const { models, endpoints } = simulators[vendor]
    const refused = new Map<string, number>()
    let asked = 0
    for (const model of models)
      for (const { name, protocol: from, body, path } of recorded) {
        const to = chosenFor(vendor, from, body, model)
        const settings = { from, to, vendor, model, path, onUnresolvable: 'note' } as const
        const { model: named, stream, ...rest } = translateRequest(body, settings).body as Body
        // A cloud has both in its address, and the version of the API in the body.
        const isWrapped = endpointOf(vendors[vendor], to)?.api !== undefined
        const wire = isWrapped
          ? { ...rest, anthropic_version: 'vertex-2023-10-16' }
          : { ...rest, ...(named !== undefined && { model: named }), stream }
        // Clouds have several addresses for a protocol, each for some models.
        const refusals = endpoints
          .filter(({ protocol }) => protocol === to)
          .map(endpoint => endpoint.refuse(JSON.parse(JSON.stringify(wire)) as Body, model))
        asked++
        const [refusal] = refusals.every(one => one !== undefined) ? refusals : []
        if (!refusal || [ofHistory, ...known].some(words => words.test(refusal.message))) continue
        const fault = `${model} over ${to}: ${refusal.message} (${name.replace(/#.*/, '')})`
        refused.set(fault, (refused.get(fault) ?? 0) + 1)
      }
    expect([...refused].map(([fault, times]) => `${times} × ${fault}`)).toEqual([])
    expect(asked).toBeGreaterThanOrEqual(recorded.length)
  },
)
