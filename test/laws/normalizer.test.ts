import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collectEvent, startCollecting } from '../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import type { Part } from '../../src/canonical/message.ts'
import type { Protocol } from '../../src/protocol.ts'
import { cleanEvents } from '../../src/testing/events.ts'
import { normalizeEvent, startNormalizing, takeDirectly } from '../../src/translate/normalizer.ts'
import { runs } from '../support/runs.ts'

type Target = Pick<Protocol, 'streamParts' | 'takesLateSignatures' | 'oneCandidate'>

const sequential: Target = { streamParts: () => 'sequential' }
const early: Target = { ...sequential, takesLateSignatures: true }
const onePerKind: Target = { streamParts: () => 'one-per-kind', takesLateSignatures: true }

/** By event of the source: what is passed on. `isDirect`: the fast path may take it. */
function passedBy(events: readonly CanonicalEvent[], target: Target) {
  const state = startNormalizing(target)
  return events.map(event => {
    const passed: CanonicalEvent[] = []
    const isDirect = event.type === 'part.delta' && takeDirectly(structuredClone(state), event)
    normalizeEvent(state, event, one => passed.push(one))
    return { event, passed, isDirect }
  })
}

const passedOf = (events: readonly CanonicalEvent[], target: Target) =>
  passedBy(events, target).flatMap(({ passed }) => passed)

const start = (part: number) => ({ type: 'part.start' as const, candidate: 0, message: 0, part })

/** The numbers of the parts that are open at the same time as another one of their candidate. */
function interleaved(events: readonly CanonicalEvent[]): number[] {
  const open = new Map<number, Set<number>>()
  return events.flatMap(event => {
    if (event.type !== 'part.start' && event.type !== 'part.end') return []
    const parts = open.get(event.candidate) ?? new Set()
    open.set(event.candidate, parts)
    if (event.type === 'part.end') parts.delete(event.part)
    else parts.add(event.part)
    return parts.size > 1 ? [event.part] : []
  })
}

const kinds: readonly string[] = ['text', 'refusal', 'reasoning', 'tool-call']

/** What a target that takes one part per kind cannot write. */
function mixed(events: readonly CanonicalEvent[]): string[] {
  const open = new Map<string, number>()
  const messages = new Map<number, number[]>()
  return events.flatMap(event => {
    if (!('candidate' in event)) return []
    const begun = messages.get(event.candidate) ?? []
    messages.set(event.candidate, begun)
    if (event.type === 'message.start') begun.push(event.message)
    if (event.type === 'message.end') begun.splice(begun.indexOf(event.message), 1)
    if (event.type === 'part.end')
      for (const [lane, part] of open)
        if (lane.startsWith(`${event.candidate}/`) && part === event.part) open.delete(lane)
    if (event.type !== 'part.start' || !kinds.includes(event.head.type)) return []
    const lane = `${event.candidate}/${event.head.type}`
    const before = open.get(lane)
    open.set(lane, event.part)
    const isEarly =
      event.head.type !== 'tool-call' && begun.some(message => message < event.message)
    return [
      ...(before === undefined ? [] : [`part ${event.part} starts inside part ${before}`]),
      ...(isEarly ? [`part ${event.part} starts before an earlier message ends`] : []),
    ]
  })
}

/** The events with parts numbered in the order of their starts. */
function renumbered(events: readonly CanonicalEvent[]): CanonicalEvent[] {
  const numbers = new Map<string, number>()
  const counts = new Map<number, number>()
  return events.map(event => {
    if (!('part' in event)) return event
    const key = `${event.candidate}/${event.part}`
    const next = counts.get(event.candidate) ?? 0
    if (event.type === 'part.start') {
      numbers.set(key, next)
      counts.set(event.candidate, next + 1)
    }
    return { ...event, part: numbers.get(key) ?? -1 }
  })
}

/**
 * The parts of a candidate by number, each with its deltas. White space around arguments does not
 * count.
 */
function contents(events: readonly CanonicalEvent[]): unknown {
  const { parts } = events.reduce((into, event) => {
    collectEvent(into, event)
    return into
  }, startCollecting())
  const keys = Object.keys(parts).toSorted()
  return keys.map(key =>
    JSON.stringify(parts[key], (name, value: unknown) =>
      name === 'input' && typeof value === 'string' ? value.trim() : value,
    ),
  )
}

const withoutFinals = (events: readonly CanonicalEvent[]) =>
  events.map(event =>
    event.type === 'part.end'
      ? { type: event.type, candidate: event.candidate, part: event.part }
      : event,
  )

/** Text, arguments and segments of each part. Empty segments do not count. */
function words(events: readonly CanonicalEvent[]): [string, unknown][] {
  const { parts } = events.reduce((into, event) => {
    collectEvent(into, event)
    return into
  }, startCollecting())
  return Object.entries(parts).map(([key, part]) => {
    if (part.type === 'reasoning')
      return [key, part.segments.filter(({ text }) => text !== '').map(({ text }) => text)]
    if (part.type === 'text' || part.type === 'refusal') return [key, part.text]
    return [key, part.type === 'tool-call' ? part.input.trim() : part.type]
  })
}

/** The stream with its whole parts at their ends, and without the last deltas of some parts. */
function endingInFull(
  events: readonly CanonicalEvent[],
  kept: (part: number) => number,
): CanonicalEvent[] {
  const into = startCollecting()
  for (const event of events) collectEvent(into, event)
  const counts = new Map<string, number>()
  return events.flatMap((event): CanonicalEvent[] => {
    if (!('part' in event)) return [event]
    const key = `${event.candidate}/${event.part}`
    const final = into.parts[key]
    if (event.type === 'part.end' && final) return [{ ...event, final }]
    if (event.type !== 'part.delta') return [event]
    const count = counts.get(key) ?? 0
    counts.set(key, count + 1)
    return count < kept(event.part) || event.delta.kind === 'signature' ? [event] : []
  })
}

/** A clean stream, cut off anywhere. */
const cutEvents = fc.tuple(cleanEvents, fc.nat(1000)).map(([events, cut]): CanonicalEvent[] => {
  const before = events.filter(({ type }) => type !== 'end')
  return [...before.slice(0, 1 + (cut % before.length)), { type: 'end', clean: false }]
})

function withoutCut(event: CanonicalEvent): CanonicalEvent {
  if (event.type !== 'part.end') return event
  const { cut: _, ...end } = event
  return end
}

describe('the stream normalizer', () => {
  test('writes parts one after the other when the target is sequential', () => {
    fc.assert(
      fc.property(cleanEvents, events => {
        for (const target of [sequential, early]) {
          const passed = passedOf(events, target)
          expect(checkGrammar(passed)).toEqual([])
          expect(interleaved(passed)).toEqual([])
        }
      }),
      runs(500),
    )
  })

  test('keeps every event, and the order of the events of each part', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        const passed = passedOf(events, sequential)
        expect(passed).toHaveLength(events.length)
        const ofPart = (list: readonly CanonicalEvent[], candidate: number, part: number) =>
          list.filter(
            event => 'part' in event && event.candidate === candidate && event.part === part,
          )
        for (const event of events)
          if (event.type === 'part.start')
            expect(ofPart(passed, event.candidate, event.part).map(withoutCut)).toEqual(
              ofPart(events, event.candidate, event.part),
            )
      }),
      runs(500),
    )
  })

  test('writes one part per kind after the other when the target takes one of each kind', () => {
    fc.assert(
      fc.property(cleanEvents, events => {
        const passed = passedOf(events, onePerKind)
        expect(checkGrammar(renumbered(passed))).toEqual([])
        expect(mixed(passed)).toEqual([])
      }),
      runs(500),
    )
  })

  test('passes on what another kind does not hold back', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        const before: CanonicalEvent[] = []
        for (const { event, passed } of passedBy(events, onePerKind)) {
          if (event.type === 'part.start' && mixed([...before, event]).length === 0)
            expect(passed).toEqual([event])
          before.push(...passed)
        }
      }),
      runs(200),
    )
  })

  test('loses nothing when it ends calls with whole arguments early', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        for (const target of [early, onePerKind])
          expect(contents(passedOf(events, target))).toEqual(contents(events))
      }),
      runs(500),
    )
  })

  test('ends a call with whole arguments when another part waits for it', () => {
    const begin = (part: number): CanonicalEvent => ({
      ...start(part),
      head: { type: 'tool-call', id: `call_${part}`, name: 'lookup', kind: 'function', input: '' },
    })
    const input = (part: number, text: string): CanonicalEvent => ({
      type: 'part.delta',
      candidate: 0,
      part,
      delta: { kind: 'input', text },
    })
    const signed: CanonicalEvent = {
      type: 'part.delta',
      candidate: 0,
      part: 0,
      delta: { kind: 'signature', signature: { value: 'c2ln', issuer: 'elsewhere' } },
    }
    const ended = (part: number): CanonicalEvent => ({ type: 'part.end', candidate: 0, part })
    const events = [
      begin(0),
      input(0, '{"a"'),
      begin(1),
      input(0, ':1}'),
      input(1, '{}'),
      signed,
      ended(0),
      ended(1),
    ]
    const of = passedBy(events, early).map(({ passed }) => passed)
    expect(of).toEqual([
      [begin(0)],
      [input(0, '{"a"')],
      [],
      [input(0, ':1}'), { ...ended(0), cut: false }, begin(1)],
      [input(1, '{}')],
      [{ ...ended(1), cut: false }, signed],
      [],
      [],
    ])
    expect(passedOf(events, sequential).filter(({ type }) => type === 'part.end')).toEqual([
      ended(0),
      ended(1),
    ])
  })

  test('adds the deltas that only the final part has', () => {
    fc.assert(
      fc.property(cleanEvents, fc.nat(5), (events, kept) => {
        for (const target of [{}, sequential, early, onePerKind]) {
          const state = startNormalizing(target)
          const passed: CanonicalEvent[] = []
          for (const event of endingInFull(events, part => (part % 2 ? kept : 99)))
            normalizeEvent(state, event, one => passed.push(one))
          expect(Object.fromEntries(words(withoutFinals(passed)))).toEqual(
            Object.fromEntries(words(events)),
          )
          expect(state.notes).toEqual([])
        }
      }),
      runs(300),
    )
  })

  test('turns a final part into deltas that complete it, so that no end has one', () => {
    const at = '/part'
    const own = (value: number) => ({ messages: { fields: { own: value, other: 1 } } })
    const source = { url: 'https://a.example', kind: 'url' as const, protocol: 'messages', raw: {} }
    const pairs: [Part, Part][] = [
      [
        { type: 'text', text: 'a', at, citations: [source], ext: own(1) },
        {
          type: 'text',
          text: 'ab',
          at,
          citations: [{ ...source, start: 0, end: 1 }, source],
          cache: {},
          ext: own(2),
        },
      ],
      [
        {
          type: 'reasoning',
          at,
          id: 'made-up',
          segments: [{ kind: 'raw', text: 'a\n\nb' }],
          redacted: true,
        },
        {
          type: 'reasoning',
          at: '/other',
          segments: [
            { kind: 'summary', text: 'a' },
            { kind: 'raw', text: 'b' },
          ],
        },
      ],
      [
        {
          type: 'tool-call',
          at,
          id: 'c1',
          name: 'look',
          kind: 'function',
          input: '{',
          status: 'in_progress',
        },
        {
          type: 'tool-call',
          at,
          id: 'c1',
          name: 'look',
          kind: 'function',
          input: '{}',
          status: 'completed',
          caller: { type: 'direct' },
        },
      ],
      [
        {
          type: 'server-tool',
          at,
          phase: 'call',
          tool: 'web_search',
          id: 's1',
          protocol: 'messages',
          raw: {},
        },
        {
          type: 'server-tool',
          at,
          phase: 'call',
          tool: 'web_search',
          id: 's1',
          protocol: 'messages',
          raw: { input: 1 },
        },
      ],
    ]
    for (const target of [{}, sequential, onePerKind])
      for (const [head, final] of pairs) {
        const state = startNormalizing(target)
        const into = startCollecting()
        const events: CanonicalEvent[] = [
          { ...start(0), head },
          { type: 'part.end', candidate: 0, part: 0, final },
        ]
        for (const event of events)
          normalizeEvent(state, event, one => {
            expect(one).not.toHaveProperty('final')
            collectEvent(into, one)
          })
        expect(Object.values(into.parts)).toEqual([final])
        expect(state.notes).toEqual([])
      }
  })

  test('keeps what was streamed when the final part contradicts it, and notes it once', () => {
    const heads: Part[] = [
      { type: 'text', text: 'yes', at: '/text' },
      { type: 'refusal', text: 'yes', at: '/text' },
      { type: 'tool-call', id: 'c1', name: 'look', kind: 'function', input: '{"a":1', at: '/text' },
      { type: 'reasoning', segments: [{ kind: 'summary', text: 'yes' }], at: '/text' },
    ]
    for (const head of heads) {
      const other: Part = JSON.parse(
        JSON.stringify(head).replace('yes', 'no').replace('{\\"a', '{\\"b'),
      )
      const events: CanonicalEvent[] = [
        { ...start(0), head },
        { type: 'part.end', candidate: 0, part: 0, final: other },
      ]
      const state = startNormalizing(onePerKind)
      const passed: CanonicalEvent[] = []
      for (const event of events) normalizeEvent(state, event, one => passed.push(one))
      expect(passed).toEqual([events[0], { type: 'part.end', candidate: 0, part: 0 }])
      expect(state.notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
        'stream.final-differs /text',
      ])
    }
  })

  test('passes on an event of the open part at once', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        const open = new Map<number, number>()
        for (const { event, passed, isDirect } of passedBy(events, sequential)) {
          const of = 'part' in event ? event : undefined
          const isOpen = of !== undefined && open.get(of.candidate) === of.part
          // The end of a call that others wait for needs the next event, which shows whether a
          // limit cut the call off.
          if (isOpen && event.type === 'part.delta') expect(passed).toEqual([event])
          if (event.type === 'part.start' && !open.has(event.candidate))
            expect(passed).toEqual([event])
          if (event.type === 'part.delta') expect(isDirect).toBe(isOpen)
          if (!('candidate' in event)) expect(passed.at(-1)).toBe(event)
          for (const one of passed)
            if (one.type === 'part.start') open.set(one.candidate, one.part)
            else if (one.type === 'part.end') open.delete(one.candidate)
        }
      }),
      runs(500),
    )
  })

  test('delays nothing when the target takes any order', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        for (const { event, passed } of passedBy(events, {})) expect(passed).toEqual([event])
      }),
      runs(200),
    )
  })

  test('leaves out further candidates with one note each when the target has one', () => {
    fc.assert(
      fc.property(fc.oneof(cleanEvents, cutEvents), events => {
        const state = startNormalizing({ ...sequential, oneCandidate: true })
        const passed: CanonicalEvent[] = []
        for (const event of events) {
          if (event.type === 'part.delta' && event.candidate > 0)
            expect(takeDirectly(state, event)).toBe(false)
          normalizeEvent(state, event, one => passed.push(one))
        }
        const isFirst = (event: CanonicalEvent) => !('candidate' in event) || event.candidate === 0
        expect(passed).toEqual(passedOf(events.filter(isFirst), sequential))
        expect(state.notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
          events.every(isFirst) ? [] : ['candidates.first-only /candidates/1'],
        )
      }),
      runs(200),
    )
  })

  test.each([{}, sequential, early, onePerKind])(
    'drops repeated starts and stray deltas with a note, target %#',
    target => {
      const begin: CanonicalEvent = { ...start(0), head: { type: 'text', text: '', at: '/text' } }
      const message = (part: number): CanonicalEvent => ({
        type: 'part.delta',
        candidate: 0,
        part,
        delta: { kind: 'text', text: 'yes' },
      })
      const end: CanonicalEvent = { type: 'part.end', candidate: 0, part: 0 }
      const open: CanonicalEvent = {
        type: 'message.start',
        candidate: 0,
        message: 0,
        role: 'assistant',
      }
      const state = startNormalizing(target)
      const passed: CanonicalEvent[] = []
      for (const event of [
        open,
        open,
        begin,
        begin,
        message(0),
        end,
        end,
        message(0),
        message(1),
        begin,
      ])
        normalizeEvent(state, event, one => passed.push(one))
      expect(passed).toEqual([open, begin, message(0), end])
      expect(state.notes.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
        'stream.repeated-start ',
        'stream.repeated-start /text',
        'stream.stray-delta ',
        'stream.stray-delta /text',
      ])
    },
  )

  test('marks the call that ended last as cut when a token limit ended the stream', () => {
    const begin = (part: number): CanonicalEvent => ({
      ...start(part),
      head: { type: 'tool-call', id: `call_${part}`, name: 'lookup', kind: 'function', input: '' },
    })
    const end = (part: number): CanonicalEvent => ({ type: 'part.end', candidate: 0, part })
    const after: CanonicalEvent[] = [
      { type: 'message.end', candidate: 0, message: 0 },
      { type: 'finish', candidate: 0, finish: { reason: 'length' } },
    ]
    const passed = passedOf([begin(0), begin(1), end(1), end(0), ...after], sequential)
    expect(passed).toEqual([
      begin(0),
      { ...end(0), cut: true },
      begin(1),
      { ...end(1), cut: false },
      ...after,
    ])
  })
})
