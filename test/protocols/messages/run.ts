import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { CodecOptions } from '../../../src/protocol.ts'
import { type MessagesOptions, messages } from '../../../src/protocols/messages/index.ts'
import { createFrameParser } from '../../../src/sse/parse.ts'
import { normalize } from '../../../src/testing/streams.ts'

type Options = CodecOptions & MessagesOptions

/** Wire events → canonical events; the state is cloned between any two of them. */
export function decodeStream(wires: readonly unknown[]): CanonicalEvent[] {
  const events: CanonicalEvent[] = []
  let state = messages.streamDecoder.initial()
  for (const wire of wires) {
    messages.streamDecoder.step(state, wire, event => events.push(event))
    state = structuredClone(state)
  }
  messages.streamDecoder.end(state, event => events.push(event))
  return events
}

/** Canonical events → wire events and notes; the state is cloned between any two of them. */
export function encodeStream(events: readonly CanonicalEvent[], options?: Options) {
  const wires: Record<string, unknown>[] = []
  const emit = (wire: unknown) => wires.push(structuredClone(wire) as Record<string, unknown>)
  let state = messages.streamEncoder.initial(options)
  const normalized = normalize(messages, events, options)
  for (const event of normalized.events) {
    messages.streamEncoder.step(state, event, emit)
    state = structuredClone(state)
  }
  messages.streamEncoder.end(state, emit)
  return { wires, notes: [...normalized.notes, ...state.notes] }
}

/** Text of an event stream → its wire events. */
export function readFrames(text: string): unknown[] {
  const wires: unknown[] = []
  const parser = createFrameParser(({ event, data }) => {
    if (data.trim() === '[DONE]') return
    const wire = JSON.parse(data) as Record<string, unknown>
    wires.push(event !== undefined && !('type' in wire) ? { type: event, ...wire } : wire)
  })
  parser.push(text)
  parser.end()
  return wires
}

/** What a sequence of wire events breaks of the stream's grammar, one sentence each. */
export function checkWire(wires: readonly Record<string, unknown>[]): string[] {
  const faults: string[] = []
  let open: { index: number; tool: boolean; json: string } | undefined
  let next = 0
  let phase: 'before' | 'inside' | 'delta' | 'stopped' | 'error' = 'before'
  let limited = false
  for (const wire of wires) {
    const { type, index } = wire as { type: string; index?: number }
    const fault = (what: string) => faults.push(`${type}: ${what}`)
    if (phase === 'stopped' || phase === 'error') fault('nothing follows the end')
    if (type === 'ping') continue
    if (type === 'error') {
      phase = 'error'
      continue
    }
    if (type === 'message_start') {
      if (phase !== 'before') fault('comes once')
      phase = 'inside'
    } else if (phase === 'before') fault('comes before the start')
    else if (type === 'content_block_start') {
      if (open) fault('another block is open')
      if (index !== next) fault(`expected index ${next}`)
      next++
      const block = wire['content_block'] as { type: string }
      open = { index: index ?? -1, tool: block.type === 'tool_use', json: '' }
    } else if (type === 'content_block_delta') {
      if (open?.index !== index) fault('its block is not open')
      const delta = wire['delta'] as { partial_json?: string }
      if (open) open.json += delta.partial_json ?? ''
    } else if (type === 'content_block_stop') {
      if (open?.index !== index) fault('its block is not open')
      if (open?.tool && open.json) {
        try {
          JSON.parse(open.json)
        } catch {
          fault('a call was closed before its input was whole')
        }
      }
      open = undefined
    } else if (type === 'message_delta') {
      limited = (wire['delta'] as { stop_reason?: string }).stop_reason === 'max_tokens'
      if (open && !(open.tool && limited)) fault('a block is still open')
      if (!wire['usage']) fault('without usage')
      phase = 'delta'
    } else if (type === 'message_stop') {
      if (phase !== 'delta') fault('without message_delta')
      phase = 'stopped'
    }
  }
  if (phase !== 'stopped' && phase !== 'error') faults.push('the stream has no end')
  return faults
}
