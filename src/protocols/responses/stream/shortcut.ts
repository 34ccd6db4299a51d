import { addDelta } from '../../../canonical/collect.ts'
import type { PartDelta } from '../../../canonical/event.ts'
import { writeExact } from '../../../kit/json/digits.ts'
import { isObject, parseObject } from '../../../kit/json/json.ts'
import type { Frames, MachineState, Shortcut } from '../../../protocol.ts'
import { pingComment, writeFrame } from '../../../sse/write.ts'
import { failureOf, streamError } from '../errors.ts'
import { fallbacks, snapshot } from '../response/envelope.ts'
import type { DecoderState } from './decoder-state.ts'
import type { EncoderState, OpenPart, Written } from './encoder-state.ts'

const wrap = (json: string, wire: unknown) =>
  writeFrame(json, isObject(wire) && typeof wire['type'] === 'string' ? wire['type'] : undefined)

export const frames: Frames = {
  named: true,
  write: wire => (typeof wire === 'string' ? writeFrame(wire) : wrap(writeExact(wire), wire)),
  wrap,
  ping: pingComment,
  countAfter(data) {
    const { sequence_number: number } = parseObject(data) ?? {}
    return typeof number === 'number' ? number + 1 : undefined
  },
  failure(error, { count = 0, hasBegun = false, saysError = false, ...known } = {}) {
    const { id, ...head } = fallbacks()
    const envelope = {
      ...head,
      id: known.id ?? id,
      createdAt: known.createdAt ?? 0,
      model: known.model ?? 'unknown',
      native: false,
    }
    const response = snapshot(envelope, { status: 'in_progress', output: [] })
    const failed = snapshot(envelope, { status: 'failed', output: [], error: failureOf(error) })
    const events = [
      ...(hasBegun || saysError ? [] : [{ type: 'response.created', response }]),
      ...(saysError ? [] : [{ type: 'error', ...streamError(error) }]),
      // Some clients read no other event for the reason.
      { type: 'response.failed', response: failed },
    ]
    const written = events.map(({ type, ...event }, i) =>
      frames.write({ type, sequence_number: count + i, ...event }),
    )
    return written.join('') + frames.write('[DONE]')
  },
}

export const shortcut: Shortcut = {
  text: new Set(['delta']),
  // `sequence_number` is counted anew; `obfuscation` only hides the length of a delta.
  padding: new Set(['sequence_number', 'obfuscation']),
  read: (state, delta) => read(state as DecoderState, delta),
}

function read({ latest, ending }: DecoderState, { part, delta }: PartDelta): boolean {
  // The ends that are held back must be emitted first.
  if (!latest || latest.part !== part || latest.ended || ending.length > 0) return false
  addDelta(latest.value, delta)
  return true
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { part: key, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const part = state.parts[key]
  if (state.phase !== 'inside' || part?.item === undefined) return undefined
  const { value, waiting } = part
  switch (delta.kind) {
    case 'text':
      if ((value.type !== 'text' && value.type !== 'refusal') || waiting.logprobs.length > 0)
        return undefined
      value.text += delta.text
      return frame(
        state,
        around(state, part, value.type === 'text' ? ways.text : ways.refusal, part.content),
        literal,
      )
    case 'input':
      if (value.type !== 'tool-call') return undefined
      value.input += delta.text
      return frame(
        state,
        around(state, part, value.kind === 'freeform' ? ways.freeform : ways.input),
        literal,
      )
    case 'reasoning': {
      const segment = value.type === 'reasoning' ? value.segments[delta.segment] : undefined
      if (value.type !== 'reasoning' || !segment || delta.segment !== part.segments - 1)
        return undefined
      segment.text += delta.text
      return frame(
        state,
        around(state, part, ways[segment.kind], part.places[delta.segment]),
        literal,
      )
    }
    default:
      return undefined
  }
}

/** `index`: the key for the place within the item; `rest`: the JSON after the text. */
type Way = { type: string; index?: string; rest: string }

const ways = {
  text: { type: 'response.output_text.delta', index: 'content_index', rest: ',"logprobs":[]' },
  refusal: { type: 'response.refusal.delta', index: 'content_index', rest: '' },
  input: { type: 'response.function_call_arguments.delta', rest: '' },
  freeform: { type: 'response.custom_tool_call_input.delta', rest: '' },
  summary: { type: 'response.reasoning_summary_text.delta', index: 'summary_index', rest: '' },
  raw: { type: 'response.reasoning_text.delta', index: 'content_index', rest: '' },
} as const satisfies Record<string, Way>

const frame = (state: EncoderState, { before, between, behind }: Written, literal: string) =>
  `${before}${state.sequence++}${between}${literal}${behind}`

/**
 * The frame of a part's deltas around number and text, built once per part: built for each delta,
 * it was half of a stream's garbage.
 */
function around(
  { items }: EncoderState,
  part: OpenPart,
  { type, index, rest }: Way,
  place?: number,
): Written {
  const { item, written } = part
  const id = item === undefined ? undefined : items[item]?.wire['id']
  if (
    written?.type === type &&
    written.place === place &&
    written.id === id &&
    written.item === item
  )
    return written
  const within = index === undefined ? '' : `"${index}":${place},`
  part.written = {
    type,
    place,
    id,
    item,
    before: `event: ${type}\ndata: {"type":"${type}","sequence_number":`,
    between: `,${id === undefined ? '' : `"item_id":${JSON.stringify(id)},`}"output_index":${item},${within}"delta":`,
    behind: `${rest}}\n\n`,
  }
  return part.written
}
