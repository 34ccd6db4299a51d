import { collectEvent, startCollecting } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { Note } from '../../../src/canonical/note.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../../src/canonical/response.ts'
import {
  createStreamTranslator,
  type ProtocolName,
  translateError,
  translateRequest,
  translateResponse,
} from '../../../src/index.ts'
import { optionsFor } from '../../../src/kit/fields/option-groups.ts'
import type { CodecOptions, Protocol } from '../../../src/protocol.ts'
import { protocols } from '../../../src/protocols.ts'
import { encodeStream, framesOf } from '../../../src/testing/streams.ts'
import { written } from '../written.ts'

type Options = Omit<Parameters<typeof translateRequest>[1], 'from' | 'to'>

/** The smallest input that makes a note. */
export type Example = {
  kind: 'request' | 'response' | 'stream' | 'error'
  /** `canonical`: no protocol of the registry says it, but the model can hold it. */
  from: ProtocolName | 'canonical'
  to: ProtocolName
  /** Of a stream: its wire events; text is a frame that is no event. */
  body: unknown
  options?: Options
  /** Other codes that no smaller input avoids. */
  also?: string[]
  /**
   * Where the input and the output show it best, JSON pointers (of a stream: into the list of its
   * events); the note's own path if absent.
   */
  shows?: { source?: string; target?: string }
  /** The note is about an absent field: its path leads to where it would be. */
  unreported?: true
}

export type Outcome = { notes: Note[]; target: unknown }

export function outcomeOf({ kind, from, to, body, options }: Example): Outcome {
  if (from === 'canonical')
    return encoded(kind, protocols[to], body, optionsFor(protocols[to], options ?? {}))
  const all = { ...options, from, to }
  switch (kind) {
    case 'request':
      return named(translateRequest(body, all))
    case 'response':
      return named(translateResponse(body, all))
    case 'error': {
      const { notes, ...target } = translateError(body as Parameters<typeof translateError>[0], all)
      return { notes, target }
    }
    case 'stream': {
      const translator = createStreamTranslator(all)
      const frames = (body as unknown[]).map(event =>
        typeof event === 'string' ? `data: ${event}\n\n` : protocols[from].frames.write(event),
      )
      const text = frames.map(frame => translator.push(frame)).join('') + translator.end()
      return { notes: translator.notes, target: framesOf(text).map(({ wire }) => wire) }
    }
    default:
      return kind satisfies never
  }
}

function encoded(
  kind: Example['kind'],
  to: Protocol,
  body: unknown,
  options?: CodecOptions,
): Outcome {
  if (kind === 'stream') {
    const { wires, notes } = encodeStream(to, body as CanonicalEvent[], options)
    return { target: wires, notes }
  }
  const { wire, notes } =
    kind === 'request'
      ? written(body as CanonicalRequest, to, options)
      : to.encodeResponse(body as CanonicalResponse, options)
  return { target: wire, notes }
}

const named = ({ body, notes }: { body: unknown; notes: Note[] }): Outcome => ({
  target: body,
  notes,
})

/** What a JSON pointer leads to; undefined when it leads nowhere. */
export function at(value: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .reduce<unknown>((place, key) => {
      const own = key.replaceAll('~1', '/').replaceAll('~0', '~')
      return typeof place === 'object' && place !== null && Object.hasOwn(place, own)
        ? (place as Record<string, unknown>)[own]
        : undefined
    }, value)
}

/**
 * The bodies that notes point into, with where they stand: of a stream the complete response, each
 * event and what it holds, of an error the error's own body.
 */
function bodiesOf({ kind, from }: Example, whole: unknown): [place: string, body: unknown][] {
  if (kind === 'error')
    return [
      ['/body', at(whole, '/body')],
      ['', whole],
    ]
  if (kind !== 'stream') return [['', whole]]
  const events = (whole as unknown[]).map((event, index): [string, unknown] => [`/${index}`, event])
  const held = events.flatMap(([place, event]) =>
    Object.entries(Object(event)).map(([key, value]): [string, unknown] => [
      `${place}/${key}`,
      value,
    ]),
  )
  return [
    ['', whole],
    ...events,
    ...held,
    ['', from === 'canonical' ? undefined : gathered(protocols[from], whole as unknown[])],
  ]
}

/** The response that a stream of this protocol adds up to; undefined when it is none. */
function gathered({ streamDecoder, encodeResponse }: Protocol, events: unknown[]): unknown {
  const into = startCollecting()
  const state = streamDecoder.initial()
  try {
    for (const event of events) streamDecoder.step(state, event, one => collectEvent(into, one))
    return encodeResponse(into.response, { truncated: 'length' }).wire
  } catch {
    return undefined
  }
}

/** Where the path of a note leads in the source or the target of an example. Undefined: nowhere. */
export function pointedAt(example: Example, whole: unknown, path: string): string | undefined {
  const bodies = bodiesOf(example, whole)
  const holder = path.slice(0, path.lastIndexOf('/'))
  const found =
    bodies.find(([, body]) => at(body, path) !== undefined) ??
    (example.unreported ? bodies.find(([, body]) => isHolder(at(body, holder))) : undefined)
  return found && found[0] + path
}

const isHolder = (value: unknown) =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type More = Pick<Example, 'shows' | 'unreported'>

/**
 * Examples of what is written as one protocol; each maker takes the protocol that it comes from.
 */
export function makers(to: ProtocolName) {
  const maker =
    (kind: Example['kind']) =>
    (from: Example['from']) =>
    (body: unknown, options: Options = {}, also: string[] = [], more: More = {}): Example => ({
      kind,
      from,
      to,
      body,
      options,
      also,
      ...more,
    })
  return {
    request: maker('request'),
    response: maker('response'),
    stream: maker('stream'),
    error: maker('error'),
  }
}
