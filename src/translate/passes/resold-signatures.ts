import type { Message, Part, ReasoningPart, Signature } from '../../canonical/message.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import type { ProtocolFacts } from '../../protocol.ts'

/** Signatures of the target that a reseller has passed on, as the target's own. */
export function ownResoldSignatures(
  messages: Message[],
  { resold }: Pick<ProtocolFacts, 'resold'>,
): Message[] {
  if (!resold) return messages
  const isResold = ({ signature }: Part) => signature?.issuer.split('/')[1] === resold.format
  if (!messages.some(({ parts }) => parts.some(isResold))) return messages
  const own = (signature: Signature): Signature => ({
    ...signature,
    issuer: resold.issuer,
    ...(signature.form === 'encrypted' && { form: resold.form }),
  })
  return messages.map(message =>
    message.parts.some(isResold)
      ? { ...message, parts: withOwn(message.parts, isResold, own) }
      : message,
  )
}

function withOwn(
  parts: readonly Part[],
  isResold: (part: Part) => boolean,
  own: (signature: Signature) => Signature,
): Part[] {
  const ofCalls = new Map<Part, Signature>()
  const signed = flatMap(parts, (part): Part | Part[] => {
    if (!isResold(part) || !part.signature) return part
    const signature = own(part.signature)
    const isEncrypted = part.type === 'reasoning' && part.signature.form === 'encrypted'
    const call = isEncrypted ? callOf(part, parts) : undefined
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
