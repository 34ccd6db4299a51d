import type { Part, ReasoningPart, ReasoningSegment, Signature } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { type Envelope, wrapSignatureInBase64 } from '../../kit/envelope.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, parseJson } from '../../kit/json.ts'
import { cutIn } from '../../kit/text.ts'
import { protocolName } from './own.ts'
import type { GeminiPart } from './schema.ts'

/**
 * Clients that forget thoughts still keep the signatures of calls. For them the signature of a call carries what was thought
 * before it, as a list of `[units of text between the call before and it, thought]`.
 */

/** What was said and thought since the last call. Plain data, which streams keep. */
export type Gathered = { units: number; thoughts: [after: number, thought: JsonObject][] }

export const nothingGathered = (): Gathered => ({ units: 0, thoughts: [] })

/** Marks the envelope. */
const attach = 'thoughts'

/** A call takes along what was gathered before it; all else is gathered. Changes both. */
export function carryThoughts(gathered: Gathered, part: Part, written: readonly GeminiPart[]): void {
  if (part.type === 'reasoning') {
    const { segments, redacted, signature, id } = part
    gathered.thoughts.push([gathered.units, defined({ segments, redacted, signature, id })])
    return
  }
  const [call] = written
  if (part.type !== 'tool-call' || !call) {
    for (const { text, thought } of written) if (typeof text === 'string' && thought !== true) gathered.units += text.length
    return
  }
  const { thoughts } = gathered
  if (thoughts.length > 0) {
    const value = JSON.stringify(defined({ thoughts, own: call.thoughtSignature ?? undefined }))
    call.thoughtSignature = wrapSignatureInBase64({ signature: { value, issuer: protocolName }, attach })
  }
  Object.assign(gathered, nothingGathered())
}

/** Of what is wrapped in a call's signature: what it carries, and the call's own. Undefined: it carries nothing. */
export function carriedBy(envelope: Envelope | undefined): { thoughts: Gathered['thoughts']; own?: string } | undefined {
  if (envelope?.attach !== attach) return undefined
  const { thoughts, own } = asObject(parseJson(envelope.signature.value))
  const isCarried = (one: unknown): one is [number, JsonObject] => Array.isArray(one) && typeof one[0] === 'number' && isObject(one[1])
  return { thoughts: Array.isArray(thoughts) ? thoughts.filter(isCarried) : [], ...defined({ own: asText(own) }) }
}

/**
 * Puts what a call carries back where it stood, in place of whatever the client kept of it. `before`: the parts of the same
 * answer in front of the call, which are changed.
 */
export function giveBack(thoughts: Gathered['thoughts'], before: Part[], at: string): void {
  const from = before.findLastIndex(({ type }) => type === 'tool-call') + 1
  const said = before.slice(from).filter(({ type }) => type !== 'reasoning')
  before.length = from
  let units = 0
  let next = 0
  for (const [after, thought] of thoughts) {
    let part = said[next]
    while (part && units < after && units + lengthOf(part) <= after) {
      units += lengthOf(part)
      before.push(part)
      part = said[++next]
    }
    // Clients join texts that nothing divides any longer.
    const cut = part?.type === 'text' ? cutIn(part.text, after - units) : 0
    if (part?.type === 'text' && cut > 0) {
      // Its proof, which is of the whole, stays with its end.
      const { signature: _, ext: __, ...head } = part
      before.push({ ...head, text: part.text.slice(0, cut) })
      said[next] = { ...part, text: part.text.slice(cut) }
      units += cut
    }
    const again = readThought(thought, at)
    if (!isTold(again, before)) before.push(again)
  }
  for (const part of said.slice(next)) before.push(part)
}

/** A proof is of one thought: some clients put what one call carries on others of the same answer, too. */
function isTold({ signature }: ReasoningPart, before: readonly Part[]): boolean {
  return signature !== undefined && signature.value !== '' && before.some(part => part.type === 'reasoning' && part.signature?.value === signature.value)
}

const lengthOf = (part: Part) => (part.type === 'text' ? part.text.length : 0)

function readThought({ segments, redacted, signature, id }: JsonObject, at: string): ReasoningPart {
  const told = flatMap(Array.isArray(segments) ? segments : [], (one: unknown): ReasoningSegment[] => {
    const { kind, text } = asObject(one)
    return typeof text === 'string' ? [{ kind: kind === 'raw' ? 'raw' : 'summary', text }] : []
  })
  return { type: 'reasoning', segments: told, ...(redacted === true && { redacted }), ...defined({ signature: readSignature(signature), id: asText(id) }), at }
}

function readSignature(told: unknown): Signature | undefined {
  const { value, issuer, model, form: made } = asObject(told)
  if (typeof value !== 'string' || typeof issuer !== 'string') return undefined
  return { value, issuer, ...defined({ model: asText(model), form: asText(made) as Signature['form'] }) }
}

const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

const asText = (value: unknown) => (typeof value === 'string' ? value : undefined)
