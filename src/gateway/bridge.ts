import { bridgeFor } from '../bridge/bridge.ts'
import { capabilitiesOf } from '../bridge/capabilities.ts'
import { omitUndefined } from '../kit/fields/omit.ts'
import { isObject } from '../kit/json/json.ts'
import type { Capabilities } from '../models/capabilities.ts'
import { protocolNames } from '../protocols/index.ts'
import type { Bridge } from '../translate/bridge.ts'
import { hasTools } from './asked.ts'
import type { RequestContext } from './request-context.ts'
import type { Deployment } from './upstream/catalog.ts'

/**
 * The bridge for a request, as a setting of its translation. Undefined: the model needs none for
 * it.
 */
export function bridgeOf(
  { operation, body: { outline } }: Pick<RequestContext, 'operation' | 'body'>,
  candidate: Deployment,
): { bridge: Bridge } | undefined {
  if (!candidate.entry.bridge || operation !== 'generate' || !isObject(outline)) return undefined
  const capabilities = capableOf(candidate)
  return isActive(capabilities, outline) ? { bridge: bridgeFor(() => capabilities) } : undefined
}

/** What the model of a candidate can do at its server. */
export const capableOf = ({ channel, protocol, entry, model }: Deployment): Capabilities =>
  capabilitiesOf({
    vendor: channel.vendor,
    protocol: protocolNames.find(name => name === protocol.name),
    model,
    own: omitUndefined({ ...entry.capabilities }),
  })

const isActive = (
  { leaksToolCalls, input, tools, structuredOutput }: Capabilities,
  outline: Record<string, unknown>,
) =>
  input !== undefined ||
  tools === 'prompt' ||
  structuredOutput === 'prompt' ||
  (leaksToolCalls === true && hasTools(outline))
