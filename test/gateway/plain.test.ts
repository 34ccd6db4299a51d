import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { long, readJson } from '../../src/gateway/body/body.ts'
import { createMemory } from '../../src/gateway/memory.ts'
import {
  holdsEnvelope,
  joinId,
  wrapSignature,
  wrapSignatureInBase64,
} from '../../src/kit/signatures/envelope.ts'

const envelope = { signature: { issuer: 'anthropic', value: 'c2lnbmF0dXJl' } }
const wrapped = wrapSignature(envelope)
const inBase64 = wrapSignatureInBase64(envelope)
const inId = joinId('call_1', envelope.signature)

async function read(text: string) {
  async function* bytes() {
    yield new TextEncoder().encode(text)
  }
  return readJson(
    { headers: {}, body: { bytes: bytes() } },
    { bodyLimitBytes: 1e6, depthLimit: 128, memory: createMemory(1e6).share(undefined) },
  )
}

/** The letters of a text as JSON escapes. */
const escaped = (text: string) =>
  text.replace(/./g, letter => `\\u00${letter.charCodeAt(0).toString(16)}`)

describe.each([
  ['short', ''],
  ['long', 'x'.repeat(long)],
])('a %s body', (_, filling) => {
  test.each([
    ['of a wrapped signature', `"${wrapped}"`],
    ['of one in base64', `"${inBase64}"`],
    ['of one in an id', `"${inId}"`],
    ['of one with an escaped first letter', `"${escaped(wrapped.slice(0, 1))}${wrapped.slice(1)}"`],
    [
      'of one in base64 with an escaped letter',
      `"${inBase64.slice(0, 3)}${escaped(inBase64.slice(3, 4))}${inBase64.slice(4)}"`,
    ],
    ['of a damaged one', '"xs1."'],
    ['of one deep inside', `[{"a":[ "${wrapped}"]}]`],
  ])('is not plain because %s', async (_, value) => {
    expect((await read(`{"filling":"${filling}","value":${value}}`)).isPlain).toBe(false)
  })

  test.each(['"xs1"', '"eHMxLmV"', '"x"', '""', '"\\\\"', '"sig"', '[]', '"\\u003cxml>"'])(
    'with %s is plain',
    async value => {
      expect((await read(`{"filling":"${filling}","value":${value}}`)).isPlain).toBe(true)
    },
  )

  test('has no envelope anywhere when it is plain', async () => {
    const letter = fc.constantFrom('xs1.', 'eHMxLmV5', wrapped, inBase64, inId, 'x', '"', '\\', ' ')
    const text = fc.oneof(fc.string({ unit: letter, maxLength: 3 }), fc.string())
    const { value } = fc.letrec<{ value: unknown }>(tie => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(text, tie('value'), { maxKeys: 3 }),
      ),
    }))
    const spaced = fc.constantFrom(undefined, 1)
    await fc.assert(
      fc.asyncProperty(value, spaced, async (value, space) => {
        const { isPlain } = await read(JSON.stringify({ value, filling }, undefined, space))
        if (isPlain) expect(holdsEnvelope(value, 'any')).toBe(false)
      }),
    )
  })
})
