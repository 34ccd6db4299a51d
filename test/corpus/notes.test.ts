import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateResponse } from '../../src/api.ts'
import { explode } from '../../src/canonical/explode.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { attempt } from '../../src/testing/bodies.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { differences, notesOf, unlisted, used } from '../support/streamed-notes.ts'
import { corpusFiles, recordedResponses, shared, skipReason } from './data.ts'

const strictness = [true, ['dropped'], ['approximated']] as const

/** Does `strict` refuse the response, complete and as a stream? */
function refusalsOf(
  body: unknown,
  from: ProtocolName,
  to: ProtocolName,
  strict: (typeof strictness)[number],
): { whole: boolean; streamed: boolean } {
  const translator = createStreamTranslator({
    from,
    to,
    now: 1,
    strict,
  })
  translator.push(
    encodeStream(protocols[from], explode(protocols[from].decodeResponse(body).value)).text,
  )
  translator.end()
  return {
    whole: attempt(() => translateResponse(body, { from, to, now: 1, strict })) === undefined,
    streamed: translator.error !== undefined,
  }
}

const responsesOf = (from: ProtocolName) => [
  ...corpusFiles(from, 'responses').map(({ file, text }) => ({
    name: file,
    body: JSON.parse(text) as unknown,
  })),
  ...recordedResponses(from),
]

const pairs = protocolNames.flatMap(from =>
  protocolNames.filter(to => to !== from).map(to => ({ from, to })),
)

describe.skipIf(!shared)(`notes on responses of real servers (${skipReason})`, () => {
  test.each(pairs)('$from → $to: a streamed response is noted as the whole one', ({ from, to }) => {
    const faults: unknown[] = []
    let tried = 0
    for (const { name, body } of responsesOf(from)) {
      const reported = notesOf(body, from, to)
      if (!reported) continue
      tried++
      const only = {
        whole: unlisted('whole', reported.whole, reported.streamed),
        streamed: unlisted('streamed', reported.streamed, reported.whole),
      }
      if (only.whole.length + only.streamed.length > 0) faults.push({ name, only })
    }
    expect(tried, 'there is something to try').toBeGreaterThan(from === 'converse' ? 200 : 300)
    expect(faults).toEqual([])
  })

  test.each(pairs)(
    '$from → $to: strict refuses a stream and its whole response alike',
    ({ from, to }) => {
      const tried = { refused: 0, taken: 0 }
      const unlike: unknown[] = []
      for (const { name, body } of responsesOf(from))
        for (const strict of strictness) {
          const reported = notesOf(body, from, to)
          // Where only one form notes a fact, by the list, only one can be refused for it.
          if (!reported || !isDeepStrictEqual(reported.whole, reported.streamed)) continue
          const refusals = refusalsOf(body, from, to, strict)
          if (refusals.whole !== refusals.streamed) unlike.push({ name, strict, refusals })
          tried[refusals.whole ? 'refused' : 'taken']++
        }
      expect(unlike).toEqual([])
      expect(tried.refused, 'there is something to try').toBeGreaterThan(10)
    },
  )

  test('every listed difference is there', () => {
    expect(differences.filter(({ note }) => !used.has(note)).map(({ why }) => why)).toEqual([])
  })
})
