import type { ControlPart, Part } from '../../canonical/message.ts'
import type { CanonicalRequest, StateSpec } from '../../canonical/request.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { isObject } from '../../kit/json/json.ts'
import type { ReadBody } from '../body/body.ts'
import { mayHoldAny } from '../body/bytes.ts'
import { decoded } from '../body/changed-request.ts'
import type { RequestContext } from '../request-context.ts'

/**
 * A compaction that a request asks for. `alone`: the response is nothing else. `form`: an item of
 * its own, or a block of a turn. `atTokens`: it is made only from this size on.
 */
export type Asked = {
  form: 'item' | 'block'
  alone: boolean
  instructions?: string
  atTokens?: number
}

/** From this size on, if the request does not say. */
const standardTokens = 150_000

/** Undefined: it asks for none, or providers of its protocol make it. */
export async function compactionAsked(incoming: RequestContext): Promise<Asked | undefined> {
  const { protocol, body, candidates } = incoming
  if (!words.some(word => mayHold(body, word))) return undefined
  if (candidates[0]?.protocol === protocol && !candidates[0].channel.embedded) return undefined
  await body.parse?.()
  const { messages, state } = decoded(incoming)
  if (messages.some(({ parts }) => parts.some(isTrigger))) return { form: 'item', alone: true }
  if (isObject(state?.compaction)) {
    const { instructions } = state.compaction
    return { form: 'block', alone: true, ...told(instructions) }
  }
  return editIn(state)
}

const words = ['"compaction_trigger"', '"compaction"', '"compact_']

const told = (instructions: unknown) =>
  typeof instructions === 'string' && instructions !== '' ? { instructions } : {}

/** A compaction that is made when the conversation is long, before it is answered. */
export function editIn(state: StateSpec | undefined): Asked | undefined {
  const { list, form } = editsIn(state)
  for (const edit of list) {
    if (!isCompaction(edit)) continue
    const { instructions, pause_after_compaction: pauses, trigger, compact_threshold: most } = edit
    const tokens = isObject(trigger) ? trigger['value'] : most
    return {
      form,
      alone: pauses === true,
      atTokens: typeof tokens === 'number' ? tokens : standardTokens,
      ...told(instructions),
    }
  }
  return undefined
}

function editsIn(state: StateSpec | undefined): { list: unknown[]; form: Asked['form'] } {
  const { contextManagement: wanted } = state ?? {}
  if (Array.isArray(wanted)) return { list: wanted, form: 'item' }
  const { edits } = isObject(wanted) ? wanted : {}
  return { list: Array.isArray(edits) ? edits : [], form: 'block' }
}

const isCompaction = (edit: unknown): edit is Record<string, unknown> =>
  isObject(edit) && String(edit['type']).startsWith('compact')

/** The request without what asks for a compaction. */
export function withoutAsking(request: CanonicalRequest): CanonicalRequest {
  const { state, ...rest } = request
  if (!state) return request
  const { compaction: _, contextManagement, ...others } = state
  const list = editsIn(state).list.filter(edit => !isCompaction(edit))
  const left = Array.isArray(contextManagement) ? list : { edits: list }
  const kept = omitUndefined({
    ...others,
    contextManagement: list.length > 0 ? (left as typeof contextManagement) : undefined,
  })
  return Object.keys(kept).length > 0 ? { ...rest, state: kept as StateSpec } : rest
}

export const isTrigger = (part: Part): part is ControlPart =>
  part.type === 'control' && part.control === 'compaction-trigger'

/** Not by destructuring: the value of a long body is parsed when it is read. */
export function mayHold(body: ReadBody, word: string): boolean {
  return body.bytes
    ? mayHoldAny(body.bytes, [word])
    : (JSON.stringify(body.value) ?? '').includes(word)
}
