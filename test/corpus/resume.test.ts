import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../src/canonical/event.ts'
import { checkGrammar } from '../../src/canonical/grammar.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { encodeStream, framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { callsOf, isPlain, joined, read, textOf } from '../support/joined.ts'
import { runsAll, sampled } from '../support/sampled.ts'
import { corpusFiles, recordedStreams, shared, skipReason } from './data.ts'

const pairs = protocolNames
  .flatMap(from => protocolNames.map(to => ({ from, to })))
  .map((pair, nth) => ({ ...pair, nth }))

/** Of each stream, other ones for each pair: between them the pairs cut nearly everywhere. */
const cutsOf = (text: string, nth: number): number[] => {
  const ends = endsOf(text)
  const most = runsAll() ? 10 : 3
  const step = Math.max(1, Math.ceil(ends.length / most))
  return ends.filter((_, i) => (i + nth) % step === 0)
}

const streamsOf = (name: ProtocolName) => [
  ...recordedStreams(name),
  ...corpusFiles(name, 'streams'),
]

const withoutPlace = (fault: string) => fault.replace(/^event \d+/, '')

const isFailed = (events: CanonicalEvent[]) =>
  events.some(event => event.type === 'error') || events.at(-1)?.type !== 'end'

/**
 * The calls as they were streamed. Captured streams had their paths replaced in the whole calls that
 * end them, but not where a path goes over several events.
 */
const streamedCalls = (events: CanonicalEvent[]) =>
  JSON.stringify(
    callsOf(
      events.map(event => {
        if (event.type !== 'part.end') return event
        const { final: _, ...end } = event
        return end
      }),
    ),
  )

/** Where each event of a stream ends. */
const endsOf = (text: string) =>
  [...text.matchAll(/\r?\n\r?\n/g)].map(({ index, 0: end }) => index + end.length)

describe.skipIf(!shared).each(pairs)(
  `captured streams of $from, cut at every frame, for clients of $to (${skipReason})`,
  ({ from, to, nth }) => {
    test('go on with what the client has, and stay legal', async () => {
      const strict = strictOf(to)
      const wiresOf = (events: CanonicalEvent[]) =>
        framesOf(encodeStream(protocols[to], events).text).map(({ wire }) => wire)
      const wrong: string[] = []
      let cuts = 0
      for (const { file, text } of sampled(streamsOf(from), 7)) {
        const whole = read(protocols[from], text, true)
        if (!isPlain(whole) || isFailed(whole) || !whole.some(({ type }) => type === 'finish'))
          continue
        // What its server leaves out is missing in every part of it.
        const uncut = wiresOf(whole)
        const known = new Set(strict.checkStream(uncut).map(withoutPlace))
        const outcome = strict.outcome(uncut)
        for (const at of cutsOf(text, nth)) {
          cuts++
          const first = read(protocols[from], text.slice(0, at), false)
          const { out, isGivenUp } = joined([first, whole])
          // Its content is all there, and nothing may be asked again.
          const isFinished = first.some(({ type }) => type === 'finish')
          if (out.at(-1)?.type !== 'end') out.push({ type: 'end', clean: false })
          const place = `${file} at ${at}`
          if (isGivenUp) wrong.push(`${place}: given up`)
          if (checkGrammar(out).length > 0) wrong.push(`${place}: ${checkGrammar(out)}`)
          if (textOf(out) !== textOf(whole)) wrong.push(`${place}: another text`)
          if (streamedCalls(out) !== streamedCalls(whole)) wrong.push(`${place}: other calls`)
          const wires = wiresOf(out)
          const faults = strict.checkStream(wires).map(withoutPlace)
          if (faults.some(fault => !known.has(fault)))
            wrong.push(`${place}: ${JSON.stringify(faults)}`)
          if (!isFinished && strict.outcome(wires) !== outcome)
            wrong.push(`${place}: another outcome`)
        }
      }
      expect(wrong.slice(0, 10)).toEqual([])
      expect(cuts).toBeGreaterThan(10)
    })
  },
)
