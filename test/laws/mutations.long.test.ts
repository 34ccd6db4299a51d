import { describe, expect, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import { unwrapSignature } from '../../src/kit/signatures/envelope.ts'
import type { Protocol } from '../../src/protocol.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { leaves } from '../../src/testing/json.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { collectStream } from '../../src/translate/fold.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { clientOf } from '../support/clients/index.ts'
import { everyIndex } from '../support/cross.ts'
import { altered, displaced, type Mutation } from '../support/mutations.ts'
import { richStreams } from '../support/rich-streams.ts'

const streamsOf = ({ name }: Protocol) => Object.entries(richStreams[name as ProtocolName])

const textOf = ({ frames }: Protocol, events: readonly unknown[]) =>
  events.map(event => (event === '[DONE]' ? 'data: [DONE]\n\n' : frames.write(event))).join('')

describe.each(pairs)(
  '$name, one event of a rich stream being other than it should be',
  ({ from, to }) => {
    const strict = strictOf(to.name)

    test.each(streamsOf(from))(
      '%s: events are lost, doubled, late, or the last ones',
      async (name, events) => {
        const faults: string[] = []
        const untouched = translated(from, to, events)
        for (const mutation of displaced(events)) {
          const fault = (what: string) => faults.push(`${mutation.how}: ${what}`)
          const there = translated(from, to, mutation.events)
          for (const wrong of legality(strict, there)) fault(wrong)
          if (there.finished && !mayEnd[from.name as ProtocolName](mutation.events))
            fault('is sold as a complete response')
          const lost = lostIn(there, untouched, mutation.events)
          if (lost) fault(`lost ${lost}`)
          const { shortcut: _, ...slow } = from
          if (translated(slow, to, mutation.events).text !== there.text)
            fault('is another stream where it is parsed frame by frame')
          const whole = await collectStream([textOf(from, mutation.events)], from, {}).catch(
            () => undefined,
          )
          if (there.finished && !whole) fault('cannot be collected')
          // One accumulator takes freeform calls for broken ones, and a second response without the
          // first; another one takes parts of a failed response.
          if (!/freeform|^the second/.test(name)) {
            const received = await clientOf(to.name)
              .readStream(there.text)
              .then(
                () => true,
                () => false,
              )
            if (there.finished && !received) fault('the official client does not like it')
            if (!there.finished && received && to.name !== 'responses')
              fault('the official client gets no failure')
          }
        }
        expect(faults).toEqual([])
      },
    )

    test.each(streamsOf(from))('%s: unknown keys, and impossible values', (_, events) => {
      const faults: string[] = []
      const untouched = translated(from, to, events)
      for (const mutation of altered(events)) {
        const there = translated(from, to, mutation.events)
        const fault = (what: string) => faults.push(`${mutation.how}: ${what}`)
        for (const wrong of legality(strict, there)) fault(wrong)
        if (isExcused(mutation)) continue
        const lost = lostIn(there, untouched, mutation.events)
        if (lost) fault(`lost ${lost}`)
        const { stranger } = mutation
        if (
          stranger &&
          there.finished &&
          !there.reported.includes(stranger) &&
          !hasNews(there, untouched) &&
          !covers(from, there.notes, mutation)
        )
          fault('silent')
      }
      expect(faults).toEqual([])
    })
  },
)

type Translated = {
  text: string
  wires: unknown[]
  reported: string
  notes: Note[]
  finished: boolean
}

function translated(from: Protocol, to: Protocol, events: readonly unknown[]): Translated {
  const translator = createStreamTranslator(from, to, {})
  const text = translator.push(textOf(from, events)) + translator.end()
  const { notes, finished } = translator
  const wires = framesOf(text).map(({ wire }) => wire)
  return { text, wires, reported: reportedIn(wires), notes, finished }
}

/** All that the stream says, with what signatures hold. */
function reportedIn(wires: unknown[]): string {
  const message = leaves(wires).map(({ path, value }) => [
    path,
    value,
    typeof value === 'string' ? unwrapSignature(value) : undefined,
  ])
  return JSON.stringify(message)
}

function legality(
  { checkStream, outcome }: ReturnType<typeof strictOf>,
  { wires, finished }: Translated,
): string[] {
  const end = outcome(wires)
  return [
    ...checkStream(wires),
    ...(end === (finished ? 'success' : 'failed')
      ? []
      : [`ends as ${end}, finished is ${finished}`]),
  ]
}

/** What the untouched stream emitted, and now is neither emitted nor noted. */
function lostIn(there: Translated, untouched: Translated, events: unknown[]): string | undefined {
  if (!there.finished || hasNews(there, untouched)) return undefined
  const marks = new Set(JSON.stringify(events).match(/Kk\d\d/g))
  // A model that is noted may still be in the envelope of a signature.
  const noted = leaves(events).filter(({ path }) =>
    there.notes.some(
      note => note.kind !== 'synthesized' && note.path === path.replace(/^\/\d+/, ''),
    ),
  )
  const isNoted = (mark: string) => noted.some(({ value }) => String(value).includes(mark))
  const lost = [...marks].filter(
    mark => untouched.reported.includes(mark) && !there.reported.includes(mark) && !isNoted(mark),
  )
  return lost.length > 0 ? lost.join(' ') : undefined
}

const keyOf = ({ code, path }: Note) => `${code} ${path}`

function hasNews({ notes }: Translated, untouched: Translated): boolean {
  const known = new Set(untouched.notes.map(keyOf))
  return notes.some(note => !known.has(keyOf(note)))
}

/** A note that the untouched stream makes as well names the path, or a path above it. */
function covers({ name }: Protocol, notes: readonly Note[], { keys, event }: Mutation): boolean {
  const places = placesInResponse(name as ProtocolName, event as Record<string, unknown>, keys)
  return notes.some(
    ({ kind, path }) =>
      kind !== 'synthesized' &&
      path !== '' &&
      places.some(
        place => `${place}/`.startsWith(`${path}/`) || everyIndex(place) === everyIndex(path),
      ),
  )
}

/** The path of a part of an event in the complete response. */
function placesInResponse(
  name: ProtocolName,
  event: Record<string, unknown>,
  keys: readonly string[],
): string[] {
  const [first = '', place = '', ...more] = keys
  const rest = keys.slice(1)
  const [whole, inside] = [keys, rest].map(some => some.map(key => `/${key}`).join('')) as [
    string,
    string,
  ]
  const item = `/output/${String(event['output_index'])}`
  const content = `${item}/content/${String(event['content_index'])}`
  const block = `/content/${String(event['index'])}`
  // Candidates are counted by their own index.
  const index = valueIn(valueIn(event[first], place), 'index')
  const response = `/${first}/${String(index)}${more.map(key => `/${key}`).join('')}`
  const converseBlock = `/output/message/content/${String(valueIn(event[first], 'contentBlockIndex'))}`
  const homes: Record<ProtocolName, Record<string, string[]>> = {
    'chat-completions': { choices: [response.replace('/delta', '/message')] },
    responses: {
      item: [item + inside],
      part: [content + inside],
      annotation: [`${content}/annotations`],
      response: [inside],
    },
    messages: {
      content_block: [block + inside],
      delta: [block + inside, inside, `${block}/citations`],
      message: [inside],
    },
    'generate-content': { candidates: [response] },
    converse: {
      contentBlockStart: [converseBlock + inside.replace(/^\/start/, '')],
      contentBlockDelta: [
        converseBlock + inside.replace(/^\/delta/, ''),
        `${converseBlock}/citations`,
        `${converseBlock}/citationsContent/citations/0${inside.replace(/^\/delta\/citation/, '')}`,
      ],
      metadata: [inside],
    },
  }
  const home = homes[name][first] ?? (name === 'responses' ? [item + whole, content + whole] : [])
  return [whole, ...home]
}

/** May a stream with these events be the complete response? */
const mayEnd: Record<ProtocolName, (events: unknown[]) => boolean> = {
  // Every choice has an ending; and some servers end with `[DONE]` alone.
  'chat-completions': events =>
    events.includes('[DONE]') || allEnd(events, 'choices', 'finish_reason'),
  responses: events =>
    events.some(event => /^response\.(completed|incomplete)$/.test(typeOf(event))),
  // Some servers leave `message_stop` out.
  messages: events => events.some(event => /^message_(delta|stop)$/.test(typeOf(event))),
  'generate-content': events =>
    events.some(event => valueIn(event, 'promptFeedback')) ||
    allEnd(events, 'candidates', 'finishReason'),
  converse: events => events.some(event => valueIn(event, 'messageStop')),
}

const valueIn = (event: unknown, key: string): unknown =>
  typeof event === 'object' && event !== null ? (event as Record<string, unknown>)[key] : undefined
const typeOf = (event: unknown) => String(valueIn(event, 'type'))

function allEnd(events: unknown[], list: string, ending: string): boolean {
  const responses = new Map<unknown, boolean>()
  for (const event of events)
    for (const response of (valueIn(event, list) ?? []) as unknown[]) {
      const index = valueIn(response, 'index')
      responses.set(index, Boolean(valueIn(response, ending)) || responses.get(index) === true)
    }
  return responses.size > 0 && [...responses.values()].every(Boolean)
}

/** What need not be reported when it is changed, and why. */
const excuses: { where: RegExp; why: string }[] = [
  {
    where: /\/(object|role|message\/type|thinking\/\*\/type)$/,
    why: 'it only says what kind of body this is, and who speaks',
  },
  {
    where: /for \/(id|model|modelVersion|responseId|createTime)$/,
    why: 'a response is named once, where it begins',
  },
  { where: /\/usage(Metadata.*)?$/, why: 'counts are repeated: the last ones count' },
  { where: /\/chosenCandidates\//, why: 'logprobs are read as far as they are valid' },
  {
    where: /(delta\/reasoning|reasoning_details\/\*\/text)$/,
    why: 'one thought in two fields: one of them is read',
  },
  {
    where: /message_start\/message\/stop_(reason|sequence)$/,
    why: 'the finish reason is repeated at the end',
  },
  {
    where: /content_block_start\/content_block\/(signature|input)$/,
    why: 'the chunks after it count',
  },
  {
    where: /response\.(created|in_progress)\/response/,
    why: 'the first and the last snapshot count, and a response is named once, where it begins',
  },
  {
    where: /response\.(completed|incomplete)\/response\/(id|model)$/,
    why: 'a response is named once, where it begins',
  },
  { where: /response\.(completed|incomplete)\/response\/metadata/, why: 'it repeats the request' },
  {
    where: /response\.(completed|incomplete)\/response\/output\//,
    why: 'an item that has ended is not read again',
  },
  {
    where: /(response\..*\/(type|item_id|[a-z]+_index)|\/sequence_number)$/,
    why: 'the target of a chunk is in several fields, and servers differ in which of them are right',
  },
  {
    where: /response\.output_item\.(added|done)\/item\//,
    why: 'the content of an item is in chunks before its end, or in its end',
  },
  {
    where: /^(?!null|nothing).*response\.(content_part|reasoning_summary_part)\.(added|done)\/part/,
    why: 'the content of a part is in chunks, and again in the end of its item',
  },
  {
    where:
      /response\.(output_text\.annotation\.added\/annotation|content_part\.done\/part\/annotations\/\*)/,
    why: 'it is repeated by the end of its part',
  },
  {
    where: /response\.[a-z_]+\.(delta|done)\/(delta|text|arguments|input|refusal|name)$/,
    why: 'a text is in chunks, and again as a whole in the end of its item',
  },
  {
    where: /response\.output_text\.(delta|done)\/logprobs$/,
    why: 'logprobs are read as far as they are valid',
  },
]

const isExcused = ({ how }: Mutation) => excuses.some(({ where }) => where.test(how))
