import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OptionWords } from '../../src/protocol.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { brokenStreamOf, cutStreamOf, streamOf } from '../../src/testing/properties.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { isGrave } from '../../src/testing/strict/faults.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

const pairs = protocolNames.flatMap(from =>
  protocolNames.filter(to => to !== from).map(to => ({ from, to })),
)

const worded = (words: OptionWords): fc.Arbitrary<unknown> => {
  if (words === 'flag') return fc.boolean()
  if (words === 'number') return fc.constantFrom(1, 16, 1000)
  return words === 'text' ? fc.constant('some') : fc.constantFrom(...words)
}

/** Any of the options of these protocols, each with any of its words. */
const optionsOf = (...names: ProtocolName[]): fc.Arbitrary<object> =>
  fc.record(
    Object.fromEntries(
      names.flatMap(name =>
        Object.entries<OptionWords>(protocols[name].options).map(([key, words]) => [
          key,
          worded(words),
        ]),
      ),
    ),
    {
      requiredKeys: [],
    },
  )

describe.each(pairs)('$from → $to', ({ from, to }) => {
  const { checkStream, outcome } = strictOf(to)
  const reported = (text: string, options: object) => {
    const translator = createStreamTranslator(protocols[from], protocols[to], options)
    return framesOf(translator.push(text) + translator.end()).map(({ wire }) => wire)
  }

  test('writes a legal stream with any options, except for keys of a requested dialect', () => {
    fc.assert(
      fc.property(
        fc.oneof(streamOf(from), brokenStreamOf(from)),
        optionsOf(from, to),
        (text, options) => {
          expect(checkStream(reported(text, options)).filter(isGrave)).toEqual([])
        },
      ),
      runs(300),
    )
  })

  test('never makes a cut-off stream look finished with any options', () => {
    fc.assert(
      fc.property(cutStreamOf(from), optionsOf(from, to), (text, options) => {
        expect(outcome(reported(text, options))).not.toBe('success')
      }),
      runs(300),
    )
  })
})
