import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalError } from '../../src/canonical/error.ts'
import {
  messagesError,
  modelList,
  nestedError,
  statusError,
} from '../../src/kit/errors/serializers.generated.ts'
import { statusOfKind } from '../../src/kit/errors/status.ts'
import type { ModelInfo } from '../../src/protocol.ts'
import { all } from '../../src/testing/bodies.ts'
import { runs } from '../support/runs.ts'
import {
  serializers as generated,
  generatedFile,
  type Schema,
  shapes,
} from '../tools/serializers.ts'

const serializers = { nestedError, messagesError, statusError, modelList } satisfies Record<
  keyof typeof shapes,
  unknown
>

const written = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

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
function anyOf({
  type,
  nullable,
  properties = {},
  additionalProperties,
  items = {},
}: Schema): fc.Arbitrary<unknown> {
  if (type === 'string') return nullable ? fc.option(text) : text
  if (type === 'number') return number
  if (type === 'array') return fc.array(anyOf(items), { maxLength: 3 })
  if (type !== 'object') return fc.jsonValue()
  const known = fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([key, schema]) => [
        key,
        fc.oneof({ weight: 9, arbitrary: anyOf(schema) }, fc.constant(undefined)),
      ]),
    ),
    { requiredKeys: [] },
  )
  if (!additionalProperties) return known
  return fc
    .tuple(
      fc.dictionary(text, fc.oneof(fc.jsonValue(), fc.constant(undefined)), { maxKeys: 3 }),
      known,
    )
    .map(([others, value]) => ({ ...others, ...value }))
}

test('the generated code is what fast-json-stringify writes for the shapes (npm run fix writes it)', () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(generated())
})

test('the generated code creates no code', () => {
  expect(readFileSync(generatedFile, 'utf8')).not.toMatch(
    /\beval\b|\bFunction\b|\brequire\b|\bprocess\b/,
  )
})

describe.each(Object.entries(shapes))('%s', (name, shape) => {
  test('writes every value of its shape, with unknown keys, as JSON.stringify does', () => {
    fc.assert(
      fc.property(anyOf(shape), value => {
        expect(JSON.parse(serializers[name as keyof typeof shapes](value))).toEqual(written(value))
      }),
      runs(500),
    )
  })
})

describe.each(all)('$name', ({ name, encodeError, errorJson, address }) => {
  test('writes errors of other protocols and of the gateway to the byte as JSON.stringify does', () => {
    const error: fc.Arbitrary<CanonicalError> = fc
      .record(
        {
          status: fc.integer({ min: 400, max: 599 }),
          kind: fc.constantFrom(...(Object.keys(statusOfKind) as CanonicalError['kind'][])),
          message: text,
          type: text,
          code: fc.option(
            fc.oneof(text, fc.constantFrom('model_not_found', 'rate_limit_exceeded')),
          ),
          param: fc.option(fc.oneof(text, fc.constant('thread'))),
          requestId: text,
          retryAfterMs: fc.nat(),
          details: fc.oneof(fc.jsonValue(), fc.constant({ misalignment: { a: 1 }, more: 2 })),
          protocol: fc.constantFrom(
            ...all.map(protocol => protocol.name).filter(other => other !== name),
          ),
          raw: fc.jsonValue(),
        },
        { requiredKeys: ['status', 'kind', 'message'] },
      )
      .map(value => value as CanonicalError)
    fc.assert(
      fc.property(error, value => {
        const { body } = encodeError(value).wire
        expect(errorJson(body)).toBe(JSON.stringify(body))
      }),
      runs(500),
    )
    const body = { error: { message: 'of an error that could not be encoded' } }
    expect(errorJson(body)).toBe(JSON.stringify(body))
  })

  test('writes its listing to the byte as JSON.stringify does', () => {
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
        expect((address.listJson ?? JSON.stringify)(body)).toBe(JSON.stringify(body))
      }),
      runs(200),
    )
  })
})
