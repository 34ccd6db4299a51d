import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collectEvent, startCollecting } from '../../src/canonical/collect.ts'
import type { CanonicalResponse, Finish } from '../../src/canonical/response.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { createStreamReader } from '../../src/translate/stream-reader.ts'
import { shared, skipReason, twins } from './data.ts'
import { type Exceptions, tally } from './tally.ts'

const read = (file: string) => readFileSync(join(shared ?? '', 'corpus', file), 'utf8')

/** What a model chooses: citations, signatures of reasoning, callers; and positions. */
const chosen = new Set(['at', 'ext', 'citations', 'logprobs', 'signature', 'redacted', 'caller'])

/**
 * What a server sends besides the text. Two runs of one request differ in the model's text or
 * tools. The form of each kind of part, and the fields of the response, are the same complete and
 * streamed.
 */
function outline({ id, createdAt, candidates, usage, error, promptBlocked }: CanonicalResponse) {
  const parts: Record<string, string[]> = {}
  for (const { messages } of candidates)
    for (const { role, origin, parts: message } of messages)
      for (const part of message) {
        const kind = `${role} ${part.type}`
        const reported = Object.keys(part).filter(key => !chosen.has(key))
        parts[kind] = [...new Set([...(parts[kind] ?? []), `origin ${origin}`, ...reported])].sort()
      }
  // Servers put the ending in words now and then.
  const notes = {
    id: id !== undefined,
    created: createdAt !== undefined,
    error: error?.kind,
    promptBlocked: promptBlocked?.reason,
  }
  return {
    notes,
    parts,
    ends: candidates.map(({ index, finish: { message: _, ...finish } = {} as Finish }) => ({
      index,
      ...finish,
    })),
    counts: Object.keys(usage ?? {}),
  }
}

function expectTwins(one: CanonicalResponse, other: CanonicalResponse): void {
  const [whole, streamed] = [outline(one), outline(other)]
  expect(streamed.notes).toEqual(whole.notes)
  for (const kind of Object.keys(whole.parts))
    if (Object.hasOwn(streamed.parts, kind))
      expect(streamed.parts[kind], kind).toEqual(whole.parts[kind])
  // The same kinds of parts were sent, so the finish reason is the same.
  if (Object.keys(whole.parts).join() === Object.keys(streamed.parts).join())
    expect(streamed.ends).toEqual(whole.ends)
  // A stream of chat completions has usage only on request.
  if (streamed.counts.length > 0)
    expect(streamed.counts).toEqual(
      expect.arrayContaining(['input', 'output'].filter(key => whole.counts.includes(key))),
    )
}

function collected(protocol: ProtocolName, text: string): CanonicalResponse {
  const into = startCollecting()
  const reader = createStreamReader(protocols[protocol], {}, event => collectEvent(into, event))
  reader.push(text)
  reader.end()
  return into.response
}

const noEnd = 'the complete response was recorded without its finish reason'

const exceptions: Exceptions = {
  'generate-content/streams/google-js__gemini.streaming-success-basic-reply-long.sse': noEnd,
  'generate-content/streams/google-js__gemini.streaming-success-basic-reply-short.sse': noEnd,
}

describe.skipIf(!shared).each(protocolNames.filter(name => !shared || twins(name).length > 0))(
  `the same exchange of %s, whole and streamed (${skipReason})`,
  protocol => {
    test('has the same canonical form', async () => {
      const pairs = twins(protocol).map(({ whole, streamed }) => ({
        name: streamed,
        whole,
        streamed,
      }))
      await tally(`twins ${protocol}`, pairs, exceptions, ({ whole, streamed }) => {
        expectTwins(
          protocols[protocol].decodeResponse(JSON.parse(read(whole))).value,
          collected(protocol, read(streamed)),
        )
      })
    })
  },
)
