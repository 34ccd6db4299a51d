import type { Message, Part, ReasoningPart, Signature } from '../../canonical/message.ts'
import { flatMap } from '../../kit/text/flat-map.ts'

/**
 * Who signs the reasoning that resellers pass on, by the `format` in the issuer, and the form that a
 * signature without text has there.
 * Source: https://openrouter.ai/docs/use-cases/reasoning-tokens, November 2026.
 */
const makers: ReadonlyMap<string, { issuer: string; form: NonNullable<Signature['form']> }> =
  new Map([
    ['anthropic-claude-v1', { issuer: 'messages', form: 'redacted' }],
    ['google-gemini-v1', { issuer: 'generate-content', form: 'thought' }],
  ])

/**
 * Signatures that a reseller has passed on, as those of the maker of the model. The target that is
 * the reseller's own protocol gets them as they came.
 */
export function signedByMakers(messages: Message[], protocol: string): Message[] {
  const isResold = ({ signature }: Part) => makerOf(signature, protocol) !== undefined
  if (!messages.some(({ parts }) => parts.some(isResold))) return messages
  return messages.map(message =>
    message.parts.some(isResold)
      ? { ...message, parts: withMakers(message.parts, protocol) }
      : message,
  )
}

function makerOf(signature: Signature | undefined, protocol: string) {
  const [reseller, format] = signature?.issuer.split('/') ?? []
  return format === undefined || reseller === protocol ? undefined : makers.get(format)
}

function withMakers(parts: readonly Part[], protocol: string): Part[] {
  const ofCalls = new Map<Part, Signature>()
  const signed = flatMap(parts, (part): Part | Part[] => {
    const maker = makerOf(part.signature, protocol)
    if (!maker || !part.signature) return part
    const { form } = part.signature
    const signature: Signature = {
      ...part.signature,
      issuer: maker.issuer,
      ...(form === 'encrypted' && { form: maker.form }),
    }
    const call = part.type === 'reasoning' && form === 'encrypted' ? callOf(part, parts) : undefined
    if (!call) return { ...part, signature }
    ofCalls.set(call, signature)
    const { signature: _, id: __, redacted: ___, ...rest } = part as ReasoningPart
    return rest.segments.length > 0 ? rest : []
  })
  return signed.map(part => {
    const signature = ofCalls.get(part)
    return signature ? { ...part, signature } : part
  })
}

/** The call that an encrypted entry names, because the signature is that of the call. */
const callOf = ({ id }: ReasoningPart, parts: readonly Part[]): Part | undefined =>
  id === undefined
    ? undefined
    : parts.find(part => part.type === 'tool-call' && part.id === id && !part.signature)
