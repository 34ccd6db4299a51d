import { describe, expect, test } from 'vitest'
import * as z from 'zod/mini'
import { TranslationError } from '../../src/errors.ts'
import { check } from '../../src/kit/schema/check.ts'
import { open } from '../../src/kit/schema/wire.ts'

const Text = z.looseObject({ type: z.literal('text'), text: z.string() })
const Image = z.looseObject({
  type: z.literal('image'),
  source: z.looseObject({ url: z.string() }),
})
const Body = z.looseObject({ content: z.union([z.string(), z.array(open([Text, Image]))]) })

const faultOf = (wire: unknown) => {
  try {
    check('p', Body, wire)
  } catch (error) {
    if (TranslationError.is(error)) return `${error.code} ${error.path}`
  }
  return 'accepted'
}

describe('a wire value against its schema', () => {
  test.each([
    ['a known kind', { content: [{ type: 'text', text: 'a', more: 1 }] }],
    ['an unknown kind', { content: [{ type: 'hologram', x: { y: 1 } }] }],
  ])('%s is read with all its keys', (_, wire) => expect(check('p', Body, wire)).toEqual(wire))

  test.each([
    [
      'the deepest fault is named',
      {
        content: [
          { type: 'text', text: 'a' },
          { type: 'image', source: { url: 5 } },
        ],
      },
      'malformed /content/1/source/url',
    ],
    [
      'a known kind with a fault is not taken for an unknown one',
      { content: [{ type: 'text' }] },
      'malformed /content/0/text',
    ],
    ['an element without a type', { content: [{}] }, 'malformed /content/0/type'],
    ['a body of another shape', 5, 'malformed '],
  ])('%s', (_, wire, expected) => expect(faultOf(wire)).toBe(expected))

  test('for shapes that a key distinguishes, the fault is reported for the present key', () => {
    const Part = z.looseObject({
      part: z.union([
        z.looseObject({ text: z.string() }),
        z.looseObject({ image: z.looseObject({ url: z.string() }) }),
      ]),
    })
    expect(() => check('p', Part, { part: { image: 7 } })).toThrow(
      expect.objectContaining({ path: '/part/image' }),
    )
    expect(() => check('p', Part, { part: {} })).toThrow(
      expect.objectContaining({ path: '/part/text' }),
    )
  })

  test('keys that every object inherits are plain keys', () => {
    const wire: unknown = JSON.parse('{"content":"a","constructor":1,"toString":2}')
    expect(check('p', Body, wire)).toEqual(wire)
  })

  test.each([
    ['in the body', '{"content":"a","__proto__":{"polluted":true}}', 'malformed /__proto__'],
    [
      'in a part',
      '{"content":[{"type":"text","text":"a","__proto__":[]}]}',
      'malformed /content/0/__proto__',
    ],
    [
      'in a part of an unknown kind',
      '{"content":[{"type":"novelty","__proto__":1}]}',
      'malformed /content/0/__proto__',
    ],
  ])('a key that would be lost silently is refused: %s', (_, text, expected) =>
    expect(faultOf(JSON.parse(text))).toBe(expected),
  )

  test('where anything may stand, such a key is a key', () => {
    const wire: unknown = JSON.parse('{"content":"a","x":{"__proto__":{"polluted":true}}}')
    expect(JSON.stringify(check('p', Body, wire))).toBe(JSON.stringify(wire))
    expect('polluted' in {}).toBe(false)
  })
})
