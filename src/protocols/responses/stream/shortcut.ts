import { addDelta } from '../../../canonical/collect.ts'
import type { PartDelta } from '../../../canonical/event.ts'
import type { MachineState, Shortcut } from '../../../protocol.ts'
import type { DecoderState } from './decoder-state.ts'
import type { EncoderState, OpenPart, Written } from './encoder-state.ts'

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
