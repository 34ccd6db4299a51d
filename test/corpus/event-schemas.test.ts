import { describe, expect, test } from 'vitest'
import { type ProtocolName, translateStream } from '../../src/index.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import * as schemas from '../../src/schemas.ts'
import { richStreams } from '../support/rich-streams.ts'
import { corpusFiles, recordedStreams, shared, skipReason } from './data.ts'

const events = {
  'chat-completions': schemas.ChatCompletionsStreamEvent,
  responses: schemas.ResponsesStreamEvent,
  messages: schemas.MessagesStreamEvent,
  'generate-content': schemas.GenerateContentStreamEvent,
  converse: schemas.ConverseStreamEvent,
} as const
const errors = {
  'chat-completions': schemas.ChatCompletionsErrorResponse,
  responses: schemas.ResponsesErrorResponse,
  messages: schemas.MessagesErrorResponse,
  'generate-content': schemas.GenerateContentErrorResponse,
  converse: schemas.ConverseErrorResponse,
} as const

/** The data of the events of a stream in SSE. Lines that were cut off are left out. */
const dataIn = (text: string): unknown[] =>
  text.split(/\r?\n/).flatMap(line => {
    if (!line.startsWith('data:')) return []
    const data = line.slice('data:'.length).trim()
    if (data === '[DONE]') return [data]
    try {
      return [JSON.parse(data)]
    } catch {
      return []
    }
  })

const faultOf = (protocol: ProtocolName, event: unknown) => {
  const { error } = events[protocol].safeParse(event)
  return error ? [{ event, issues: error.issues }] : []
}
const sse = (data: unknown) => `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

for (const from of protocolNames) {
  const streams = Object.entries(richStreams[from])

  test.each(streams)(`the schema of ${from} events accepts the stream "%s"`, (_, stream) => {
    expect(stream.flatMap(event => faultOf(from, event))).toEqual([])
  })

  for (const to of protocolNames.filter(name => name !== from))
    test.each(streams)(
      `the schema of ${to} events accepts what the encoder writes for the ${from} stream "%s"`,
      async (_, stream) => {
        const chunks: Uint8Array[] = []
        for await (const chunk of translateStream(stream.map(sse), { from, to })) chunks.push(chunk)
        const bytes = Buffer.concat(chunks)
        const written = dataIn(
          Buffer.from(protocols[to].framing?.decode()(bytes) ?? bytes).toString(),
        )
        expect(written.length).toBeGreaterThan(0)
        expect(written.flatMap(event => faultOf(to, event))).toEqual([])
      },
    )

  describe.skipIf(!shared)(`captured ${from} traffic (${skipReason})`, () => {
    test('the schema of events accepts it', () => {
      const captured = [...corpusFiles(from, 'streams'), ...recordedStreams(from)].filter(
        ({ text }) => text.includes('data:'),
      )
      expect(captured.length).toBeGreaterThan(0)
      const faults = captured.flatMap(({ file, text }) =>
        dataIn(text).flatMap(event => faultOf(from, event).map(fault => ({ file, ...fault }))),
      )
      expect(faults).toEqual([])
    })

    test('the schema of error responses accepts it', () => {
      const bodies = corpusFiles(from, 'errors').map(({ text }) => JSON.parse(text) as unknown)
      expect(bodies.length).toBeGreaterThan(0)
      // One server of chat-completions has error bodies in a shape of its own.
      const known = bodies.filter(body => !Object.hasOwn(Object(body), 'detail'))
      expect(known.filter(body => !errors[from].safeParse(body).success)).toEqual([])
    })
  })
}
