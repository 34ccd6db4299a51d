import { expect, test } from 'vitest'
import { faultsOf } from '../../src/gateway/output/faults.ts'

const place = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    degrees: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
  },
  required: ['city'],
  additionalProperties: false,
}

test.each([
  ['{"city": "Rome"}', place, undefined],
  ['{"city": "Rome", "degrees": null}', place, undefined],
  ['{}', undefined, undefined],
  ['[]', undefined, ['It is not a JSON object.']],
  ['{', place, ['It is not JSON.']],
  ['{"city": 1}', place, ['/city: Instance type "number" is invalid. Expected "string".']],
  ['{}', place, ['/: Instance does not have required property "city".']],
])('%s', async (text, schema, faults) => {
  expect(await faultsOf(text, schema)).toEqual(faults)
})

test('a schema without faults stays as it is', async () => {
  const schema = { type: 'object', properties: { pattern: { type: 'string', pattern: 'a' } } }
  const before = structuredClone(schema)
  // A member named as a keyword is checked; expressions are not.
  expect(await faultsOf('{"pattern": "b"}', schema)).toBeUndefined()
  expect(await faultsOf('{"pattern": 1}', schema)).toHaveLength(1)
  expect(schema).toEqual(before)
})

test('references are followed, and older drafts are known', async () => {
  const defs = { name: { type: 'string' } }
  const properties = { a: { $ref: '#/definitions/name' } }
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: defs,
    properties,
  }
  expect(await faultsOf('{"a": 1}', schema)).toHaveLength(1)
})

test('a schema that cannot be used is none to blame an answer for', async () => {
  await expect(faultsOf('{}', { $ref: '#/nowhere' })).rejects.toThrow()
})

test('neither schemas nor answers take forever', async () => {
  const started = performance.now()
  const slow = { type: 'object', properties: { a: { pattern: '^(a+)+$' } } }
  expect(await faultsOf(`{"a": "${'a'.repeat(60)}!"}`, slow)).toBeUndefined()
  expect(
    await faultsOf('{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!": 1}', {
      patternProperties: { '^(a+)+$': {} },
      additionalProperties: false,
    }),
  ).toBeUndefined()
  const unique = { type: 'array', uniqueItems: true }
  const many = JSON.stringify(Array.from({ length: 100_000 }, (_, i) => i))
  expect(await faultsOf(many, unique)).toBeUndefined()
  const twice = (name: string) => ({
    allOf: [{ $ref: `#/$defs/${name}` }, { $ref: `#/$defs/${name}` }],
  })
  const $defs = Object.fromEntries(
    Array.from({ length: 60 }, (_, i) => [`d${i}`, i === 59 ? {} : twice(`d${i + 1}`)]),
  )
  await expect(faultsOf('{}', { $defs, ...twice('d0') })).rejects.toThrow('repeats itself')
  expect(performance.now() - started).toBeLessThan(10_000)
})
