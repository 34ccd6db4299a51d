import { describe, expect, test } from 'vitest'
import type { Note } from '../../../src/canonical/note.ts'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../../src/canonical/response.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { isObject } from '../../../src/kit/json/json.ts'
import { unwrapSignature } from '../../../src/kit/signatures/envelope.ts'
import type { Protocol } from '../../../src/protocol.ts'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { leaves } from '../../../src/testing/json.ts'
import { written } from '../../support/written.ts'
import { everyEvent, everyRequest, everyResponse } from './everything.ts'

const targets = Object.values(protocols).filter(({ name }) => name !== 'messages') as Protocol[]
const kinds = ['request', 'response'] as const
type Kind = (typeof kinds)[number]
const bodies: Record<Kind, unknown> = { request: everyRequest, response: everyResponse }

/** The body as the target writes it, with the notes of both halves. */
function cross(kind: Kind, wire: unknown, to: Protocol): { wire: unknown; notes: Note[] } {
  const { value, notes } =
    kind === 'request' ? messages.decodeRequest(wire) : messages.decodeResponse(wire)
  const options = {
    fieldNames: to === messages ? {} : messages.fieldNames,
    onUnresolvable: 'note' as const,
  }
  const there =
    kind === 'request'
      ? written(value as CanonicalRequest, to, options)
      : to.encodeResponse(value as CanonicalResponse, options)
  return { wire: there.wire, notes: [...notes, ...there.notes] }
}

/** All text of a body, with what its envelopes, data URLs and other data hold. */
function textOf(body: unknown): string {
  return leaves(body)
    .map(({ path, value }) => {
      const text = String(value)
      const data =
        /^data:[^,]*;base64,(.*)$/s.exec(text)?.[1] ??
        (/\/(inlineData\/data|redactedContent)$/.test(path) ? text : undefined)
      return `${path} ${unwrapSignature(text)?.signature.value ?? text} ${data === undefined ? '' : bytesOf(data)}`
    })
    .join('\n')
}

/** Invalid base64 is kept unchanged. */
const bytesOf = (data: string) => (/^[A-Za-z0-9+/]*=*$/.test(data) ? atob(data) : data)

const covers = (notes: readonly Note[], path: string) =>
  notes.some(
    note =>
      note.kind !== 'synthesized' &&
      note.path !== '' &&
      (path === note.path || path.startsWith(`${note.path}/`) || note.path.startsWith(`${path}/`)),
  )

/** Every object of a body, by its pointer. */
function objectsOf(value: unknown, path = ''): { path: string; keys: string[] }[] {
  if (Array.isArray(value))
    return value.flatMap((item, index) => objectsOf(item, `${path}/${index}`))
  if (!isObject(value)) return []
  return [
    { path, keys: path.split('/').slice(1) },
    ...Object.entries(value).flatMap(([key, item]) => objectsOf(item, `${path}/${key}`)),
  ]
}

/** The body with one more key in the object at that place. */
function withKey(body: unknown, keys: readonly string[]): unknown {
  const copy = structuredClone(body) as Record<string, unknown>
  let place = copy
  for (const key of keys) place = place[key] as Record<string, unknown>
  place['x_vendor'] = 'new 999999'
  return copy
}

/** Sums of counts are reported as other numbers. */
const isSum = (path: string) => /^\/usage\/input_tokens$/.test(path)

/**
 * Some protocols have the id of a response in a header, and its model in the path of the request.
 */
const isOutside = (path: string, { frames }: Protocol) =>
  frames.withoutModel === true && /^\/(id|model)$/.test(path)

describe.each(kinds)('a %s with everything in it', kind => {
  test('is written back unchanged, without a note', () => {
    const { wire, notes } = cross(kind, bodies[kind], messages)
    expect(wire).toEqual(bodies[kind])
    expect(notes).toEqual([])
  })

  test('is written back unchanged with an unknown key in any object', () => {
    const changed = objectsOf(bodies[kind]).filter(({ keys }) => {
      const body = withKey(bodies[kind], keys)
      const { wire, notes } = cross(kind, body, messages)
      return notes.length > 0 || JSON.stringify(sorted(wire)) !== JSON.stringify(sorted(body))
    })
    expect(changed.map(({ path }) => path)).toEqual([])
  })

  test.each(targets)('loses no value on its way to $name without a note', to => {
    const { wire, notes } = cross(kind, bodies[kind], to)
    const text = textOf(wire)
    const silent = leaves(bodies[kind]).filter(({ path, value }) => {
      const number = typeof value === 'number' && value >= 100 ? String(value) : undefined
      const telling = typeof value === 'string' ? /\d{6}/.exec(value)?.[0] : number
      return (
        telling !== undefined &&
        !isSum(path) &&
        !(kind === 'response' && isOutside(path, to)) &&
        !text.includes(telling) &&
        !covers(notes, path)
      )
    })
    expect(silent).toEqual([])
  })

  test.each(targets)('drops no unknown key on its way to $name without a note', to => {
    const silent = objectsOf(bodies[kind]).filter(({ path, keys }) => {
      const { wire, notes } = cross(kind, withKey(bodies[kind], keys), to)
      return !textOf(wire).includes('999999') && !covers(notes, `${path}/x_vendor`)
    })
    expect(silent.map(({ path }) => path)).toEqual([])
  })
})

/** Keys in one order, for comparison as text. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isObject(value)) return value
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map(key => [key, sorted(value[key])]),
  )
}

describe('a stream with everything in it', () => {
  const read = (events: readonly unknown[], to: ProtocolName) => {
    const translator = createStreamTranslator({ from: 'messages', to })
    const text =
      events.map(event => translator.push(`data: ${JSON.stringify(event)}\n\n`)).join('') +
      translator.end()
    return { text, notes: [...translator.notes], finished: translator.finished }
  }

  /**
   * All is noted as of the complete response; what belongs to a block that is lost, as that block.
   */
  const placeOf = (path: string, event: unknown) => {
    const { type, index, delta } = event as {
      type: string
      index?: number
      delta?: { type?: string }
    }
    const block = `/content/${index}`
    if (delta?.type === 'citations_delta' && path !== '/delta') return `${block}/citations`
    if (path.startsWith('/content_block')) return path.replace('/content_block', block)
    if (type === 'content_block_delta' && path === '/delta') return block
    return path.replace(/^\/(message|delta(?=$|\/container))/, '')
  }

  test.each(targets)('drops no unknown key on its way to $name without a note', ({ name }) => {
    const silent = everyEvent.flatMap((event, place) =>
      objectsOf(event)
        .filter(({ path, keys }) => {
          const events = everyEvent.map((other, index) =>
            index === place ? withKey(event, keys) : other,
          )
          const { text, notes, finished } = read(events, name as ProtocolName)
          return (
            !finished ||
            (!text.includes('999999') &&
              !covers(notes, `${path}/x_vendor`) &&
              !covers(notes, `${placeOf(path, event)}/x_vendor`))
          )
        })
        .map(({ path }) => `${event.type} ${path}`),
    )
    // What a start says of the input of a call is meant only where no text of it follows.
    expect(silent.filter(place => place !== 'content_block_start /content_block/input')).toEqual([])
  })
})
