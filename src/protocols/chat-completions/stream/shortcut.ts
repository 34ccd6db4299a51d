import { addDelta } from '../../../canonical/collect.ts'
import type { PartDelta } from '../../../canonical/event.ts'
import { advanceJson } from '../../../kit/json/json.ts'
import type { MachineState, Shortcut } from '../../../protocol.ts'
import { textField } from '../content/carriers.ts'
import { count, type DecoderState } from './decoder-state.ts'
import type { Choice, EncoderState, PartOut } from './encoder-state.ts'

export const shortcut: Shortcut = {
  text: new Set([
    'content',
    'reasoning_content',
    'reasoning',
    'refusal',
    'arguments',
    'input',
    'text',
  ]),
  // Some servers send a new `created` in each chunk; `obfuscation` is padding that hides the length
  // of a delta.
  padding: new Set(['created', 'obfuscation']),
  read: (state, delta) => read(state as DecoderState, delta),
}

function read({ choices }: DecoderState, { candidate, part, delta }: PartDelta): boolean {
  const choice = choices.get(candidate)
  if (!choice || choice.tags) return false
  const { open } = choice
  switch (delta.kind) {
    case 'text':
      if (open?.part !== part || choice.logprobs.text.length + choice.logprobs.refusal.length > 0)
        return false
      if (open.kind !== 'reasoning') count(choice, part, { kind: open.kind, text: delta.text })
      return true
    case 'reasoning':
      if (open?.part !== part || !open.thought) return false
      addDelta(open.thought, delta)
      return true
    case 'input': {
      const call = choice.byPart.get(part)
      // After complete arguments, the next delta may belong to another call.
      if (!call || call.json.whole) return false
      advanceJson(call.json, delta.text)
      return true
    }
    default:
      return false
  }
}

/** See `ClientHalf`. */
export function writeDelta(
  given: MachineState,
  { candidate, part, delta }: PartDelta,
  literal: string,
): string | undefined {
  const state = given as EncoderState
  const choice = state.choices.get(candidate)
  const out = choice?.parts.get(part)
  if (state.phase !== 'inside' || !choice?.begun || choice.finished || !out) return undefined
  for (const _ in state.fields) return undefined
  const field = fieldOf(state, choice, { out, delta, literal })
  if (field === undefined) return undefined
  const rest = state.writeUsage
    ? '},"finish_reason":null}],"usage":null}\n\n'
    : '},"finish_reason":null}]}\n\n'
  return `${headText(state)}${choice.index},"delta":{${field}${rest}`
}

type Given = { out: PartOut; delta: PartDelta['delta']; literal: string }

function fieldOf(
  { settings, single }: EncoderState,
  choice: Choice,
  { out, delta, literal }: Given,
): string | undefined {
  if (out.kind === 'text' || out.kind === 'refusal') {
    if (delta.kind !== 'text') return undefined
    out.text += delta.text
    choice.shown = true
    choice.reasoned = false
    return out.kind === 'text' ? `"content":${literal}` : `"refusal":${literal}`
  }
  if (out.kind === 'reasoning') {
    if (delta.kind !== 'reasoning' || settings.reasoningField === 'details') return undefined
    if (!out.part.segments[delta.segment]?.text) return undefined
    addDelta(out.part, delta)
    choice.reasoned = true
    return `"${textField(settings)}":${literal}`
  }
  if (out.kind !== 'call' || delta.kind !== 'input' || choice.open !== out || single)
    return undefined
  out.input += delta.text
  out.sent = true
  choice.reasoned = false
  const inner =
    out.head.kind === 'function'
      ? `"function":{"arguments":${literal}}`
      : `"custom":{"input":${literal}}`
  return `"tool_calls":[{"index":${out.index},${inner}}]`
}

/** The text that every chunk begins with, cached in the state. */
function headText(state: EncoderState): string {
  if (state.written?.head !== state.head)
    state.written = {
      head: state.head,
      text: `data: ${JSON.stringify(state.head).slice(0, -1)},"choices":[{"index":`,
    }
  return state.written.text
}
