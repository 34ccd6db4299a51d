import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { collectEvent, startCollecting } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { protocolNames, protocols, type ProtocolName } from '../../src/protocols/index.ts'
import { createStreamReader } from '../../src/translate/stream.ts'
import { clientOf } from '../support/clients/index.ts'
import { corpusFiles, shared, skipReason } from './data.ts'
import { expectEnding, expectHeard } from './meaning.ts'
import { type Exceptions, tally } from './tally.ts'

const streamExceptions: Exceptions = {}
const responseExceptions: Exceptions = {}

function collectText(protocol: ProtocolName, text: string): { response: CanonicalResponse; clean: boolean } {
  const into = startCollecting()
  const reader = createStreamReader(protocols[protocol], {}, event => collectEvent(into, event))
  reader.push(text)
  reader.end()
  return { response: into.response, clean: into.clean }
}

describe.skipIf(!shared)(`replies of real servers (${skipReason})`, () => {
  for (const from of protocolNames)
    for (const to of protocolNames.filter(name => name !== from)) {
      test(`captured ${from} streams are streams of ${to} for its official client`, async () => {
        const files = corpusFiles(from, 'streams').map(({ file, text }) => ({ name: file, text }))
        await tally(`streams ${from} → ${to}`, files, streamExceptions, async ({ text }) => {
          const source = collectText(from, text)
          const translator = createStreamTranslator({ from, to, now: 1_750_000_000 })
          const out = translator.push(text) + translator.end()
          if (!source.clean) {
            await expect(clientOf(to).readStream(out)).rejects.toThrow()
            return
          }
          expectHeard(await clientOf(to).readStream(out), source.response)
          expectEnding(collectText(to, out).response, source.response, translator.notes)
        })
      })

      test(`captured ${from} replies are replies and streams of ${to} for its official client`, async () => {
        const files = corpusFiles(from, 'responses').map(({ file, text }) => ({ name: file, text }))
        await tally(`replies ${from} → ${to}`, files, responseExceptions, async ({ text }) => {
          const { value } = protocols[from].decodeResponse(JSON.parse(text))
          if (value.error) {
            expect(protocols[to].encodeError(value.error).wire.status).toBeGreaterThanOrEqual(400)
            return
          }
          const { wire } = protocols[to].encodeResponse(value, { now: 1_750_000_000 })
          expectHeard(await clientOf(to).readResponse(wire), value)
          const state = protocols[to].streamEncoder.initial({ now: 1_750_000_000 })
          let out = ''
          const write = (event: unknown) => {
            out += protocols[to].frames.write(event)
          }
          for (const event of explode(value)) protocols[to].streamEncoder.step(state, event, write)
          protocols[to].streamEncoder.end(state, write)
          expectHeard(await clientOf(to).readStream(out), value)
          expectEnding(collectText(to, out).response, value, state.notes)
        })
      })
    }
})
