import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import type { Part, ReasoningSegment } from '../../src/canonical/message.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { all } from '../../src/testing/bodies.ts'
import { serialEvents } from '../../src/testing/events.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { clientOf, type Received } from '../support/clients/index.ts'
import { runs } from '../support/runs.ts'

const options = { now: 1_750_000_000 }

/** Not every accumulator knows calls of freeform tools. */
const receivedEvents = serialEvents.filter(events =>
  events.every(
    event =>
      event.type !== 'part.start' ||
      event.head.type !== 'tool-call' ||
      event.head.kind === 'function',
  ),
)

describe.each(all)('$name: the official client', protocol => {
  const { readStream, readResponse } = clientOf(protocol.name)

  test('receives the text, reasoning, sources and counts of a stream', async () => {
    await fc.assert(
      fc.asyncProperty(receivedEvents, async events => {
        const { response } = collect(events)
        const { text: stream, notes } = encodeStream(protocol, events, options)
        const { text, refusal, reasoning, cited, counts } = await readStream(stream)
        // A refusal without text gets one where the finish reason cannot express it (2.16).
        const words = wordsOf(response, ['text', 'refusal'])
        if (notes.some(({ code }) => code === 'refusal.synthesized'))
          expect(text).toBe(wordsOf(response, ['text']))
        else if (words || response.candidates[0]?.finish?.reason !== 'refusal')
          expect([words, wordsOf(response, ['text']) + wordsOf(response, ['refusal'])]).toContain(
            text + refusal,
          )
        if (reasoning !== undefined) expect(reasoningOf(response)).toContain(bare(reasoning))
        expect(new Set(cited)).toEqual(citationsOf(response))
        const isMerged = notes.some(({ code }) => code === 'usage.merged')
        expect(counts).toMatchObject(countsOf(response, isMerged ? counts : undefined))
      }),
      runs(1000),
    )
  })

  test('receives the same from a stream as from the complete response', async () => {
    await fc.assert(
      fc.asyncProperty(receivedEvents, async events => {
        const streamed = await readStream(encodeStream(protocol, events, options).text)
        const whole = await readResponse(
          protocol.encodeResponse(collect(events).response, options).wire,
        )
        const { reasoning = whole.reasoning, ...rest } = streamed
        expect({ ...rest, reasoning }).toEqual(whole)
      }),
      runs(1000),
    )
  })
})

/** The official clients show the first response. */
const partsOf = ({ candidates: [first] }: CanonicalResponse): Part[] =>
  (first?.messages ?? []).flatMap(({ parts }) => parts)

const wordsOf = (response: CanonicalResponse, types: Part['type'][]) =>
  partsOf(response)
    .map(part =>
      (part.type === 'text' || part.type === 'refusal') && types.includes(part.type)
        ? part.text
        : '',
    )
    .join('')

/** In the order in which it was thought, and of each part what was shown first. */
function reasoningOf(response: CanonicalResponse): string[] {
  const reasoning = partsOf(response).flatMap(part =>
    part.type === 'reasoning' ? [part.segments] : [],
  )
  const shownFirst = (segments: ReasoningSegment[]) =>
    segments.toSorted((a, b) => Number(a.kind === 'raw') - Number(b.kind === 'raw'))
  return [reasoning, reasoning.map(shownFirst)].map(all =>
    bare(all.flatMap(segments => segments.map(({ text }) => text)).join('')),
  )
}

const bare = (text: string) => text.replaceAll(/\s/g, '')

const citationsOf = (response: CanonicalResponse) =>
  new Set(
    partsOf(response).flatMap(part =>
      part.type === 'text' ? (part.citations ?? []).map(({ url }) => url) : [],
    ),
  )

/**
 * `received`: where a note reports that tokens of some kind are counted among the others, those
 * that were sent alone.
 */
function countsOf({ usage }: CanonicalResponse, received?: Received['counts']) {
  const { input, output, cacheRead, reasoning } = usage ?? {}
  const parts = received
    ? {
        ...(received.cacheRead !== undefined && { cacheRead }),
        ...(received.reasoning !== undefined && { reasoning }),
      }
    : { cacheRead, reasoning }
  return JSON.parse(JSON.stringify({ input, output, ...parts })) as object
}
