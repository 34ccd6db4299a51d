import fc from 'fast-check'
import { describe, test } from 'vitest'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { splitProperty } from '../../src/testing/properties.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { runs } from '../support/runs.ts'

const every = protocolNames.flatMap(from =>
  protocolNames.map(to => ({ name: `${from} → ${to}`, from, to })),
)

describe.each(every)('$name', ({ from, to }) => {
  test.each(from === to ? [{}, { model: 'another' }] : [{}])(
    'returns the same text, notes and usage at any split of the bytes: %j',
    settings => {
      fc.assert(
        splitProperty(from, () => translatorThatReportsAll(settings)),
        runs(1000),
      )
    },
  )

  /** What it knows when all is over is part of what it says. */
  function translatorThatReportsAll(settings: { model?: string }) {
    const translator = createStreamTranslator(protocols[from], protocols[to], settings)
    const rest = () => {
      const text = translator.end()
      const { notes, usage, finished } = translator
      return text + JSON.stringify({ notes, usage, finished })
    }
    return { push: translator.push, end: rest }
  }
})
