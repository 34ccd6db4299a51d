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
type Node = { type: 'leaf' } | { type: 'pair'; left: Node; right: Node }
const node: z.ZodType<Node> = z.union([
  z.object({ type: z.literal('pair'), left: z.lazy(() => node), right: z.lazy(() => node) }),
  z.object({ type: z.literal('leaf') }),
])
type List = { head: number; tail: List | null; more?: List | undefined }
const list: z.ZodType<List> = z.object({ head: z.int(), tail: z.lazy(() => list).nullable(), more: z.lazy(() => list).optional() })
type Nodes = [(Nodes | undefined)?, (Nodes | undefined)?]
const pairOfNodes: z.ZodType<Nodes> = z.tuple([z.lazy(() => pairOfNodes).optional(), z.lazy(() => pairOfNodes).optional()])
const containers: z.ZodType = z.object({
  record: z.record(
    z.string(),
    z.lazy(() => containers),
  ),
  set: z.set(z.lazy(() => containers)),
  map: z.map(
    z.string(),
    z.lazy(() => containers),
  ),
  fallback: z.lazy(() => containers).default(null),
})
const endless = z.object({
  get next() {
    return endless
  },
})
const endlessList: z.ZodType = z.array(z.lazy(() => endlessList)).min(1)
const growing = (): z.ZodType =>
  z.object({
    get next() {
      return growing()
    },
  })

/** Each level uses the one below twice, so walking all ways to the bottom would take a million steps. */
const doubled = Array.from({ length: 8 }).reduce<z.ZodType>(inner => z.object({ left: inner, right: inner }), z.int())
const doubledUnion = Array.from({ length: 20 }).reduce<z.ZodType>(inner => z.union([inner, z.array(inner)]), z.int())

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
  'string with a part at a position': z.string().includes('part', { position: 3 }).startsWith('x').endsWith('y').min(20).max(22),
  'very long string': z.string().min(100_000),
  'string by a pattern with lookarounds': z.string().regex(/^(?=.*\d)(?=.*[a-z])(?!.*[()])[\w=(]{8,}$/),
  'string by a pattern with flags': z.string().regex(/^abc+$/giy),
  'string by a pattern and a length': z
    .string()
    .regex(/^[a-z]*$/)
    .length(37),
  email: z.email(),
  'email of some length': z.tuple([z.email().min(60), z.email().max(12)]),
  url: z.url(),
  'url of some length': z.tuple([z.url().max(15), z.url().min(80)]),
  'url of a host': z.tuple([z.url({ hostname: /^example\.(com|org)$/ }), z.httpUrl(), z.url({ hostname: z.regexes.domain })]),
  hostname: z.hostname(),
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
  'base64 of some length': z.base64().min(100),
  base64url: z.base64url(),
  jwt: z.jwt(),
  e164: z.e164(),
  number: z.number(),
  'number in an object': z.object({ age: z.number().min(3).max(5) }),
  'number with one bound': z.object({ low: z.number().min(1e6), high: z.number().max(-7), above: z.number().gt(0), below: z.number().lt(0) }),
  'narrow number': z.number().gt(0.25).lt(0.5),
  'number of a known key': z.object({ temperature: z.number().min(0).max(1), n: z.int().min(7) }),
  'multiple of a number': z.number().multipleOf(5).min(3).max(16),
  'multiple of a negative number': z.number().multipleOf(-5),
  'multiple of a fraction': z.number().multipleOf(0.01).min(0).max(1),
  'only one number': z.number().min(0.1).max(0.1),
  'huge number': z.number().gt(1e308),
  'largest integers': z.int().min(Number.MAX_SAFE_INTEGER - 1),
  int: z.int(),
  'int within bounds': z.object({ count: z.int().min(7).max(9) }),
  'int without its ends': z.int().gt(7).lt(9),
  'int32 and uint32': z.tuple([z.int32(), z.uint32()]),
  'float32 and float64': z.tuple([z.float32(), z.float64()]),
  bigint: z.bigint(),
  'bigint within bounds': z.bigint().min(3n).max(5n),
  'positive bigint': z.bigint().positive(),
  'multiple of a bigint': z.bigint().multipleOf(5n).gt(-10n).lt(11n),
  'huge bigint': z.bigint().min(10n ** 40n),
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
  'object that requires an undefined key': z.object({ a: z.undefined(), b: z.union([z.string(), z.undefined()]) }),
  'object with keys of Object.prototype': z.object({ constructor: z.number(), toString: z.string(), valueOf: z.unknown() }),
  'recursive object': tree,
  'recursive union': node,
  'recursive list': list,
  'recursive tuple': pairOfNodes,
  'recursive containers': containers,
  'recursive intersection': z.object({ a: z.int() }).and(z.object({ trees: z.array(tree) })),
  'shared schemas': z.tuple([doubled, doubledUnion]),
  array: z.array(z.string()),
  'array with a minimum': z.array(z.string()).min(1),
  'array with a minimum beyond the default': z.array(z.int()).min(5).max(6),
  'array of a fixed length': z.array(z.boolean()).length(4),
  tuple: z.tuple([z.string(), z.int()]),
  'tuple with a rest': z.tuple([z.string()], z.boolean()),
  'tuple with optional items': z.tuple([z.string(), z.int().optional(), z.never().optional()]),
  'array of nothing': z.array(z.never()),
  set: z.set(z.int()).min(2),
  'set of all values': z.set(z.enum(['a', 'b'])).size(2),
  map: z.map(z.string(), z.int()),
  'map of all keys': z.map(z.boolean(), z.int()).size(2),
  record: z.record(z.string(), z.int()),
  'record with listed keys': z.record(z.enum(['a', 'b']), z.int()),
  'record with listed optional keys': z.partialRecord(z.enum(['a', 'b']), z.int()),
  'record without values': z.record(z.string(), z.never()),
  'record with checked keys': z.record(z.string().regex(/^x_[a-z]+$/), z.boolean()),
  union: z.union([z.string(), z.int()]),
  'union with undefined': z.array(z.union([z.string(), z.undefined()])),
  'discriminated union': z.discriminatedUnion('type', [z.object({ type: z.literal('a') }), z.object({ type: z.literal('b'), x: z.int() })]),
  'intersection of objects': z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  'intersection with shared keys': z.object({ n: z.object({ a: z.string() }) }).and(z.object({ n: z.object({ b: z.int().min(3) }) })),
  'intersection of dates': z.date().and(z.date()),
  'union with never': z.union([z.never(), z.object({ a: z.never() }), z.string()]),
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
  'pipe to a boolean': z.stringbool(),
  'pipe to listed words': z.string().pipe(z.enum(['a', 'b'])),
  'pipe to a number': z.string().transform(Number).pipe(z.int().min(3)),
  'pipe through JSON': z.preprocess(value => JSON.parse(String(value)) as unknown, z.object({ a: z.int() })),
  codec: z.codec(z.iso.datetime(), z.date(), { decode: text => new Date(text), encode: date => date.toISOString() }),
  'transform that may throw': z.string().transform(text => {
    if (text.length > 9) throw new Error('too long')
    return text
  }),
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

  test.each<[string, z.core.$ZodType, string]>([
    ['a refinement', z.string().refine(text => text === 'one of a million'), 'rejects every generated value'],
    ['a refinement of an object', z.object({ a: z.int() }).refine(() => false), 'rejects every generated value'],
    ['a set of more values than there are', z.object({ all: z.set(z.boolean()).min(3) }), 'zod schema of kind "set" rejects every generated value (too_small)'],
    ['a map of more keys than there are', z.map(z.boolean(), z.int()).min(3), 'rejects every generated value'],
    ['sides that exclude each other', z.string().and(z.number()), 'rejects every generated value'],
    [
      'a check that throws',
      z.string().refine(() => {
        throw new Error('broken')
      }),
      'the check throws Error: broken',
    ],
    ['an asynchronous check', z.string().refine(async text => text !== ''), 'is asynchronous'],
  ])('throws while generating for %s that no value passes', (_, schema, message) => {
    const arbitrary = fromSchema(schema)
    expect(() => fc.sample(arbitrary, { numRuns: 1, seed: 1 })).toThrow(message)
  })

  test.each<[string, z.core.$ZodType, string]>([
    ['a schema that requires itself', endless, 'requires itself without end'],
    ['a list that requires itself', endlessList, 'requires itself without end'],
    ['a getter that makes new schemas', growing(), 'new schemas without end'],
    ['an integer', z.int().gt(3).lt(4), 'no value lies within the checks {"format":"safeint","exclusiveMinimum":3,"exclusiveMaximum":4}'],
    ['a number', z.object({ low: z.number().min(5).max(3) }), 'at key "low"'],
    ['a bigint', z.bigint().gt(3n).lt(4n), 'no value lies within'],
    ['a multiple of a bigint', z.bigint().multipleOf(10n).gt(10n).lt(20n), 'no value lies within'],
    ['a date', z.date().min(new Date(10)).max(new Date(5)), 'no value lies within'],
    ['a length', z.string().min(5).max(2), 'no value lies within'],
    ['a list', z.array(z.int()).min(3).max(2), 'no value lies within'],
    ['a list of nothing', z.object({ list: z.array(z.never()).min(1) }), 'no values can be generated for the zod kind "never" at key "list"'],
    ['no options', z.union([]), 'no values can be generated for the zod kind "never"'],
    ['no words', z.enum([]), 'the zod kind "enum" lists no values'],
    ['a backreference', z.string().regex(/^(a|b)\1$/), 'no text can be generated for the pattern /^(a|b)\\1$/'],
    ['a key that zod drops', z.object({ ['__proto__']: z.int() }), 'zod drops a key "__proto__"'],
    ['what is no schema', { parse() {} } as never, 'expected a schema of zod 4'],
  ])('throws at once for %s without values', (_, schema, message) => {
    expect(() => fromSchema(schema)).toThrow(message)
  })

  test('shrinks to a smaller value that the schema accepts', () => {
    const even = z
      .int()
      .min(0)
      .multipleOf(2)
      .refine(value => value !== 12)
    const { counterexample } = fc.check(
      fc.property(fromSchema(even), value => Number(value) < 11),
      { numRuns: 1000, seed: 1 },
    )
    expect(counterexample).toEqual([14])
  })
})
