import type {
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
} from '../../../canonical/message.ts'
import { proofOf } from '../../../kit/conversation/turns.ts'
import { omitUndefined } from '../../../kit/fields/omit.ts'
import { isObject, type JsonObject, parseJson } from '../../../kit/json/json.ts'
import { type Envelope, wrapSignatureInBase64 } from '../../../kit/signatures/envelope.ts'
import { flatMap } from '../../../kit/text/flat-map.ts'
import { cutIn } from '../../../kit/text/text.ts'
import { protocolName } from '../own.ts'
import type { GenerateContentWrittenPart } from '../schema.ts'

/**
 * Some clients drop reasoning but keep the signatures of calls. For them the signature of a call
 * carries the reasoning before it, as a list of `[after, thought]`. `after`: the length of the text
 * between the previous call and the thought, in UTF-16 units.
 */

/**
 * The text length in UTF-16 units and the reasoning since the last call. Plain data, because
 * streams keep it in their state.
 */
export type Gathered = { units: number; reasoning: [after: number, thought: JsonObject][] }

export const nothingGathered = (): Gathered => ({ units: 0, reasoning: [] })

/** `attach` of an envelope that carries reasoning. */
const attach = 'reasoning'

/**
 * Puts the gathered reasoning into the signature of a call; gathers any other part. Changes
 * `gathered` and `written`.
 */
export function carryReasoning(
  gathered: Gathered,
  part: Part,
  written: readonly GenerateContentWrittenPart[],
): void {
  if (part.type === 'reasoning') {
    const { segments, redacted, signature, id } = part
    gathered.reasoning.push([gathered.units, omitUndefined({ segments, redacted, signature, id })])
    return
  }
  const [call] = written
  if (part.type !== 'tool-call' || !call) {
    for (const { text, thought } of written)
      if (typeof text === 'string' && thought !== true) gathered.units += text.length
    return
  }
  const { reasoning } = gathered
  if (reasoning.length > 0) {
    const value = JSON.stringify(
      omitUndefined({ reasoning, own: call.thoughtSignature ?? undefined }),
    )
    call.thoughtSignature = wrapSignatureInBase64({
      signature: { value, issuer: protocolName },
      attach,
    })
  }
  Object.assign(gathered, nothingGathered())
}

/**
 * The reasoning that the signature of a call carries, and the call's own signature (`own`).
 * Undefined: it carries none.
 */
export function carriedBy(
  envelope: Envelope | undefined,
): { reasoning: Gathered['reasoning']; own?: string } | undefined {
  if (envelope?.attach !== attach) return undefined
  const { reasoning, own } = asObject(parseJson(envelope.signature.value))
  const isCarried = (one: unknown): one is [number, JsonObject] =>
    Array.isArray(one) && typeof one[0] === 'number' && isObject(one[1])
  return {
    reasoning: Array.isArray(reasoning) ? reasoning.filter(isCarried) : [],
    ...omitUndefined({ own: asText(own) }),
  }
}

/**
 * Puts the carried reasoning of a call back at its positions, replacing what the client kept.
 * `before`: the parts of the same response before the call; changed.
 */
export function restoreReasoning(carried: Gathered['reasoning'], before: Part[], at: Place): void {
  const from = before.findLastIndex(({ type }) => type === 'tool-call') + 1
  const content = before.slice(from).filter(({ type }) => type !== 'reasoning')
  before.length = from
  let units = 0
  let next = 0
  for (const [after, thought] of carried) {
    let part = content[next]
    while (part && units < after && units + lengthOf(part) <= after) {
      units += lengthOf(part)
      before.push(part)
      part = content[++next]
    }
    // Without the thought between them, clients join two texts into one.
    const cut = part?.type === 'text' ? cutIn(part.text, after - units) : 0
    if (part?.type === 'text' && cut > 0) {
      // The signature is for the whole text, so it stays on the last chunk.
      const { signature: _, ext: __, ...head } = part
      before.push({ ...head, text: part.text.slice(0, cut) })
      content[next] = { ...part, text: part.text.slice(cut) }
      units += cut
    }
    const again = readThought(thought, at)
    if (!isRepeatedThought(again, before)) before.push(again)
  }
  for (const part of content.slice(next)) before.push(part)
}

/** Clients copy a thought to the calls of one response, which has fewer parts than these. */
const farthest = 1000

function isRepeatedThought(thought: ReasoningPart, parts: readonly Part[]): boolean {
  const proof = proofOf(thought)
  if (proof === undefined) return false
  for (let i = parts.length - 1; i >= Math.max(0, parts.length - farthest); i--)
    if (proofOf(parts[i] as Part) === proof) return true
  return false
}

const lengthOf = (part: Part) => (part.type === 'text' ? part.text.length : 0)

function readThought({ segments, redacted, signature, id }: JsonObject, at: Place): ReasoningPart {
  const valid = flatMap(
    Array.isArray(segments) ? segments : [],
    (one: unknown): ReasoningSegment[] => {
      const { kind, text } = asObject(one)
      return typeof text === 'string' ? [{ kind: kind === 'raw' ? 'raw' : 'summary', text }] : []
    },
  )
  return {
    type: 'reasoning',
    segments: valid,
    ...(redacted === true && { redacted }),
    ...omitUndefined({ signature: readSignature(signature), id: asText(id) }),
    at,
  }
}

function readSignature(encoded: unknown): Signature | undefined {
  const { value, issuer, model, form: made } = asObject(encoded)
  if (typeof value !== 'string' || typeof issuer !== 'string') return undefined
  return {
    value,
    issuer,
    ...omitUndefined({ model: asText(model), form: asText(made) as Signature['form'] }),
  }
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
