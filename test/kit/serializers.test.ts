import { build } from 'esbuild'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import type { ModelInfo } from '../../src/protocol.ts'
import { all } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'
import { modelListFile, modelListShape, type Schema, serializers } from '../tools/serializers.ts'

/** With everything that needs an escape, and long enough for every way of writing a text. */
const text = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ minLength: 35, maxLength: 50, unit: fc.constantFrom('a', 'b') }),
  fc.string({
    maxLength: 60,
    unit: fc.constantFrom('a', '"', '\\', '\n', '\u0000', '\u2028', '\ud800', '\udc00', 'é', '😀'),
  }),
  fc.string({ minLength: 4990, maxLength: 5010, unit: fc.constantFrom('a', 'b') }),
)
const number = fc.oneof(fc.nat(), fc.integer(), fc.double())

/**
 * Values of a shape, with keys that are absent or undefined, and with unknown ones where the shape
 * allows them.
 */
function anyOf(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.type === 'string') return text
  if (schema.type === 'number') return number
  if (schema.type === 'array') return fc.array(anyOf(schema.items), { maxLength: 3 })
  const known = fc.record(
    Object.fromEntries(
      Object.entries(schema.properties).map(([key, value]) => [
        key,
        fc.oneof({ weight: 9, arbitrary: anyOf(value) }, fc.constant(undefined)),
      ]),
    ),
    { requiredKeys: [] },
  )
  if (!schema.additionalProperties) return known
  return fc
    .tuple(
      fc.dictionary(text, fc.oneof(fc.jsonValue(), fc.constant(undefined)), { maxKeys: 3 }),
      known,
    )
    .map(([others, value]) => ({ ...others, ...value }))
}

describe('the writer of model lists that the build puts in', () => {
  let code = ''
  let modelList: (body: unknown) => string
  beforeAll(async () => {
    const { outputFiles } = await build({
      entryPoints: [modelListFile],
      plugins: [serializers],
      bundle: true,
      format: 'esm',
      write: false,
    })
    code = outputFiles[0]?.text ?? ''
    modelList = (await import(`data:text/javascript,${encodeURIComponent(code)}`)).modelList
  })

  test('is generated, and creates no code', () => {
    expect(modelList).not.toBe(JSON.stringify)
    expect(code).not.toMatch(/\beval\b|\bFunction\b|\brequire\b|\bprocess\b/)
  })

  test('writes every value of its shape, with unknown keys, as JSON.stringify does', () => {
    fc.assert(
      fc.property(anyOf(modelListShape), value => {
        expect(JSON.parse(modelList(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
      runs(500),
    )
  })

  test.each(all.filter(({ address }) => address.listJson))(
    'writes the list of $name to the byte as JSON.stringify does',
    ({ address }) => {
      const model = fc.record(
        {
          id: text,
          owner: text,
          createdAt: fc.nat({ max: 4_000_000_000 }),
          contextTokens: fc.nat(),
          maxOutputTokens: fc.nat(),
          displayName: text,
        },
        { requiredKeys: ['id'] },
      )
      fc.assert(
        fc.property(fc.array(model, { maxLength: 3 }), models => {
          const body = address.list(models as ModelInfo[])
          expect(modelList(body)).toBe(JSON.stringify(body))
        }),
        runs(200),
      )
    },
  )
})
