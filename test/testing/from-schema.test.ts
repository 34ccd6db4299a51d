import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fromSchema } from '../../src/testing/index.ts'
import { runs } from '../support/runs.ts'

const tree = z.object({
  name: z.string(),
  get children() {
    return z.array(tree)
  },
})
/** As TypeScript compiles an enum of numbers. */
const Level = { 0: 'low', 1: 'high', low: 0, high: 1 } as const

const kinds: Record<string, z.core.$ZodType> = {
  string: z.string(),
  'string of some length': z.string().min(30).max(40),
  'string with a prefix and a suffix': z.string().startsWith('a-').includes('b').endsWith('-c'),
  'string by pattern': z.string().regex(/^[A-Z]{3}-\d+$/),
  'uppercase string': z.string().uppercase(),
  'trimmed string': z.string().trim().min(1),
  'checked string of a known key': z.object({ url: z.string().min(3), name: z.string().max(8), id: z.string().min(60) }),
  'z.string().email()': z.object({ mail: z.string().email() }),
  email: z.email(),
  url: z.url(),
  'url of a known key': z.object({ url: z.url({ protocol: /^https$/ }) }),
  uuid: z.uuid(),
  uuidv4: z.uuidv4(),
  uuidv7: z.uuidv7(),
  guid: z.guid(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
  nanoid: z.nanoid(),
  emoji: z.emoji(),
  datetime: z.iso.datetime(),
  'datetime with offset': z.iso.datetime({ offset: true }),
  'date string': z.iso.date(),
  'time string': z.iso.time(),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  base64: z.base64(),
  base64url: z.base64url(),
  jwt: z.jwt(),
  e164: z.e164(),
  number: z.number(),
  'number in an object': z.object({ age: z.number().min(3).max(5) }),
  'number with one bound': z.object({ low: z.number().min(1e6), high: z.number().max(-7), above: z.number().gt(0), below: z.number().lt(0) }),
  'narrow number': z.number().gt(0.25).lt(0.5),
  'number of a known key': z.object({ temperature: z.number().min(0).max(1), n: z.int().min(7) }),
  'multiple of a number': z.number().multipleOf(5).min(3).max(16),
  int: z.int(),
  'int within bounds': z.object({ count: z.int().min(7).max(9) }),
  'int without its ends': z.int().gt(7).lt(9),
  'int32 and uint32': z.tuple([z.int32(), z.uint32()]),
  'float32 and float64': z.tuple([z.float32(), z.float64()]),
  bigint: z.bigint(),
  'bigint within bounds': z.bigint().min(3n).max(5n),
  'positive bigint': z.bigint().positive(),
  'int64 and uint64': z.tuple([z.int64(), z.uint64()]),
  boolean: z.boolean(),
  date: z.date(),
  'date within bounds': z.date().min(new Date('2026-01-01')).max(new Date('2026-01-03')),
  null: z.null(),
  undefined: z.undefined(),
  void: z.void(),
  nan: z.nan(),
  any: z.any(),
  unknown: z.unknown(),
  json: z.json(),
  object: z.object({ a: z.string(), b: z.number().optional() }),
  'strict object': z.strictObject({ a: z.string() }),
  'loose object': z.looseObject({ a: z.string() }),
  'object with a catchall': z.object({ a: z.string() }).catchall(z.int()),
  'object with a forbidden key': z.object({ a: z.never().optional() }),
  'refined object': z.object({ low: z.int().min(0).max(9), high: z.int().min(0).max(9) }).refine(({ low, high }) => low <= high),
  'recursive object': tree,
  array: z.array(z.string()),
  'array with a minimum': z.array(z.string()).min(1),
  'array with a minimum beyond the default': z.array(z.int()).min(5).max(6),
  'array of a fixed length': z.array(z.boolean()).length(4),
  tuple: z.tuple([z.string(), z.int()]),
  'tuple with a rest': z.tuple([z.string()], z.boolean()),
  set: z.set(z.int()).min(2),
  map: z.map(z.string(), z.int()),
  record: z.record(z.string(), z.int()),
  'record with listed keys': z.record(z.enum(['a', 'b']), z.int()),
  'record with checked keys': z.record(z.string().regex(/^x_[a-z]+$/), z.boolean()),
  union: z.union([z.string(), z.int()]),
  'union with undefined': z.array(z.union([z.string(), z.undefined()])),
  'discriminated union': z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b'), x: z.int() })]),
  'intersection of objects': z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  'intersection of numbers': z.intersection(z.number().min(3).max(8), z.number().min(5).max(10)),
  literal: z.literal(['a', 1, null]),
  enum: z.enum(['a', 'b']),
  'enum of TypeScript': z.enum(Level),
  'template literal': z.templateLiteral(['v', z.int().min(0), '-', z.enum(['a', 'b'])]),
  optional: z.array(z.string().optional()),
  nullable: z.string().nullable(),
  nonoptional: z.object({ a: z.string().optional().nonoptional() }),
  default: z.string().default('x'),
  prefault: z.string().prefault('x'),
  catch: z.int().catch(1),
  readonly: z.array(z.int()).readonly(),
  lazy: z.lazy(() => z.int().min(1)),
  transform: z.string().transform(text => text.length),
  pipe: z
    .string()
    .transform(text => text.length)
    .pipe(z.number().min(5)),
  preprocess: z.preprocess(value => value, z.int().min(2)),
  brand: z.string().min(1).brand('id'),
  refined: z.int().refine(value => value % 2 === 0),
}

describe('fromSchema', () => {
  test.each(Object.entries(kinds))('generates only values that the schema accepts: %s', (_, schema) => {
    fc.assert(
      fc.property(fromSchema(schema), value => z.safeParse(schema, value).success),
      runs(100),
    )
  })

  test('generates values at both ends of a range', () => {
    expect(new Set(fc.sample(fromSchema(z.int().min(3).max(5)), { numRuns: 100, seed: 1 }))).toEqual(new Set([3, 4, 5]))
  })

  test.each([z.custom(), z.never(), z.promise(z.string()), z.symbol(), z.file(), z.instanceof(URL)])('throws for a kind without generated values', schema => {
    expect(() => fromSchema(z.object({ field: schema as z.core.$ZodType }))).toThrow(/no values can be generated for the zod kind "\w+" at key "field"/)
  })

  test('throws for a refinement that no generated value passes', () => {
    const schema = z.object({ word: z.string().refine(text => text === 'one of a million') })
    expect(() => fc.sample(fromSchema(schema), { numRuns: 1, seed: 1 })).toThrow('rejects every generated value')
  })

  test('throws for a schema that requires itself', () => {
    const endless = z.object({
      get next() {
        return endless
      },
    })
    expect(() => fromSchema(endless)).toThrow('no finite value')
  })

  test('throws for bounds that no number meets', () => {
    expect(() => fromSchema(z.int().gt(3).lt(4))).toThrow('no number lies within')
  })
})
