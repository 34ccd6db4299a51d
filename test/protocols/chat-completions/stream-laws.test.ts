import fc, { type Arbitrary } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent, Delta } from '../../../src/canonical/event.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { FinishReason } from '../../../src/canonical/response.ts'
import { isObject } from '../../../src/kit/json/json.ts'
import { runs } from '../../support/runs.ts'
import { decodeStream, encodeStream } from './run.ts'

const text = fc.constantFrom('', 'a', 'b c', '\n', '🙂', '{"q":', '"x"}', '{}', '1', ' ')
const anything = fc.oneof(
  fc.constantFrom(null, '', 0, -1, 'text', true),
  fc.jsonValue({ maxDepth: 2 }),
)
const off = <T>(value: Arbitrary<T>) =>
  fc.oneof(
    { weight: 9, arbitrary: value as Arbitrary<unknown> },
    { weight: 1, arbitrary: anything },
  )

const callDelta = fc.record(
  {
    index: off(fc.constantFrom(0, 1, 2, 7)),
    id: off(fc.constantFrom('a', 'b', 'c', '')),
    type: off(fc.constantFrom('function', 'custom')),
    function: off(
      fc.record(
        { name: off(fc.constantFrom('f', 'g', '')), arguments: off(text) },
        { requiredKeys: [] },
      ),
    ),
    custom: off(
      fc.record({ name: off(fc.constant('sh')), input: off(text) }, { requiredKeys: [] }),
    ),
  },
  { requiredKeys: [] },
)
const detail = fc.record(
  {
    type: fc.constantFrom('reasoning.text', 'reasoning.summary', 'reasoning.encrypted'),
    text,
    summary: text,
    signature: text,
    data: text,
    index: fc.constantFrom(0, 1),
  },
  { requiredKeys: ['type'] },
)
const delta = fc.record(
  {
    role: off(fc.constant('assistant')),
    content: off(
      fc.oneof(
        text,
        fc.array(
          fc.record({
            type: fc.constantFrom('text', 'thinking', 'reference'),
            text,
            thinking: text,
          }),
          { maxLength: 2 },
        ),
      ),
    ),
    refusal: off(text),
    reasoning_content: off(text),
    reasoning: off(text),
    reasoning_details: off(fc.array(detail, { maxLength: 2 })),
    tool_calls: off(fc.array(callDelta, { maxLength: 2 })),
    function_call: off(fc.record({ name: text, arguments: text }, { requiredKeys: [] })),
    audio: off(fc.record({ id: text, data: text, transcript: text }, { requiredKeys: [] })),
    annotations: off(fc.array(anything, { maxLength: 1 })),
  },
  { requiredKeys: [] },
)
const choice = fc.record(
  {
    index: off(fc.constantFrom(0, 0, 0, 1)),
    delta: off(delta),
    finish_reason: off(fc.constantFrom(null, null, null, 'stop', 'tool_calls', '', 'odd')),
    logprobs: anything,
    message: anything,
  },
  { requiredKeys: ['delta'] },
)
const frame = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record(
      {
        id: off(fc.constantFrom('c1', '', 'c2')),
        model: off(fc.constant('m')),
        created: anything,
        choices: off(fc.array(choice, { maxLength: 2 })),
        usage: off(fc.constantFrom(null, { prompt_tokens: 1, completion_tokens: 2 })),
        x_new: anything,
      },
      { requiredKeys: ['choices'] },
    ),
  },
  { weight: 1, arbitrary: anything },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>('[DONE]', { error: { message: 'no' } }, { error: 'no' }),
  },
)

describe('the decoder', () => {
  test('yields a legal stream for any frames', () => {
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), frames => {
        const { events } = decodeStream(frames)
        expect(checkGrammar(events)).toEqual([])
        expect(faults(encodeStream(events).frames)).toEqual([])
      }),
      runs(500),
    )
  })
})

/** A tape of numbers → a legal stream that opens, feeds and closes parts in any order. */
function play(tape: readonly number[]): CanonicalEvent[] {
  const events: CanonicalEvent[] = [{ type: 'start', id: 'r1', model: 'm', createdAt: 1 }]
  const open: { part: number; head: Part }[] = []
  let next = 0
  events.push({ type: 'message.start', candidate: 0, message: 0, role: 'assistant' })
  for (const number of tape) {
    const pick = open[number % Math.max(1, open.length)]
    if (number % 3 === 0 || !pick) {
      const part = next++
      const head = heads(part)[number % 7] as Part
      events.push({ type: 'part.start', candidate: 0, message: 0, part, head })
      open.push({ part, head })
    } else if (number % 3 === 1)
      for (const delta of deltasFor(pick.head, number))
        events.push({ type: 'part.delta', candidate: 0, part: pick.part, delta })
    else {
      events.push({ type: 'part.end', candidate: 0, part: pick.part })
      open.splice(open.indexOf(pick), 1)
    }
  }
  for (const { part } of open) events.push({ type: 'part.end', candidate: 0, part })
  const reasons: FinishReason[] = ['stop', 'length', 'tool_calls', 'refusal', 'other']
  events.push(
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: reasons[tape.length % 5] as FinishReason } },
  )
  events.push({ type: 'usage', usage: { input: 3, output: 4 } }, { type: 'end', clean: true })
  return events
}

const heads = (part: number): Part[] => [
  { type: 'text', text: '' },
  { type: 'reasoning', segments: [] },
  { type: 'refusal', text: '' },
  { type: 'tool-call', id: `call_${part}`, name: 'f', kind: 'function', input: '' },
  { type: 'tool-call', id: `call_${part}`, name: 'sh', kind: 'freeform', input: '' },
  { type: 'tool-call', id: `call_${part}`, name: 'g', kind: 'function', input: '{"whole":1}' },
  {
    type: 'server-tool',
    phase: 'call',
    tool: 'web_search',
    id: 's',
    protocol: 'messages',
    raw: {},
  },
]

function deltasFor(head: Part, number: number): Delta[] {
  const chunks = ['{"a"', ':1', '}', '{"b":[2]}', 'x', ' ']
  const chunk = chunks[number % 6] as string
  if (head.type === 'text')
    return number % 5 === 0
      ? [
          {
            kind: 'citation',
            citation: { kind: 'url', url: 'https://example.org', protocol: 'x', raw: {} },
          },
        ]
      : [{ kind: 'text', text: chunk }]
  if (head.type === 'refusal') return [{ kind: 'text', text: chunk }]
  if (head.type === 'reasoning')
    return number % 4 === 0
      ? [{ kind: 'signature', signature: { value: 's', issuer: 'messages', form: 'thinking' } }]
      : [{ kind: 'reasoning', segment: number % 2, of: 'summary', text: chunk }]
  if (head.type === 'tool-call') return [{ kind: 'input', text: chunk }]
  return []
}

/** What breaks the rules that readers of chunks rely on. */
function faults(frames: readonly unknown[]): string[] {
  const found: string[] = []
  const ids = new Set<unknown>()
  const choices = new Map<
    unknown,
    { role: boolean; finished: boolean; calls: number; open: number }
  >()
  const last = frames.at(-1)
  const failed = isObject(last) && last['error'] !== undefined
  if (last !== '[DONE]' && !failed) found.push('neither [DONE] nor an error at the end')
  frames.forEach((frame, i) => {
    if (frame === '[DONE]') {
      if (i !== frames.length - 1) found.push('something follows [DONE]')
      return
    }
    if (!isObject(frame)) {
      found.push('a frame is no object')
      return
    }
    if (frame['error']) {
      if (i !== frames.length - 1) found.push('something follows an error')
      return
    }
    ids.add(frame['id'])
    if (
      !frame['id'] ||
      frame['object'] !== 'chat.completion.chunk' ||
      !Array.isArray(frame['choices'])
    ) {
      found.push('not a chunk')
      return
    }
    for (const choice of frame['choices'] as {
      index: number
      delta: Record<string, unknown>
      finish_reason: unknown
    }[]) {
      let known = choices.get(choice.index)
      if (!known) {
        if (choice.delta['role'] !== 'assistant') found.push('the first delta has no role')
        known = { role: true, finished: false, calls: 0, open: -1 }
        choices.set(choice.index, known)
      }
      if (known.finished) found.push('a delta after the finish')
      for (const call of (choice.delta['tool_calls'] ?? []) as {
        index: number
        id?: string
        type?: string
        function?: { name?: string; arguments?: string }
        custom?: { name?: string; input?: string }
      }[]) {
        if (call.id !== undefined) {
          if (call.index !== known.calls) found.push('calls are not counted densely')
          if (!call.type || !(call.function ?? call.custom)?.name)
            found.push('a head without type or name')
          known.calls++
          known.open = call.index
        } else if (call.index !== known.open) found.push('calls interleave')
      }
      if (choice.finish_reason) known.finished = true
    }
  })
  if (ids.size > 1) found.push('the id changes')
  if (last === '[DONE]')
    for (const { finished } of choices.values())
      if (!finished) found.push('a choice without finish reason')
  if (last === '[DONE]' && choices.size === 0) found.push('no choice at all')
  return found
}

/** Text and calls as a reader has them. */
function content(events: readonly CanonicalEvent[]) {
  const parts = collect(events).response.candidates.flatMap(({ messages }) =>
    messages.flatMap(message => message.parts),
  )
  return {
    text: parts.map(part => (part.type === 'text' ? part.text : '')).join(''),
    refusal: parts.map(part => (part.type === 'refusal' ? part.text : '')).join(''),
    calls: parts.flatMap(part =>
      part.type === 'tool-call' ? [[part.id, part.name, part.kind]] : [],
    ),
  }
}

describe('the encoder', () => {
  const tape = fc.array(fc.nat({ max: 1000 }), { maxLength: 30 })

  test('writes a legal stream of any legal events, in the order of the calls', () => {
    fc.assert(
      fc.property(tape, numbers => {
        const events = play(numbers)
        expect(checkGrammar(events)).toEqual([])
        const { frames } = encodeStream(events)
        expect(faults(frames)).toEqual([])
        const again = content(decodeStream(frames).events)
        const meant = content(events)
        expect(again.text).toBe(meant.text)
        expect(again.calls).toEqual(meant.calls)
      }),
      runs(500),
    )
  })

  test('a stream that is cut anywhere before its finish ends in an error, or in length on request', () => {
    fc.assert(
      fc.property(tape, fc.nat({ max: 100 }), (numbers, at) => {
        const whole = play(numbers)
        const cut = whole.slice(0, at % whole.findIndex(({ type }) => type === 'finish'))
        const { frames } = encodeStream(cut)
        expect(faults(frames)).toEqual([])
        expect(frames.at(-1)).toMatchObject({
          error: { message: 'upstream stream ended early', type: 'server_error' },
        })
        expect(JSON.stringify(frames)).not.toMatch(/"finish_reason":"/)
        const asLength = encodeStream(cut, { truncated: 'length' }).frames
        expect(faults(asLength)).toEqual([])
      }),
      runs(300),
    )
  })
})
