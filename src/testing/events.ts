import fc, { type Arbitrary } from 'fast-check'
import type { CanonicalEvent, Delta } from '../canonical/event.ts'
import { takeApart } from '../canonical/explode.ts'
import type { Citation, Part } from '../canonical/message.ts'
import type { Finish, FinishReason } from '../canonical/response.ts'

const word = fc.constantFrom('Hello', ' world', '🙂', '\n\n', 'a"b\\c', '<b>', ' ', 'ü')
const textual = fc.array(word, { maxLength: 4 }).map(words => words.join(''))
const inputs = fc.constantFrom(
  '{"q":"x"}',
  '{}',
  '',
  '{"a":{"b":[1,2,"}"]}}',
  '{"city":"Zürich 🙂"}',
  ' {"x": 1} ',
)

const cited = (page: string, end: number | undefined): Citation => ({
  kind: 'url',
  url: `https://example.org/${page}`,
  title: page,
  ...(end !== undefined && { start: 0, end }),
  protocol: 'elsewhere',
  raw: {},
})

const part: Arbitrary<Part> = fc.oneof(
  { weight: 4, arbitrary: textual.map((text): Part => ({ type: 'text', text })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        textual.map(text => text || 'so'),
        fc.uniqueArray(fc.tuple(fc.constantFrom('a', 'b'), fc.boolean()), {
          minLength: 1,
          maxLength: 2,
          selector: ([page]) => page,
        }),
      )
      .map(
        ([text, pages]): Part => ({
          type: 'text',
          text,
          citations: pages.map(([page, placed]) =>
            cited(page, placed ? [...text].length : undefined),
          ),
        }),
      ),
  },
  {
    weight: 4,
    arbitrary: fc
      .tuple(fc.constantFrom('lookup', 'run'), inputs)
      .map(([name, input]): Part => ({ type: 'tool-call', id: '', name, kind: 'function', input })),
  },
  {
    weight: 1,
    arbitrary: textual.map(
      (input): Part => ({ type: 'tool-call', id: '', name: 'shell', kind: 'freeform', input }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom('summary' as const, 'raw' as const), textual), {
          maxLength: 2,
        }),
        fc.constantFrom(undefined, 'elsewhere', 'c2ln'),
      )
      .map(
        ([segments, signature]): Part => ({
          type: 'reasoning',
          segments: segments.map(([kind, text]) => ({ kind, text })),
          ...(signature && { signature: { value: signature, issuer: 'elsewhere' } }),
        }),
      ),
  },
  { weight: 1, arbitrary: textual.map((text): Part => ({ type: 'refusal', text: text || 'no' })) },
  {
    weight: 1,
    arbitrary: fc.constant<Part>({
      type: 'media',
      kind: 'image',
      source: { type: 'base64', data: 'iVBORw0=', mime: 'image/png' },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Part>({
      type: 'server-tool',
      phase: 'call',
      tool: 'web_search',
      id: 'search_1',
      protocol: 'elsewhere',
      raw: { type: 'web_search', query: 'x' },
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constant<Part>({
      type: 'opaque',
      protocol: 'elsewhere',
      raw: { type: 'novelty' },
    }),
  },
)

type Lane = {
  message: number
  events: ((place: { candidate: number; part: number }) => CanonicalEvent)[]
}

const finishReasons: FinishReason[] = [
  'stop',
  'stop_sequence',
  'length',
  'context_window',
  'content_filter',
  'refusal',
  'recitation',
  'pause',
  'cancelled',
  'other',
]

/**
 * A complete stream that obeys the grammar: several messages, several open parts at once, deltas
 * split anywhere.
 */
export const cleanEvents: Arbitrary<CanonicalEvent[]> = streamsOf({
  open: 3,
  pings: true,
  late: true,
})

/** The same with parts one after the other, and without pings. */
export const serialEvents: Arbitrary<CanonicalEvent[]> = streamsOf({
  open: 1,
  pings: false,
  late: false,
})

/**
 * `open`: the maximum number of open parts; `late`: signatures of reasoning may come after the end
 * of its part.
 */
function streamsOf({
  open,
  pings,
  late,
}: {
  open: number
  pings: boolean
  late: boolean
}): Arbitrary<CanonicalEvent[]> {
  return fc
    .record({
      candidates: fc
        .array(fc.array(fc.array(part, { maxLength: 3 }), { minLength: 1, maxLength: 3 }), {
          minLength: 1,
          maxLength: 2,
        })
        .map(all => (all.length > 1 && JSON.stringify(all).length % 3 ? all.slice(0, 1) : all)),
      choices: fc.array(fc.nat(1000), { minLength: 60, maxLength: 60 }),
      reason: fc.constantFrom(...finishReasons),
      usage: fc.constantFrom(
        undefined,
        { input: 9, output: 5 },
        { input: 20, output: 7, cacheRead: 4, reasoning: 3 },
      ),
      id: fc.constantFrom(undefined, 'response_1', 'msg_01'),
    })
    .map(({ candidates, choices, reason, usage, id }) => {
      let thrown = 0
      const throwDie = (sides: number) => (choices[thrown++ % choices.length] ?? 0) % sides
      const events: CanonicalEvent[] = [
        { type: 'start', model: 'some-model', createdAt: 1_700_000_000, ...(id && { id }) },
      ]
      let calls = 0
      const tracks = candidates.map((messages, candidate) =>
        weave(messages, candidate, {
          throwDie,
          newCallId: () => `call_${calls++}`,
          most: open,
          late,
        }),
      )
      while (tracks.some(track => track.length > 0)) {
        const [next] = [tracks[throwDie(tracks.length)], ...tracks].filter(
          track => track && track.length > 0,
        )
        const event = next?.shift()
        if (event) events.push(event)
        if (pings && throwDie(12) === 0) events.push({ type: 'ping' })
        if (usage && throwDie(20) === 0)
          events.push({ type: 'usage', usage: { ...usage, output: 1 } })
      }
      candidates.forEach((messages, candidate) => {
        const hasCalls = messages.flat().some(({ type }) => type === 'tool-call')
        const drawn: Finish = reason === 'stop_sequence' ? { reason, sequence: 'END' } : { reason }
        const finish: Finish = hasCalls && reason !== 'length' ? { reason: 'tool_calls' } : drawn
        events.push({ type: 'finish', candidate, finish })
      })
      if (usage) events.push({ type: 'usage', usage })
      events.push({ type: 'end', clean: true })
      return events
    })
}

type Weaving = {
  throwDie: (sides: number) => number
  newCallId: () => string
  most: number
  late: boolean
}

/** Messages and parts of one candidate, with a maximum number of open parts. */
function weave(messages: Part[][], candidate: number, weaving: Weaving): CanonicalEvent[] {
  const { throwDie, most } = weaving
  const out: CanonicalEvent[] = []
  const waiting: Lane[] = messages.flatMap((parts, message) =>
    parts.map(one => laneOf(one, message, weaving)),
  )
  const open: { lane: Lane; part: number }[] = []
  const left = messages.map(parts => parts.length)
  let begun = 0
  let parts = 0
  const begin = (message: number) => {
    for (; begun <= message; begun++) {
      out.push({ type: 'message.start', candidate, message: begun, role: 'assistant' })
      if (left[begun] === 0) out.push({ type: 'message.end', candidate, message: begun })
    }
  }
  while (waiting.length > 0 || open.length > 0) {
    if (waiting.length > 0 && (open.length === 0 || (open.length < most && throwDie(3) === 0))) {
      const lane = waiting.shift()
      if (!lane) break
      begin(lane.message)
      open.push({ lane, part: parts++ })
    }
    const slot = throwDie(open.length)
    const chosen = open[slot]
    if (!chosen) continue
    const event = chosen.lane.events.shift()
    if (event) out.push(event({ candidate, part: chosen.part }))
    if (chosen.lane.events.length === 0) {
      open.splice(slot, 1)
      const { message } = chosen.lane
      const rest = (left[message] ?? 1) - 1
      left[message] = rest
      if (rest === 0) out.push({ type: 'message.end', candidate, message })
    }
  }
  begin(messages.length - 1)
  // A part starts when its lane is opened, so that starts come in the order of their numbers.
  return inOrder(out)
}

function laneOf(
  one: Part,
  message: number,
  { throwDie, newCallId, late: mayBeLate }: Weaving,
): Lane {
  const whole = one.type === 'tool-call' ? { ...one, id: newCallId() } : one
  const { head, deltas } = takeApart(whole)
  const late =
    mayBeLate && one.type === 'reasoning' && throwDie(3) === 0
      ? deltas.filter(({ kind }) => kind === 'signature')
      : []
  const cut = deltas
    .filter(delta => !late.includes(delta))
    .flatMap(delta => cutDelta(delta, throwDie))
  return {
    message,
    events: [
      ({ candidate, part: number }) => ({
        type: 'part.start',
        candidate,
        message,
        part: number,
        head,
      }),
      ...cut.map(
        delta =>
          ({ candidate, part: number }: { candidate: number; part: number }): CanonicalEvent => ({
            type: 'part.delta',
            candidate,
            part: number,
            delta,
          }),
      ),
      ({ candidate, part: number }) => ({ type: 'part.end', candidate, part: number }),
      ...late.map(
        delta =>
          ({ candidate, part: number }: { candidate: number; part: number }): CanonicalEvent => ({
            type: 'part.delta',
            candidate,
            part: number,
            delta,
          }),
      ),
    ],
  }
}

function cutDelta(delta: Delta, throwDie: (sides: number) => number): Delta[] {
  if (delta.kind !== 'text' && delta.kind !== 'input' && delta.kind !== 'reasoning') return [delta]
  const chars = [...delta.text]
  const deltas: Delta[] = []
  for (let at = 0; at < chars.length; ) {
    const length = 1 + throwDie(5)
    deltas.push({ ...delta, text: chars.slice(at, at + length).join('') })
    at += length
  }
  return deltas.length > 0 ? deltas : [delta]
}

/** Renumbers the parts in the order of their starts. */
function inOrder(events: CanonicalEvent[]): CanonicalEvent[] {
  const numbers = new Map<number, number>()
  for (const event of events) if (event.type === 'part.start') numbers.set(event.part, numbers.size)
  return events.map(event =>
    'part' in event ? { ...event, part: numbers.get(event.part) ?? event.part } : event,
  )
}

/**
 * The same, cut off anywhere: without an end, with an unclean end, or with an error of the
 * upstream.
 */
export const cutEvents: Arbitrary<CanonicalEvent[]> = fc
  .tuple(cleanEvents, fc.nat(1000), fc.constantFrom('nothing', 'end', 'error'))
  .map(([events, at, how]) => {
    // There may be a finish already; what is missing is the end of the stream.
    const kept = events.slice(0, at % (events.length - 1))
    if (how === 'nothing') return kept
    const begun: CanonicalEvent[] = kept.length > 0 ? kept : events.slice(0, 1)
    if (how === 'end') return [...begun, { type: 'end', clean: false }]
    return [
      ...begun,
      { type: 'error', error: { status: 529, kind: 'overloaded', message: 'Overloaded' } },
      { type: 'end', clean: false },
    ]
  })

/**
 * Such streams with events removed, moved, swapped, doubled and renumbered: their order is
 * arbitrary.
 */
export const nonsense: Arbitrary<CanonicalEvent[]> = fc
  .tuple(
    fc.oneof(cleanEvents, cutEvents),
    fc.array(
      fc.tuple(
        fc.constantFrom('lose', 'move', 'exchange', 'double', 'number'),
        fc.nat(1000),
        fc.nat(1000),
      ),
      { maxLength: 8 },
    ),
  )
  .map(([events, faults]) => {
    const out = [...events]
    for (const [how, from, to] of faults) {
      const at = from % Math.max(1, out.length)
      const there = to % Math.max(1, out.length)
      const [event, other] = [out[at], out[there]]
      if (!event || !other) continue
      if (how === 'lose') out.splice(at, 1)
      else if (how === 'move') out.splice(there, 0, ...out.splice(at, 1))
      else if (how === 'double') out.splice(there, 0, event)
      else if (how === 'number') out[at] = 'part' in event ? { ...event, part: to % 4 } : event
      else [out[at], out[there]] = [other, event]
    }
    return out
  })
