import type { Part, ReasoningPart, ReasoningSegment, Signature } from '../../canonical/message.ts'
import { defined } from '../../kit/defined.ts'
import { isEnvelope, unwrapSignature, wrapSignatureInBase64 } from '../../kit/envelope.ts'
import { flatMap } from '../../kit/flat-map.ts'
import { isObject, type JsonObject, parseJson } from '../../kit/json.ts'
import type { GeminiPart } from './schema.ts'
import { name } from './vocabulary.ts'

/**
 * Clients that forget thoughts still keep the signatures of calls. For them the signature of a call carries what was thought
 * before it, as a list of `[units of text between the call before and it, thought]`.
 */

/** What was said and thought since the last call. Plain data, which streams keep. */
export type Gathered = { units: number; thoughts: [after: number, thought: JsonObject][] }

export const nothingGathered = (): Gathered => ({ units: 0, thoughts: [] })

/** Marks the envelope; no signature of any provider has this form. */
const form = 'thoughts'

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
    call.thoughtSignature = wrapSignatureInBase64({ signature: { value, issuer: name, form: form as NonNullable<Signature['form']> } })
  }
  Object.assign(gathered, nothingGathered())
}

/** Of a call's signature: what it carries, and the call's own. Undefined: it carries nothing. */
export function carriedBy(thoughtSignature: unknown): { thoughts: Gathered['thoughts']; own?: string } | undefined {
  if (typeof thoughtSignature !== 'string' || !isEnvelope(thoughtSignature)) return undefined
  const signature = unwrapSignature(thoughtSignature)?.signature
  if ((signature?.form as string | undefined) !== form) return undefined
  const { thoughts, own } = asObject(parseJson(signature?.value ?? ''))
  const isCarried = (one: unknown): one is [number, JsonObject] => Array.isArray(one) && typeof one[0] === 'number' && isObject(one[1])
  return { thoughts: Array.isArray(thoughts) ? thoughts.filter(isCarried) : [], ...defined({ own: asText(own) }) }
}

/**
 * Puts what a call carries back where it stood, in place of whatever the client kept of it. `before`: the parts of the same
 * answer in front of the call, which are changed.
 */
export function giveBack(thoughts: Gathered['thoughts'], before: Part[], at: string): void {
  const from = before.findLastIndex(({ type }) => type === 'tool-call') + 1
  const said = before.splice(from).filter(({ type }) => type !== 'reasoning')
  let units = 0
  for (const [after, thought] of thoughts) {
    while (said[0] && units < after && units + lengthOf(said[0]) <= after) {
      units += lengthOf(said[0])
      before.push(...said.splice(0, 1))
    }
    units += divide(said, before, after - units)
    before.push(readThought(thought, at))
  }
  before.push(...said)
}

const lengthOf = (part: Part) => (part.type === 'text' ? part.text.length : 0)

/** Clients join texts that nothing divides any longer. Gives the units that were moved to what stands before. */
function divide(said: Part[], before: Part[], units: number): number {
  const [text] = said
  if (text?.type !== 'text' || units <= 0 || units >= text.text.length) return 0
  before.push({ ...text, text: text.text.slice(0, units) })
  said[0] = { ...text, text: text.text.slice(units) }
  return units
}

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
