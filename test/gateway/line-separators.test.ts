import { describe, expect, test } from 'vitest'
import { createStreamTranslator, explodeResponse } from '../../src/index.ts'
import { escapeLineSeparatorBytes, escapeLineSeparators } from '../../src/sse/line-separators.ts'
import { type Covered, covered } from '../support/covered.ts'
import {
  hostsOf,
  one,
  pathOf,
  post,
  requests,
  responses,
  sendStream,
  sent,
  upstream,
} from './support.ts'

const text = 'a\u2028b\u2029c\u2027 é 中 \u{1f600}'
const raw = /[\u2028\u2029]/

test('escapes both separators in text and in bytes, and nothing else', () => {
  const json = JSON.stringify({ text })
  const escaped = escapeLineSeparators(json)
  expect(escaped).not.toMatch(raw)
  expect(JSON.parse(escaped)).toEqual({ text })
  expect(new TextDecoder().decode(escapeLineSeparatorBytes(new TextEncoder().encode(json)))).toBe(
    escaped,
  )
  const plain = new TextEncoder().encode('é \u2027')
  expect(escapeLineSeparatorBytes(plain)).toBe(plain)
})

/** A stream of the protocol whose text deltas hold both characters as they are. */
function streamOf(protocol: Covered, words: string): string {
  const body = responses[protocol]
  const frames = explodeResponse(body, { protocol })
  return frames.replaceAll('Hello', words)
}

describe.each(covered)('from %s', from => {
  test.each(covered.filter(to => to !== from))('writes no raw line separator toward %s', to => {
    for (const size of [7, 100_000]) {
      const stream = streamOf(from, text)
      expect(stream).toMatch(raw)
      const translator = createStreamTranslator({ from, to })
      let out = ''
      for (let at = 0; at < stream.length; at += size)
        out += translator.push(stream.slice(at, at + size))
      out += translator.end()
      expect(out).not.toMatch(raw)
      expect(out).toContain('\\u2028')
    }
  })
})

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(covered)(
    'a stream of %s passes with the separators that its clients can read',
    async protocol => {
      const stream = streamOf(protocol, text)
      const seen = await upstream(
        sendStream([stream.slice(0, stream.length / 2), stream.slice(stream.length / 2)]),
      )
      const ask = await start(one(seen.url, protocol))
      const body = await (
        await ask(
          pathOf(protocol, { stream: true }),
          post({ ...requests[protocol], ...(protocol !== 'generate-content' && { stream: true }) }),
        )
      ).text()
      expect(await sent(body, protocol)).toContain(text)
      if (protocol === 'generate-content') expect(body).not.toMatch(raw)
      else expect(body).toContain(text)
    },
  )
})
