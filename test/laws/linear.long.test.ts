import { afterAll, describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import {
  createStreamTranslator,
  detectProtocol,
  explodeResponse,
  normalizeResponse,
  type ProtocolName,
  referencesOf,
  translateError,
  translateRequest,
  translateResponse,
  type VendorName,
} from '../../src/index.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { decodeStream } from '../../src/testing/streams.ts'
import { type Growth, growths } from '../support/grown.ts'
import { requests } from '../support/rich-requests.ts'
import { responses } from '../support/rich-responses.ts'
import { richStreams } from '../support/rich-streams.ts'
import { StepCounter, type Steps } from '../support/steps.ts'
import { requests as declaring } from '../support/tool-requests.ts'

/**
 * Work is proportional to the input: no function takes more than 2.6 times the steps for twice as
 * much of anything.
 */

const least = 16
const counter = new StepCounter()
afterAll(() => counter.close())

const growsTooFast = (small = 0, large = 0) => small > 0 && large > 2.6 * small + 20

/** One line that grows too fast is a part of all calls of a built-in function. */
const mayGrowTooFast = (small = 0, large = 0) => small > 0 && large > 2.1 * small + 20

/**
 * The steps at these sizes of the functions that grow too fast from each size to the next: a bound
 * looks like growth once.
 */
function growing(
  lengths: readonly number[],
  stepsAt: (length: number) => Steps,
  isTooFast: (small?: number, large?: number) => boolean,
): Map<string, number[]> {
  const [first = 0, ...others] = lengths
  const found = new Map([...stepsAt(first)].map(([name, count]) => [name, [count]]))
  for (const length of others) {
    if (found.size === 0) break
    const steps = stepsAt(length)
    for (const [name, counts] of found) {
      const count = steps.get(name)
      if (count !== undefined && isTooFast(counts.at(-1), count)) counts.push(count)
      else found.delete(name)
    }
  }
  return found
}

/** The functions whose steps grow faster, each with its steps at four sizes. */
function fasterThanLinear({ how, body }: Growth, work: (body: unknown) => void): string[] {
  const stepsAt = (length: number, placed?: ReadonlySet<string>): Steps => {
    const given = body(length)
    return counter.count(() => work(given), placed)
  }
  const suspects = growing([least, 2 * least, 4 * least], stepsAt, mayGrowTooFast)
  if (suspects.size === 0) return []
  const placed = new Set(suspects.keys())
  const lengths = [least, 2 * least, 4 * least, 8 * least]
  return [...growing(lengths, length => stepsAt(length, placed), growsTooFast)].map(
    ([name, counts]) => `${how}: ${name}: ${counts.join(' ')}`,
  )
}

/** One body with the fields of all. The first one counts. */
const merged = (bodies: readonly object[]): object => Object.assign({}, ...bodies.toReversed())

/** Vendors that demand much of requests in this protocol, together all that one may demand. */
const strictVendors: Record<ProtocolName, readonly VendorName[]> = {
  'chat-completions': ['mistral', 'zai'],
  responses: ['xai'],
  messages: ['minimax', 'anthropic'],
  'generate-content': ['vertex'],
  converse: ['bedrock'],
}

/** With no vendor, and with each of those. */
const asked = (to: ProtocolName) => [{}, ...strictVendors[to].map(vendor => ({ vendor }))]

/** `isNested`: the definitions stand deeper in the schema. */
type Defined = { refers(name: string): string; by(name: string): object; isNested?: true }

/** How references of a schema name its definitions. */
const references: Record<string, Defined> = {
  definitions: { refers: name => `#/$defs/${name}`, by: () => ({ type: 'string' }) },
  anchors: { refers: name => `#${name}`, by: $anchor => ({ $anchor, type: 'string' }) },
  'deeper definitions': {
    refers: name => `#/$defs/${name}`,
    by: () => ({ type: 'string' }),
    isNested: true,
  },
  nothing: { refers: name => `#/$defs/${name}/none`, by: () => ({ type: 'string' }) },
}

/** Messages that some servers want joined: those of the user, with instructions between them. */
const turns: Record<ProtocolName, (length: number) => object> = {
  'chat-completions': length => ({ messages: alternating(length, { content: 'x' }) }),
  responses: length => ({ input: alternating(length, { content: 'x' }) }),
  messages: length => ({ max_tokens: 5, messages: alternating(length, { content: 'x' }) }),
  'generate-content': length => ({
    contents: Array(length).fill({ role: 'user', parts: [{ text: 'x' }] }),
  }),
  converse: length => ({
    messages: Array(length).fill({ role: 'user', content: [{ text: 'x' }] }),
  }),
}

const alternating = (length: number, message: object) =>
  Array.from({ length }, (_, i) => ({ role: i % 2 ? 'system' : 'user', ...message }))

/** Requests that are refused without this option would end early. */
const lenient = { onUnresolvable: 'note' }

const frameOf = (event: unknown) =>
  event === '[DONE]' ? 'data: [DONE]\n\n' : `data: ${JSON.stringify(event)}\n\n`

/** Where events are that differ from all before in more than a text or a number. */
function firstOfKind(events: readonly unknown[]): number[] {
  const kinds = events.map(event =>
    JSON.stringify(event, (key, value: unknown) =>
      key !== 'type' && /string|number/.test(typeof value) ? '' : value,
    ),
  )
  return [...kinds.keys()].filter(at => kinds.indexOf(kinds[at] ?? '') === at)
}

type Chunks = readonly (string | Uint8Array)[]

function translated(chunks: Chunks, from: ProtocolName, targets = protocolNames): void {
  for (const to of targets)
    for (const more of [{}, { strict: ['dropped'] }]) {
      const translator = createStreamTranslator({ from, to, ...more } as never)
      for (const chunk of chunks) translator.push(chunk)
      translator.end()
    }
}

/** The same stream with one frame in each chunk, in one chunk, and cut anywhere. */
function cutInAllWays(text: string): Chunks[] {
  const bytes = new TextEncoder().encode(text)
  const places = Array.from({ length: Math.ceil(bytes.length / 97) }, (_, i) => 97 * i)
  return [text.split(/(?<=\n\n)/), [text], places.map(place => bytes.subarray(place, place + 97))]
}

describe.each(protocolNames)('%s takes steps proportional to the length of', from => {
  test('requests, to every protocol', () => {
    const faults = growths(merged(requests[from])).flatMap(growth =>
      fasterThanLinear(growth, given => {
        for (const to of protocolNames)
          for (const more of asked(to))
            translateRequest(given as never, { from, to, ...lenient, ...more } as never)
        referencesOf(given as never, { protocol: from } as never)
        detectProtocol(given)
      }),
    )
    expect(faults).toEqual([])
  })

  test.each(Object.entries(references))('tools with references to %s', (how, defined) => {
    const body = (length: number) => {
      const names = Array.from({ length }, (_, i) => `n${i}`)
      const properties = names.map(name => [name, { $ref: defined.refers(name) }])
      const definitions = Object.fromEntries(names.map(name => [name, defined.by(name)]))
      const $defs = defined.isNested ? { inner: { $defs: definitions } } : definitions
      const schema = { type: 'object', properties: Object.fromEntries(properties), $defs }
      return declaring[from]([{ name: 'find', schema }])
    }
    const faults = fasterThanLinear({ how, body }, given => {
      for (const to of protocolNames)
        for (const more of asked(to))
          translateRequest(given as never, { from, to, ...lenient, ...more } as never)
    })
    expect(faults).toEqual([])
  })

  test('turns that are joined, to every protocol', () => {
    const body = (length: number) => ({ model: 'm', ...turns[from](length) })
    // Each alone: in the sum of all, one that grows faster is not seen.
    const faults = protocolNames.flatMap(to =>
      asked(to).flatMap(more =>
        fasterThanLinear({ how: `turns to ${to}`, body }, given => {
          translateRequest(given as never, { from, to, ...lenient, ...more } as never)
        }),
      ),
    )
    expect(faults).toEqual([])
  })

  test('responses, to every protocol', () => {
    const faults = growths(merged(responses[from])).flatMap(growth =>
      fasterThanLinear(growth, given => {
        for (const to of protocolNames) translateResponse(given as never, { from, to } as never)
        normalizeResponse(given as never, { protocol: from } as never)
        explodeResponse(given as never, { protocol: from } as never)
        for (const to of protocolNames)
          translateError({ status: 500, body: given }, { from, to } as never)
      }),
    )
    expect(faults).toEqual([])
  })

  test('streams of whole responses, to every protocol', () => {
    const another = protocolNames.filter(name => name !== from).slice(0, 1)
    const exploded = (body: unknown) =>
      String(explodeResponse(body as never, { protocol: from } as never))
    const faults = growths(merged(responses[from]))
      .filter(({ how }) => !how.startsWith('keys'))
      .flatMap(({ how, body }) =>
        fasterThanLinear({ how, body: length => cutInAllWays(exploded(body(length))) }, given => {
          const [frames = [], ...others] = given as Chunks[]
          translated(frames, from)
          // How it is cut makes no difference to encoders.
          for (const chunks of others) translated(chunks, from, another)
        }),
      )
    expect(faults).toEqual([])
  })

  test('streams with many events of one kind, to every protocol', () => {
    const faults = Object.entries(richStreams[from]).flatMap(([name, events]) =>
      firstOfKind(events).flatMap(at =>
        fasterThanLinear(
          {
            how: `${name}, event ${at}`,
            body: length =>
              events.flatMap((event, i) => (i === at ? Array(length).fill(event) : event)),
          },
          given => {
            const all = given as unknown[]
            translated(all.map(frameOf), from)
            collect(decodeStream(protocols[from], all))
          },
        ),
      ),
    )
    expect(faults).toEqual([])
  })
})

/**
 * A text that grows by each event is one string only when somebody reads it. Reading it at each
 * event would take quadratic time, in no step that can be counted.
 */
describe.each(protocolNames)('%s', from => {
  const growing = richStreams[from]
  test.each(Object.keys(growing))('takes time proportional to the length of: %s', name => {
    const events = growing[name] ?? []
    for (const at of firstOfKind(events)) {
      const event = events[at]
      if (!isDelta(event)) continue
      const framesAt = (length: number) => [
        ...events.slice(0, at).map(frameOf),
        // Another key each time, so that each frame is parsed.
        ...Array.from({ length }, (_, i) => frameOf(lengthened(event, i))),
        ...events.slice(at + 1).map(frameOf),
      ]
      const [few, many] = [framesAt(100), framesAt(400)]
      for (const to of protocolNames) {
        const growth = () => timeOf(many, from, to) / Math.max(timeOf(few, from, to), 1)
        const isLinear = () => growth() < 2.6 ** 2
        // A pause of the machine may fall into one of two measurements, but not always into the
        // same.
        const tries = Array.from({ length: 5 })
        expect(tries.some(isLinear), `${name}, event ${at}, to ${to}`).toBe(true)
      }
    }
  })
})

/**
 * Events in which the first `count` parts stay open while others open, grow and end. What is looked
 * up of an open part takes as long as with one, also by steps that cannot be counted.
 */
const keptOpen: Record<string, { from: ProtocolName; events: (count: number) => object[] }> = {
  'calls of messages': {
    from: 'messages',
    events: count => {
      const start = (index: number) => ({
        type: 'content_block_start',
        index,
        content_block: { type: 'tool_use', id: `c${index}`, name: 'n', input: {} },
      })
      const delta = { type: 'input_json_delta', partial_json: '{}' }
      const grow = (index: number) => ({ type: 'content_block_delta', index, delta })
      const stop = (index: number) => ({ type: 'content_block_stop', index })
      const message = { id: 'm', type: 'message', role: 'assistant', content: [], model: 'm' }
      return [
        { type: 'message_start', message: { ...message, usage: {} } },
        ...upTo(count).map(start),
        ...upTo(count).flatMap(i => [start(count + i), grow(count + i), grow(i), stop(count + i)]),
        { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: {} },
        { type: 'message_stop' },
      ]
    },
  },
  'calls of converse': {
    from: 'converse',
    events: count => {
      const start = (contentBlockIndex: number) => ({
        contentBlockStart: {
          contentBlockIndex,
          start: { toolUse: { toolUseId: `c${contentBlockIndex}`, name: 'n' } },
        },
      })
      const delta = { toolUse: { input: '{}' } }
      const grow = (contentBlockIndex: number) => ({
        contentBlockDelta: { contentBlockIndex, delta },
      })
      const stop = (contentBlockIndex: number) => ({ contentBlockStop: { contentBlockIndex } })
      return [
        { messageStart: { role: 'assistant' } },
        ...upTo(count).map(start),
        ...upTo(count).flatMap(i => [start(count + i), grow(count + i), grow(i), stop(count + i)]),
        { messageStop: { stopReason: 'tool_use' } },
      ]
    },
  },
  'calls of responses': {
    from: 'responses',
    events: count =>
      openItems(count, {
        item: nth => ({ type: 'function_call', call_id: `c${nth}`, name: 'n', arguments: '' }),
        start: () => [],
        grow: () => ({ type: 'response.function_call_arguments.delta', delta: '{}' }),
      }),
  },
  'texts of responses': {
    from: 'responses',
    events: count =>
      openItems(count, {
        item: () => ({ type: 'message', role: 'assistant', content: [] }),
        start: () => [
          {
            type: 'response.content_part.added',
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
        ],
        grow: () => ({ type: 'response.output_text.delta', content_index: 0, delta: 'x' }),
      }),
  },
  'calls of chat-completions': {
    from: 'chat-completions',
    events: count => {
      const chunk = (delta: object, finish_reason: string | null = null) => ({
        object: 'chat.completion.chunk',
        choices: [{ index: 0, delta, finish_reason }],
      })
      const start = (index: number) =>
        chunk({ tool_calls: [{ index, id: `c${index}`, function: { name: 'n', arguments: '' } }] })
      const grow = (index: number) =>
        chunk({ tool_calls: [{ index, function: { arguments: '{}' } }] })
      return [
        ...upTo(count).map(start),
        ...upTo(count).flatMap(i => [start(count + i), grow(count + i), grow(i)]),
        chunk({}, 'tool_calls'),
      ]
    },
  },
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

type OpenItems = {
  item(nth: number): object
  start(): object[]
  grow(): object
}

function openItems(count: number, { item, start, grow }: OpenItems): object[] {
  const response = { id: 'r', object: 'response', status: 'in_progress', model: 'm', output: [] }
  const about = (nth: number, event: object) => ({
    output_index: nth,
    item_id: `i${nth}`,
    ...event,
  })
  const itemOf = (nth: number) => ({ id: `i${nth}`, status: 'in_progress', ...item(nth) })
  const open = (nth: number) => [
    { type: 'response.output_item.added', output_index: nth, item: itemOf(nth) },
    ...start().map(event => about(nth, event)),
  ]
  const close = (nth: number) => {
    const done = { ...itemOf(nth), status: 'completed' }
    return { type: 'response.output_item.done', output_index: nth, item: done }
  }
  return [
    { type: 'response.created', response },
    ...upTo(count).flatMap(open),
    ...upTo(count).flatMap(i => [
      ...open(count + i),
      about(count + i, grow()),
      about(i, grow()),
      close(count + i),
    ]),
    { type: 'response.completed', response: { ...response, status: 'completed' } },
  ]
}

describe.each(Object.entries(keptOpen))('%s that stay open', (_, { from, events }) => {
  test.each(protocolNames)('take time proportional to their number, to %s', to => {
    const [few, many] = [events(1500).map(frameOf), events(6000).map(frameOf)]
    const growth = () => timeOf(many, from, to) / Math.max(timeOf(few, from, to), 1)
    const tries = Array.from({ length: 5 })
    expect(tries.some(() => growth() < 2.6 ** 2)).toBe(true)
  })
})

const textKeys = /^(content|delta|text|thinking|partial_json|arguments|input|reasoning_content)$/

const isDelta = (event: unknown) => lengthened(event, 0) !== undefined

/** The event with a long text in place of its only text. Undefined: it has none. */
function lengthened(event: unknown, nth: number): unknown {
  let found = 0
  const changed = JSON.stringify(event, (key, value: unknown) => {
    if (typeof value !== 'string' || !textKeys.test(key) || !/^ Kk|^\{?"?\w* ?Kk/.test(value))
      return value
    found++
    return ` ${'x'.repeat(5000)}`
  })
  return found === 1 ? { ...JSON.parse(changed), [`odd_${nth % 2}`]: nth } : undefined
}

function timeOf(frames: readonly string[], from: ProtocolName, to: ProtocolName): number {
  const translator = createStreamTranslator({ from, to } as never)
  const before = process.cpuUsage()
  for (const frame of frames) translator.push(frame)
  translator.end()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
