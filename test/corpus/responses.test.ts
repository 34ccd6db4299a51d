import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { collectEvent, startCollecting } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { encodeStream } from '../../src/testing/streams.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { clientOf } from '../support/clients/index.ts'
import { corpusFiles, shared, skipReason } from './data.ts'
import { expectEnding, expectReceived, expectReportedAlike } from './meaning.ts'
import { type Exceptions, tally } from './tally.ts'

const noCustomCalls =
  'the newest openai client for Node 20 cannot accumulate a streamed call of a custom tool, its own included'

const cutDeltas =
  'deltas were cut out of the recording, so its complete text at the end differs from the deltas; a note reports it'

const cutArguments =
  'arguments cut by the limit are no object, and kept as text inside of one; a note reports it'

const streamExceptions: Exceptions = {
  'responses/streams/lingua__openai.responsesAdditionalToolsMultipleToolsParam.followup.sse → chat-completions':
    noCustomCalls,
  'responses/streams/vercel-ai__openai.openai-custom-tool.1.sse → chat-completions': noCustomCalls,
  'responses/streams/vercel-ai__openai.openai-shell-container.1.sse → chat-completions': cutDeltas,
  'responses/streams/vercel-ai__openai.openai-shell-container.1.sse → messages': cutDeltas,
  'responses/streams/vercel-ai__openai.openai-shell-container.1.sse → generate-content': cutDeltas,
  'responses/streams/vercel-ai__openai.openai-shell-container.1.sse → converse': cutDeltas,
  'messages/streams/anthropic-sdk__anthropic.incomplete_partial_json_response.sse → generate-content':
    cutArguments,
}
const responseExceptions: Exceptions = {
  'responses/responses/lingua__openai.responsesAdditionalToolsMultipleToolsParam.followup.json → chat-completions':
    noCustomCalls,
  'responses/responses/vercel-ai__openai.openai-custom-tool.1.json → chat-completions':
    noCustomCalls,
}

const hasFailed = ({ candidates }: CanonicalResponse) =>
  candidates.some(({ finish }) => finish?.reason === 'error')

function collectText(
  protocol: ProtocolName,
  text: string,
): { response: CanonicalResponse; clean: boolean } {
  const into = startCollecting()
  const reader = createStreamReader(protocols[protocol], {}, event => collectEvent(into, event))
  reader.push(text)
  reader.end()
  return { response: into.response, clean: into.clean }
}

describe.skipIf(!shared)(`responses of real servers (${skipReason})`, () => {
  for (const from of protocolNames)
    for (const to of protocolNames.filter(name => name !== from)) {
      test(`captured ${from} streams are streams of ${to} for its official client`, async () => {
        const files = corpusFiles(from, 'streams').map(({ file, text }) => ({
          name: `${file} → ${to}`,
          text,
        }))
        await tally(`streams ${from} → ${to}`, files, streamExceptions, async ({ text }) => {
          const source = collectText(from, text)
          const translator = createStreamTranslator({
            from,
            to,
            now: 1_750_000_000,
          })
          const out = translator.push(text) + translator.end()
          if (!source.clean || hasFailed(source.response)) {
            await expect(clientOf(to).readStream(out)).rejects.toThrow()
            return
          }
          expectReceived(await clientOf(to).readStream(out), source.response, translator.notes)
          const back = collectText(to, out).response
          expectEnding(back, source.response, translator.notes)
          expectReportedAlike(back, source.response, translator.notes)
        })
      })

      test(`captured ${from} responses are responses and streams of ${to} for its official client`, async () => {
        const files = corpusFiles(from, 'responses').map(({ file, text }) => ({
          name: `${file} → ${to}`,
          text,
        }))
        await tally(`responses ${from} → ${to}`, files, responseExceptions, async ({ text }) => {
          const { value } = protocols[from].decodeResponse(JSON.parse(text))
          if (value.error) {
            expect(protocols[to].encodeError(value.error).wire.status).toBeGreaterThanOrEqual(400)
            return
          }
          if (hasFailed(value)) {
            const message = value.candidates.find(({ finish }) => finish?.reason === 'error')
              ?.finish?.message
            expect(protocols[to].encodeResponse(value).wire).toMatchObject(
              to === 'converse' ? { message } : { error: { message } },
            )
            return
          }
          if (value.candidates.some(({ finish }) => finish === undefined)) {
            expect(() => protocols[to].encodeResponse(value)).toThrow(
              expect.objectContaining({ code: 'truncated' }),
            )
            return
          }
          const { wire, notes } = protocols[to].encodeResponse(value, { now: 1_750_000_000 })
          expectReceived(await clientOf(to).readResponse(wire), value, notes)
          expectReportedAlike(protocols[to].decodeResponse(wire).value, value, notes)
          const options = { now: 1_750_000_000 }
          const streamed = encodeStream(protocols[to], explode(value), options)
          expectReceived(await clientOf(to).readStream(streamed.text), value, streamed.notes)
          const back = collectText(to, streamed.text).response
          expectEnding(back, value, streamed.notes)
          expectReportedAlike(back, value, streamed.notes)
        })
      })
    }
})
