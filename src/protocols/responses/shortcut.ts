import { addDelta } from '../../canonical/collect.ts'
import type { PartDelta } from '../../canonical/event.ts'
import type { Shortcut } from '../../protocol.ts'
import type { State as DecoderState } from './reading.ts'
import type { State as EncoderState, OpenPart } from './stream-state.ts'

export const shortcut: Shortcut = {
  text: new Set(['delta']),
  // The numbers are counted anew; the other hides how long a delta is.
  padding: new Set(['sequence_number', 'obfuscation']),
  read: (state, delta) => read(state as DecoderState, delta),
  write: (state, delta, literal) => write(state as EncoderState, delta, literal),
}

function read({ latest, ending }: DecoderState, { part, delta }: PartDelta): boolean {
  // An end that was held back is told first.
  if (!latest || latest.part !== part || latest.ended || ending.length > 0) return false
  addDelta(latest.value, delta)
  return true
}

function write(state: EncoderState, { candidate, part: key, delta }: PartDelta, literal: string): string | undefined {
  const part = state.parts[key]
  if (state.phase !== 'inside' || candidate !== 0 || state.options.rsSequential || part?.item === undefined) return undefined
  const { value, waiting } = part
  switch (delta.kind) {
    case 'text':
      if ((value.type !== 'text' && value.type !== 'refusal') || waiting.logprobs.length > 0) return undefined
      value.text += delta.text
      return value.type === 'text'
        ? frame(state, part, 'response.output_text.delta', `"content_index":${part.content},"delta":${literal},"logprobs":[]`)
        : frame(state, part, 'response.refusal.delta', `"content_index":${part.content},"delta":${literal}`)
    case 'input':
      if (value.type !== 'tool-call') return undefined
      value.input += delta.text
      return frame(
        state,
        part,
        value.kind === 'freeform' ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
        `"delta":${literal}`,
      )
    case 'reasoning': {
      const segment = value.type === 'reasoning' ? value.segments[delta.segment] : undefined
      if (value.type !== 'reasoning' || !segment || delta.segment !== part.segments - 1) return undefined
      segment.text += delta.text
      const { kind } = segment
      let place = 0
      for (let index = 0; index < delta.segment; index++) if (value.segments[index]?.kind === kind) place++
      return kind === 'summary'
        ? frame(state, part, 'response.reasoning_summary_text.delta', `"summary_index":${place},"delta":${literal}`)
        : frame(state, part, 'response.reasoning_text.delta', `"content_index":${place},"delta":${literal}`)
    }
    default:
      return undefined
  }
}

function frame(state: EncoderState, part: OpenPart, type: string, rest: string): string {
  return `event: ${type}\ndata: {"type":"${type}","sequence_number":${state.sequence++},${placeText(state, part)},${rest}}\n\n`
}

/** What every event about a part says of its place is written once. */
function placeText({ items }: EncoderState, part: OpenPart): string {
  const { item } = part
  const id = item === undefined ? undefined : items[item]?.wire['id']
  if (!part.written || part.written.id !== id || part.written.item !== item)
    part.written = { id, item, text: `${id === undefined ? '' : `"item_id":${JSON.stringify(id)},`}"output_index":${item}` }
  return part.written.text
}
