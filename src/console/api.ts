import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { clientConfig, clientNames } from '../clients/index.ts'
import { nesting } from '../kit/json/scan.ts'
import { isProtocolName, protocols } from '../protocols/index.ts'
import { type ApiResponse, bodyOf, found, ok, Refused, stepsOf, valid } from '../records/json-calls.ts'
import type { Access, Gatekeeper } from './access.ts'
import type { Exchanges } from './exchanges.ts'
import { sentProtocols } from './protocols.ts'
import { examine } from './translate/examine.ts'
import { examples } from './translate/examples.ts'
import { kinds } from './translate/recognize.ts'

/** In UTF-16 units: a text is translated six times. */
const longestText = 2_000_000
/** In bytes, of a body with such a text. */
const longestBody = 8 * 1024 * 1024
const deepest = 256

const name = z.string().min(1).max(200)
const Translated = z.strictObject({
  text: z.string(),
  protocol: z
    .string()
    .refine(isProtocolName, `expected one of ${Object.keys(protocols).join(', ')}`)
    .optional(),
  kind: z.enum(kinds).optional(),
})
const Configured = z.strictObject({ base: z.url({ protocol: /^https?$/ }).max(2000), model: name.optional() })

export type ApiParts = { gatekeeper: Gatekeeper; exchanges: Exchanges; isDemo: boolean; canManageKeys: boolean }

/** Answers a call of the page. @throws Refused */
export async function handleCall(request: IncomingMessage, parts: ApiParts): Promise<ApiResponse> {
  const access = await parts.gatekeeper.decide(request)
  const {
    steps: [, , resource, id],
    query,
  } = stepsOf(request)
  switch (`${request.method} ${resource}${id === undefined ? '' : '/id'}`) {
    case 'GET session':
      return ok(session(access, parts))
    case 'POST translate':
      return ok(await translate(request))
    case 'GET clients':
      return ok({ clients: clientSettings(valid(Configured, query)) })
    case 'GET exchanges/id':
      return ok(exchangeFor(access, parts, id ?? ''))
    default:
      return found<ApiResponse>(undefined)
  }
}

function session(access: Access, { isDemo, canManageKeys }: ApiParts) {
  const { role } = access
  return {
    role,
    ...(access.role === 'client' && access.identity.name !== undefined && { key: access.identity.name }),
    canManageKeys: role === 'operator' && canManageKeys,
    isDemo,
    protocols: sentProtocols(),
    examples: examples(),
  }
}

async function translate(request: IncomingMessage) {
  const { text, protocol, kind } = valid(Translated, await bodyOf(request, longestBody))
  if (text.length > longestText) throw new Refused(413, `the text is longer than ${longestText} characters`)
  if (nesting(text, deepest) > deepest) throw new Refused(400, `the text is nested deeper than ${deepest} levels`)
  const now = Math.floor(Date.now() / 1000)
  return examine(text, { now, ...(protocol && { protocol: protocols[protocol] }), ...(kind && { kind }) })
}

function clientSettings({ base, model }: z.output<typeof Configured>) {
  return clientNames.map(client => clientConfig(client, { base, ...(model !== undefined && { model }) }))
}

/** Clients do not see how the gateway is configured, so they see no channel and no request to an upstream. */
function exchangeFor(access: Access, { exchanges }: ApiParts, id: string) {
  if (access.role === 'operator') return found(exchanges.find(id))
  const { requestNotes, responseNotes, record } = found(exchanges.find(id, access.identity))
  const { channel: _, provider: __, modelServed: ___, ...shown } = record ?? {}
  return { attempts: [], requestNotes, responseNotes, ...(record && { record: shown }) }
}
