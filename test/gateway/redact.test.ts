import { describe, expect, test } from 'vitest'
import { withoutSecrets as withoutShapes } from '../../src/gateway/secret-shapes.ts'
import {
  createRedactor,
  redactText as redactedError,
  searchFor,
  secretsOf,
  withoutSecrets,
} from '../../src/gateway/upstream/redact.ts'
import type { TransportResponse } from '../../src/transports/transport.ts'

const key = 'sk-sk-0123456789'
const bytesOf = (text: string) => new TextEncoder().encode(text)

function redacted(secret: string, chunks: readonly Uint8Array[]): string {
  const redactor = createRedactor(searchFor(secret))
  return Buffer.concat([...chunks.map(redactor.push), redactor.end()]).toString()
}

/** The text as one chunk, byte by byte, and cut in two and in three at every place. */
function* cuts(text: string): Generator<Uint8Array[]> {
  const bytes = bytesOf(text)
  yield [bytes]
  yield Array.from(bytes, (_, at) => bytes.subarray(at, at + 1))
  for (let a = 0; a <= bytes.length; a++)
    for (let b = a; b <= bytes.length; b++)
      yield [bytes.subarray(0, a), bytes.subarray(a, b), bytes.subarray(b)]
}

describe('a key in a response', () => {
  test.each([
    ['alone', key, '***'],
    [
      'between other text',
      `data: {"error":"invalid key ${key}"}\n\n`,
      'data: {"error":"invalid key ***"}\n\n',
    ],
    ['twice, and then its beginning', `${key}${key} sk-sk-0123`, '****** sk-sk-0123'],
    ['after its own beginning', `sk-${key}`, 'sk-***'],
    ['all but its last letter', key.slice(0, -1), key.slice(0, -1)],
    ['in other letters than ASCII', `Schlüssel «${key}»: 鍵`, 'Schlüssel «***»: 鍵'],
    ['nowhere', 'Hello, sk-sk and sk-', 'Hello, sk-sk and sk-'],
  ])('is redacted wherever its bytes are split: %s', (_, text, expected) => {
    for (const chunks of cuts(text)) expect(redacted(key, chunks)).toBe(expected)
  })

  test('is redacted when it repeats itself', () => {
    for (const chunks of cuts('aaaaaaaaaaaaaaaaaaaaaaaaaaaaa'))
      expect(redacted('aaaaaaaaaaaa', chunks)).toBe('******aaaaa')
  })

  test('costs no copy when absent, and delays only bytes that could begin it', () => {
    const { push, end } = createRedactor(searchFor(key))
    const chunk = bytesOf('data: {"text":"sk-"}\n\n')
    expect(push(chunk)).toBe(chunk)
    expect(push(bytesOf('Hello sk-sk-'))).toEqual(bytesOf('Hello '))
    expect(push(bytesOf('!'))).toEqual(bytesOf('sk-sk-!'))
    expect(end()).toHaveLength(0)
  })
})

describe('a response', () => {
  const response = (chunks: (string | Uint8Array)[], left = () => {}): TransportResponse => ({
    status: 200,
    headers: { 'x-note': `for ${key}` },
    body: (async function* () {
      try {
        yield* chunks
      } finally {
        left()
      }
    })(),
  })
  const read = async ({ body }: TransportResponse) => {
    let text = ''
    for await (const chunk of body)
      text += typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)
    return text
  }

  test('has none of the keys of its channel in its body, headers and chunks of text', async () => {
    const headers = {
      authorization: 'Bearer second-secret-key',
      'api-key': 'third-secret-key',
      'x-title': 'no-secret-at-all',
    }
    const clean = withoutSecrets(
      response([`${key} second-sec`, 'ret-key, third-secret-key, no-secret-at-all, sk-']),
      { apiKey: key, headers },
    )
    expect(clean.headers).toEqual({ 'x-note': 'for ***' })
    expect(await read(clean)).toBe('*** ***, ***, no-secret-at-all, sk-')
  })

  const odd = 'sk/0123+456=<"789"&\'>'
  test.each([
    ['as JavaScript writes it', JSON.stringify(odd)],
    ['with slashes escaped, as PHP does', JSON.stringify(odd).replaceAll('/', '\\/')],
    ['as Go writes it', String.raw`"sk/0123+456=\u003c\"789\"\u0026'\u003e"`],
    ['as Gson writes it', String.raw`"sk/0123+456\u003d\u003c\"789\"\u0026\u0027\u003e"`],
    ['as .NET writes it', String.raw`"sk/0123\u002B456=\u003C\u0022789\u0022\u0026\u0027\u003E"`],
    ['in an address', `"${encodeURIComponent(odd)}"`],
  ])('has no key %s', async (_, json) => {
    const channel = { apiKey: odd, headers: {} }
    expect(await read(withoutSecrets(response([json]), channel))).toBe('"***"')
    expect(redactedError(json, channel)).toBe('"***"')
  })

  test('has no value of a header whose name marks a key', async () => {
    const headers = {
      'helicone-auth': 'Bearer first-secret-key',
      'ocp-apim-subscription-key': 'second-secret-key',
      'x-token': 'short',
      'x-keyboard': 'a-qwerty-layout',
    }
    const text = 'first-secret-key second-secret-key short a-qwerty-layout'
    expect(await read(withoutSecrets(response([text]), { headers }))).toBe(
      '*** *** short a-qwerty-layout',
    )
    expect(redactedError(text, { headers })).toBe('*** *** short a-qwerty-layout')
  })

  test.each([
    [
      'x',
      '{"code":"context_length_exceeded","message":"the max; you sent x, as \\"x\\""}',
      '{"code":"context_length_exceeded","message":"the max; you sent ***, as \\"***\\""}',
    ],
    [
      'key',
      '{"code":"invalid_api_key","message":"key-word, monkey: key"}',
      '{"code":"invalid_api_key","message":"key-word, monkey: ***"}',
    ],
    ['a.c+(', 'abc a.c+( a.c+(', 'abc *** ***'],
  ])('redacts the short key %s only as a separate word, in errors', (apiKey, text, shown) => {
    expect(redactedError(text, { apiKey, headers: {} })).toBe(shown)
  })

  test.each([undefined, '', 'EMPTY', 'ollama', 'lm-studio'])(
    'is returned unchanged when the key is %j',
    apiKey => {
      const original = response([])
      expect(withoutSecrets(original, { apiKey, headers: {} })).toBe(original)
    },
  )

  test('cancels its upstream when its reader stops', async () => {
    let left = false
    const original = response(['a', 'b'], () => {
      left = true
    })
    for await (const _ of withoutSecrets(original, { apiKey: key, headers: {} }).body) break
    expect(left).toBe(true)
  })
})

test.each(['apikey', 'x-authtoken', 'x-team-secret'])('the header %s holds a secret', name => {
  expect(secretsOf({ headers: { [name]: 'abcdef-0123456789' } })).toContain('abcdef-0123456789')
})

test.each(['\\n', '\\t', '\\u000a', ' ', '"', '(', ''])(
  'a key of a vendor after %j in JSON looks like one',
  before => {
    for (const key of ['sk-proj-0123456789abcdefghij', 'ghp_0123456789abcdefghijABCDEFGHIJ012345'])
      expect(withoutShapes(`${before}${key} rest`)).toBe(`${before}*** rest`)
  },
)

test('a word that ends like the beginning of a key is none', () => {
  for (const text of ['task-0123456789abcdefghij', 'disk_0123456789abcdefghij'])
    expect(withoutShapes(text)).toBe(text)
})
