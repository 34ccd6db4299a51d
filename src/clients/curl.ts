import type { AddressUsage } from '../address/check.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { encodeRequest } from '../translate/encode.ts'
import { type Client, shellWord } from './client.ts'

const usageOf = (protocol: ProtocolName): AddressUsage => ({ protocol, appends: 'nothing' })

/** A raw request for each protocol. */
export const curl: Client = {
  title: 'curl',
  usages: protocolNames.map(usageOf),
  snippets: ({ model, keyEnv, addressFor }) =>
    protocolNames.map(protocol => {
      const root = addressFor({ protocol, appends: 'version-and-endpoint' })
      return {
        protocol,
        title: protocol,
        address: addressFor(usageOf(protocol)),
        language: 'sh',
        text: curlOf(root, protocol, { model, keyEnv, stream: false }),
      }
    }),
}

/** A complete command. Without `keyEnv` it sends no key. */
export function curlOf(
  root: string,
  name: ProtocolName,
  { model, keyEnv, stream }: { model: string; keyEnv?: string; stream: boolean },
): string {
  const { address } = protocols[name]
  const request: CanonicalRequest = {
    model,
    messages: [{ role: 'user', origin: 'message', parts: [{ type: 'text', text: 'Hello there' }] }],
    maxOutputTokens: 1024,
    ...(stream && { stream: { enabled: true } }),
  }
  const { wire } = encodeRequest(request, protocols[name])
  const path = address.target({ operation: 'generate', model, stream }) ?? address.path
  const key = keyEnv === undefined ? undefined : `$${keyEnv}`
  const headers = { 'content-type': 'application/json', ...address.upstreamHeaders(key, undefined) }
  const shown = Object.entries(headers).map(
    ([header, value]) =>
      `-H ${value.includes('$') ? `"${header}: ${value}"` : shellWord(`${header}: ${value}`)}`,
  )
  const url = /^[\w:/.[\]-]+$/.test(root + path) ? root + path : shellWord(root + path)
  return `curl${stream ? ' -N' : ''} ${url} ${shown.join(' ')} -d ${shellWord(JSON.stringify(wire))}`
}
