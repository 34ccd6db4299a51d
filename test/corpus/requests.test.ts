import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/api.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../support/strict/index.ts'
import { corpusFiles, recordedRequests, shared, skipReason } from './data.ts'
import { asked, expectKept } from './meaning.ts'
import { type Exceptions, tally } from './tally.ts'

const stored = 'refers to something that only its own provider has stored, which is refused by default'

const recordedExceptions: Exceptions = {}
const capturedExceptions: Exceptions = {}

describe.skipIf(!shared)(`requests of real clients (${skipReason})`, () => {
  const recorded = recordedRequests()
  for (const from of protocolNames)
    for (const to of protocolNames.filter(name => name !== from)) {
      const cases = recorded.filter(({ protocol }) => protocol === from)
      test(`recorded ${from} requests reach ${to} and come back whole`, async () => {
        await tally(`recorded ${from} → ${to}`, cases, recordedExceptions, ({ body }) => {
          const there = translateRequest(body, { from, to })
          expect(strictOf(to).checkRequest(there.body)).toEqual([])
          const back = translateRequest(there.body, { from: to, to: from })
          expectKept(asked(protocols[from].decodeRequest(body).value), asked(protocols[from].decodeRequest(back.body).value))
        })
      })

      test(`captured ${from} requests reach ${to}`, async () => {
        const captured = corpusFiles(from, 'requests').map(({ file, text }) => ({ name: file, text }))
        await tally(`captured ${from} → ${to}`, captured, capturedExceptions, ({ text }) => {
          translateRequest(JSON.parse(text), { from, to })
        })
      })
    }
})
void stored
