import fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseInChunks, serializeInChunks } from '../../src/gateway/body/chunks.ts'
import { atOnce } from '../../src/gateway/body/long-work.ts'
import { membersOf } from '../../src/gateway/body/outline.ts'
import { translateRequest } from '../../src/index.ts'
import type { JsonObject } from '../../src/kit/json/json.ts'
import { attempt } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'
import {
  asking,
  listen,
  mounted,
  one,
  type Protocol,
  pairs,
  requests,
  responses,
  sendJson,
  upstream,
} from './support.ts'

const parsed = (...given: Parameters<typeof parseInChunks>) => atOnce(parseInChunks(...given))
const serialized = (...given: Parameters<typeof serializeInChunks>) =>
  atOnce(serializeInChunks(...given))
const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

const lists = fc.array(fc.jsonValue({ maxDepth: 2 }), { maxLength: 40, size: 'max' })
const objects = fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.jsonValue(), lists))
const spaces = fc.constantFrom(undefined, 1, '\t')

/** The order of keys counts too. */
const same = (value: unknown, expected: unknown) =>
  expect(JSON.stringify(value)).toBe(JSON.stringify(expected))

test('parses an object in chunks of any size as at once', () => {
  fc.assert(
    fc.property(objects, spaces, fc.nat(100), (object, space, apart) => {
      const text = JSON.stringify(object, undefined, space)
      const bytes = bytesOf(text)
      same(parsed(bytes, membersOf(bytes, { apart }) ?? []), JSON.parse(text))
    }),
    runs(1000),
  )
})

test.each([
  '{"a":[1,2,3,4],"a":[5,6,7,8]}',
  '{"a":[1,2,3,4],"\\u0061":1}',
  '{"__proto__":[1,2,3,4],"b":1}',
  '{"a":[[1,2],[3,{"b":[4,5]}],"6,7"],"c":{"d":[8,9,10,11]}}',
  '{"a":[ ],"b":[\n\n\n\n\n\n\n\n\n]}',
])('parses %s in chunks', text => {
  const bytes = bytesOf(text)
  same(parsed(bytes, membersOf(bytes, { apart: 2 }) ?? []), JSON.parse(text))
})

test('refuses what JSON.parse refuses', () => {
  fc.assert(
    fc.property(
      objects,
      fc.nat(),
      fc.constantFrom('\\x', '\n', '\u0000', '\\', '\\"', '\\u12'),
      fc.nat(100),
      (object, place, put, apart) => {
        const text = JSON.stringify(object)
        const at = place % text.length
        const damaged = textOf(bytesOf(text.slice(0, at) + put + text.slice(at)))
        const bytes = bytesOf(damaged)
        const members = membersOf(bytes, { apart })
        if (members)
          same(
            attempt(() => parsed(bytes, members)),
            attempt(() => JSON.parse(damaged) as unknown),
          )
      },
    ),
    runs(2000),
  )
})

test('serializes in chunks what JSON.stringify writes, for any expected length', () => {
  fc.assert(
    fc.property(objects, fc.nat(300), (object, expected) => {
      expect(textOf(serialized(object as JsonObject, expected))).toBe(JSON.stringify(object))
    }),
    runs(1000),
  )
})

test('leaves out undefined members, and writes null in lists', () => {
  const value = {
    a: undefined,
    b: [undefined, ...Array.from({ length: 20 }, (_, i) => (i % 2 ? undefined : '\ud800'))],
    c: [],
    d: undefined,
  }
  expect(textOf(serialized(value, 0))).toBe(JSON.stringify(value))
  expect(textOf(serialized({ a: undefined }, 0))).toBe('{}')
})

const turns = Array.from({ length: 300 }, (_, i) => `${i}: „${'ä'.repeat(i)}“ \\ "\u2028`)
const conversations: Record<Protocol, object> = {
  'chat-completions': {
    messages: turns.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })),
    max_completion_tokens: 10,
  },
  responses: {
    input: turns.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })),
    max_output_tokens: 10,
  },
  messages: {
    messages: turns.map((content, i) => ({ role: i % 2 ? 'assistant' : 'user', content })),
    max_tokens: 10,
  },
  'generate-content': {
    contents: turns.map((text, i) => ({ role: i % 2 ? 'model' : 'user', parts: [{ text }] })),
    generationConfig: { maxOutputTokens: 10 },
  },
}

test.each(pairs)(
  'a long conversation reaches the upstream as a short one does: %s → %s',
  async (from, to) => {
    const seen = await upstream(sendJson(200, responses[to]))
    const url = await listen(mounted(one(seen.url, to)))
    const [path, init] = asking(from, conversations[from] as { model?: string })
    expect((await fetch(url + path, init)).status).toBe(200)
    const model = from === 'generate-content' || to === 'generate-content' ? { model: 'm' } : {}
    const { body } = translateRequest(
      { ...requests[from], ...conversations[from] },
      { from, to, path, ...model },
    )
    expect(seen.calls[0]?.json).toEqual(body)
  },
)
