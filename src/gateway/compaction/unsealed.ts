import type { Message, Part } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { isObject } from '../../kit/json/json.ts'
import { type Seal, sealPrefix } from '../../stores/seal.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { reject } from '../error.ts'
import type { Identity } from '../hooks.ts'
import type { RequestContext } from '../request-context.ts'
import { editIn, mayHold } from './asked.ts'

export const heading = 'The conversation so far, as a summary:'

/** Whose compaction it is. */
export const ownerOf = ({ id, name }: Identity): string => id ?? name ?? ''

/**
 * The request with the summaries in place of what was sealed for this client.
 * @throws GatewayError 400 for a seal that cannot be opened
 */
export async function unsealed(
  seal: Seal,
  incoming: RequestContext,
  identity: Identity,
): Promise<RequestContext> {
  const { body } = incoming
  if (!mayHold(body, sealPrefix)) return incoming
  await body.parse?.()
  const texts = new Map<string, string>()
  for (const { parts } of decoded(incoming).messages)
    for (const part of parts) {
      const sealed = sealedIn(part)
      if (sealed === undefined) continue
      const text = await seal.open(sealed, ownerOf(identity))
      if (text === undefined)
        throw reject(400, 'invalid_request', 'a compaction was made for another client or key')
      texts.set(sealed, text)
    }
  if (texts.size === 0) return incoming
  return {
    ...incoming,
    body: changedRequest(incoming, value => ({
      ...value,
      messages: withoutCompacted(value).map(message => withTexts(message, texts)),
    })),
  }
}

/**
 * Clients with compactions inside of turns, and those that let them be made by size, send everything
 * before them again. Only the instructions among that still count. Other clients with items have
 * themselves left out what a compaction stands for.
 */
function withoutCompacted({ messages, state }: CanonicalRequest): Message[] {
  const isSealed = (part: Part) => sealedIn(part) !== undefined
  const bySize = editIn(state) !== undefined
  const last = messages.findLastIndex(
    ({ origin, parts }) => (bySize || origin !== 'item') && parts.some(isSealed),
  )
  const message = messages[last]
  if (!message) return messages
  const at = message.parts.findLastIndex(isSealed)
  const rest = message.parts.slice(at + 1)
  return [
    ...messages.slice(0, last).filter(isInstruction),
    { ...message, parts: message.parts.slice(at, at + 1) },
    ...(rest.length > 0 ? [{ ...message, parts: rest }] : []),
    ...messages.slice(last + 1),
  ]
}

export const isInstruction = ({ role }: Message): boolean =>
  role === 'system' || role === 'developer'

function sealedIn(part: Part): string | undefined {
  if (part.type !== 'control' || part.control !== 'compaction' || !isObject(part.raw))
    return undefined
  const { encrypted_content: sealed } = part.raw
  return typeof sealed === 'string' && sealed.startsWith(sealPrefix) ? sealed : undefined
}

function withTexts(message: Message, texts: ReadonlyMap<string, string>): Message {
  const [part] = message.parts.flatMap(one => sealedIn(one) ?? [])
  if (part === undefined) return message
  return said(`${heading}\n\n${texts.get(part) ?? ''}`)
}

export const said = (text: string): Message => ({
  role: 'user',
  origin: 'message',
  parts: [{ type: 'text', text }],
})
