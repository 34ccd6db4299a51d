import type { PartDelta } from '../../../canonical/event.ts'
import { advanceJson } from '../../../kit/json/json.ts'
import type { MachineState, Shortcut } from '../../../protocol.ts'
import type { DecoderState } from './decoder.ts'
import type { EncoderState } from './encoder-state.ts'

export const shortcut: Shortcut = {
  text: new Set(['text', 'thinking', 'partial_json']),
  padding: new Set(),
  read: (state, delta) => read(state as DecoderState, delta),
}

function read(state: DecoderState, { part, delta }: PartDelta): boolean {
  let block = state.latest === undefined ? undefined : state.open[state.latest]
  // Nearly always it is the same block as before.
  if (block?.part !== part) {
    const found = Object.entries(state.open).find(([, one]) => one.part === part)
    if (!found) return false
    ;[state.latest, block] = found
  }
  if (delta.kind === 'reasoning') block.thinking += delta.text
  return (
    delta.kind === 'text' ||
    delta.kind === 'reasoning' ||
    (delta.kind === 'input' && block.json !== '')
  )
}

/** See `ClientHalf`. */
export function writeDelta(
  state: MachineState,
  { part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const { phase, open: block } = state as EncoderState
  if (phase !== 'begun' || block?.index === undefined || block.key !== String(part))
    return undefined
  switch (delta.kind) {
    case 'text':
      if (block.kind !== 'text') return undefined
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"text_delta","text":', literal)
    case 'reasoning': {
      const segment = block.segments[delta.segment]
      if (block.kind !== 'reasoning' || !segment) return undefined
      segment.length += delta.text.length
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"thinking_delta","thinking":', literal)
    }
    case 'input': {
      if (block.kind !== 'call' || !block.streams || block.progress.whole) return undefined
      const progress = { ...block.progress }
      // Text after the end of the arguments is not written.
      if (advanceJson(progress, delta.text) < delta.text.length) return undefined
      block.progress = progress
      block.text += delta.text
      return frame(block.index, ',"delta":{"type":"input_json_delta","partial_json":', literal)
    }
    default:
      return undefined
  }
}

const frame = (index: number, before: string, literal: string) =>
  `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index}${before}${literal}}}\n\n`
