import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { fromSchema } from '../../src/testing/index.ts'
import { runs } from '../support/runs.ts'
import { runsAll, sampled } from '../support/sampled.ts'

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
const list: z.ZodType<List> = z.object({
  head: z.int(),
  tail: z.lazy(() => list).nullable(),
  more: z.lazy(() => list).optional(),
})
type Nodes = [(Nodes | undefined)?, (Nodes | undefined)?]
const pairOfNodes: z.ZodType<Nodes> = z.tuple([
  z.lazy(() => pairOfNodes).optional(),
  z.lazy(() => pairOfNodes).optional(),
])
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
type Tree = [Tree, Tree, Tree] | null
const bushy: z.ZodType<Tree> = z.union([
  z.tuple([z.lazy(() => bushy), z.lazy(() => bushy), z.lazy(() => bushy)]),
  z.null(),
])
const wide = z.object({
  get a() {
    return z.array(wide)
  },
  get b() {
    return z.array(wide)
  },
  get c() {
    return z.array(wide)
  },
  get d() {
    return z.array(wide)
  },
})
const nestedLists = Array.from({ length: 100 }).reduce<z.ZodType>(
  inner => z.array(inner).min(1),
  z.int(),
)
const required: z.ZodType = z.object({ a: z.lazy(() => required.optional()).nonoptional() })
const loop: z.ZodType = z.lazy(() => z.union([loop, z.string()]))
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

/**
 * Each level uses the one below twice, so walking all ways to the bottom would take a million
 * steps.
 */
const doubled = Array.from({ length: 8 }).reduce<z.ZodType>(
  inner => z.object({ left: inner, right: inner }),
  z.int(),
)
const doubledUnion = Array.from({ length: 20 }).reduce<z.ZodType>(
  inner => z.union([inner, z.array(inner)]),
  z.int(),
)

/** As TypeScript compiles an enum of numbers. */
const Level = { 0: 'low', 1: 'high', low: 0, high: 1 } as const

const kinds: Record<string, z.core.$ZodType> = {
  string: z.string(),
  'string of some length': z.string().min(30).max(40),
  'string with a prefix and a suffix': z.string().startsWith('a-').includes('b').endsWith('-c'),
  'string by pattern': z.string().regex(/^[A-Z]{3}-\d+$/),
  'uppercase string': z.string().uppercase(),
  'trimmed string': z.string().trim().min(1),
  'checked string of a known key': z.object({
    url: z.string().min(3),
    name: z.string().max(8),
    id: z.string().min(60),
  }),
  'z.string().email()': z.object({ mail: z.string().email() }),
  'string with a part at a position': z
    .string()
    .includes('part', { position: 3 })
    .startsWith('x')
    .endsWith('y')
    .min(20)
    .max(22),
  'very long string': z.string().min(100_000),
  'string by a pattern with lookarounds': z
    .string()
    .regex(/^(?=.*\d)(?=.*[a-z])(?!.*[()])[\w=(]{8,}$/),
  'string by a pattern with flags': z.string().regex(/^abc+$/giy),
  'string by a pattern and a length': z
    .string()
    .regex(/^[a-z]*$/)
    .length(37),
  'string by a pattern and a length that repeats one character': z.tuple([
    z
      .string()
      .regex(/^[0-9a-f]+$/)
      .length(64),
    z
      .string()
      .regex(/^[a-z]+-v\d$/)
      .min(1000)
      .max(1010),
    z
      .string()
      .regex(/^[a-z]$|^[a-z]{3}$/)
      .max(1),
  ]),
  'string by several patterns': z
    .string()
    .min(8)
    .regex(/[A-Z]{3}/)
    .regex(/\d{3}/)
    .regex(/[a-z]{3}/),
  'string by a pattern with a lookahead for a word': z.string().regex(/^(?=.*secret).*$/),
  'string by a pattern with word boundaries': z.tuple([
    z.string().regex(/\bfoo\b/),
    z.string().regex(/^a\Bb/),
    z.string().regex(/(?:)/),
  ]),
  'string by a pattern with escapes': z.tuple([
    z.string().regex(/^\x41\u0042[\]\d]{2}\.$/),
    z.string().regex(/^\u{1F600}{2}\p{L}$/u),
  ]),
  'string by a pattern and parts': z.tuple([
    z
      .string()
      .regex(/^[a-z_0-9]+$/)
      .startsWith('sk_live_'),
    z
      .string()
      .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
      .startsWith('abc-def'),
    z
      .string()
      .regex(/^[a-z.]+$/)
      .endsWith('.test.ts')
      .includes('q'),
  ]),
  'string by a pattern whose check is slow': z.tuple([
    z.string().regex(/^(a+)+$/),
    z.string().regex(/^(\w+\s?)*$/),
    z.string().regex(/^(x+x+)+y$/),
    z
      .string()
      .regex(/^(a|aa)+$/)
      .min(50),
  ]),
  'string by a pattern of repetitions within each other': z.tuple([
    z.string().regex(/^((((((((ab?)+c?)+d?)+e?)+f?)+g?)+h?)+i?)+$/),
    z.string().regex(/^((((a{1,100}){1,100}){1,100}){1,100})$/),
  ]),
  'string of overlapping parts': z.tuple([
    z.string().startsWith('abc').endsWith('cde').max(5),
    z.string().startsWith('ab').startsWith('abc'),
    z.string().includes('x').includes('x').max(1),
  ]),
  'changed string': z.tuple([
    z.string().normalize(),
    z.string().toUpperCase().min(3),
    z.string().slugify(),
    z.string().overwrite(text => text.slice(0, 2)),
  ]),
  'format with a part': z.tuple([
    z.uuid().startsWith('a'),
    z.url().startsWith('https://api.example.com/'),
    z.url().endsWith('.png'),
    z.email().endsWith('@acme.com'),
    z.email().startsWith('bob'),
    z.e164().startsWith('+49'),
    z.ipv4().startsWith('10.'),
  ]),
  'format in one case': z.tuple([
    z.email().lowercase(),
    z.email().uppercase(),
    z.uuid().uppercase(),
  ]),
  'format of some length': z.tuple([
    z.ipv4().max(8),
    z.ipv6().max(9),
    z.cidrv4().max(10),
    z.e164().length(15),
    z.emoji().min(10),
    z.emoji().length(2),
    z.jwt().min(200),
    z.base64url().min(30).max(31),
    z.base64url().max(3),
    z.base64().length(8),
    z.iso.time().min(12),
  ]),
  'email by a pattern': z.tuple([
    z.email({ pattern: /^[a-z]+@acme\.com$/ }),
    z.email({ pattern: z.regexes.html5Email }),
    z.email({ pattern: z.regexes.rfc5322Email }),
  ]),
  'format of your own': z.tuple([
    z.stringFormat('four', /^\d{4}$/),
    z.stringFormat('short', text => text.length < 9),
  ]),
  hashes: z.tuple([
    z.hash('md5'),
    z.hash('sha1', { enc: 'base64' }),
    z.hash('sha256', { enc: 'base64url' }),
    z.hash('sha512'),
  ]),
  hex: z.hex(),
  mac: z.tuple([z.mac(), z.mac({ delimiter: '-' })]),
  'credit card': z.creditCard(),
  iban: z.iban(),
  'currency code': z.currencyCode(),
  email: z.email(),
  'email of some length': z.tuple([z.email().min(60), z.email().max(12)]),
  url: z.url(),
  'url of some length': z.tuple([z.url().max(15), z.url().min(80)]),
  'url of a host': z.tuple([
    z.url({ hostname: /^example\.(com|org)$/ }),
    z.httpUrl(),
    z.url({ hostname: z.regexes.domain }),
  ]),
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
  'datetime with a precision': z.tuple([
    z.iso.datetime({ precision: 0 }),
    z.iso.datetime({ precision: -1 }),
    z.iso.datetime({ precision: 6, offset: true, local: true }),
    z.iso.time({ precision: 3 }),
  ]),
  duration: z.iso.duration(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  base64: z.base64(),
  'base64 of some length': z.base64().min(100),
  base64url: z.base64url(),
  jwt: z.jwt(),
  'jwt of an algorithm': z.jwt({ alg: 'RS256' }),
  e164: z.e164(),
  number: z.number(),
  'number in an object': z.object({ age: z.number().min(3).max(5) }),
  'number with one bound': z.object({
    low: z.number().min(1e6),
    high: z.number().max(-7),
    above: z.number().gt(0),
    below: z.number().lt(0),
  }),
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
  'number of a known key with a rule': z.object({
    n: z.number().refine(n => n % 2 === 0),
    budget_tokens: z.number().refine(n => n !== 0),
  }),
  'value of a known key with a rule': z.object({
    usage: z.any().refine(value => typeof value !== 'object'),
  }),
  'several multiples': z.number().multipleOf(3).multipleOf(7),
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
  'refined object': z
    .object({ low: z.int().min(0).max(9), high: z.int().min(0).max(9) })
    .refine(({ low, high }) => low <= high),
  'object that requires an undefined key': z.object({
    a: z.undefined(),
    b: z.union([z.string(), z.undefined()]),
  }),
  'object with keys of Object.prototype': z.object({
    constructor: z.number(),
    toString: z.string(),
    valueOf: z.unknown(),
  }),
  'recursive object': tree,
  'recursive union': node,
  'recursive tuple of three': bushy,
  'recursive object of many lists': wide,
  'lists within lists': nestedLists,
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
  'array of items with an index': z.array(z.object({ index: z.number().min(5) })).min(1),
  'array of different items': z
    .array(z.int())
    .min(3)
    .refine(items => new Set(items).size === items.length),
  'array with a checked property': z.array(z.int()).check(z.property('length', z.literal(2))),
  'array of nothing': z.array(z.never()),
  set: z.set(z.int()).min(2),
  'set of all values': z.set(z.enum(['a', 'b'])).size(2),
  map: z.map(z.string(), z.int()),
  'map of all keys': z.map(z.boolean(), z.int()).size(2),
  record: z.record(z.string(), z.int()),
  'record with listed keys': z.record(z.enum(['a', 'b']), z.int()),
  'record with listed optional keys': z.partialRecord(z.enum(['a', 'b']), z.int()),
  'record with keys of other kinds': z.tuple([
    z.record(z.enum(Level), z.string()),
    z.record(z.literal([1, 2]), z.string()),
    z.record(z.int(), z.string()),
    z.record(z.uuid(), z.int()),
    z.record(z.templateLiteral(['a-', z.int()]), z.int()),
    z.record(z.union([z.literal('a'), z.string().regex(/^x_/)]), z.int()),
    z.record(
      z.lazy(() => z.enum(['a', 'b'])),
      z.int(),
    ),
  ]),
  'loose record': z.object({ a: z.string() }).and(z.looseRecord(z.string().regex(/^x_/), z.int())),
  'record without values': z.record(z.string(), z.never()),
  'record with checked keys': z.record(z.string().regex(/^x_[a-z]+$/), z.boolean()),
  union: z.union([z.string(), z.int()]),
  'union with undefined': z.array(z.union([z.string(), z.undefined()])),
  'discriminated union': z.discriminatedUnion('type', [
    z.object({ type: z.literal('a') }),
    z.object({ type: z.literal('b'), x: z.int() }),
  ]),
  'intersection of objects': z.intersection(z.object({ a: z.string() }), z.object({ b: z.int() })),
  'intersection with shared keys': z
    .object({ n: z.object({ a: z.string() }) })
    .and(z.object({ n: z.object({ b: z.int().min(3) }) })),
  'intersection of lists': z
    .tuple([z.object({ a: z.int() })])
    .and(z.tuple([z.object({ b: z.int() })])),
  'intersection of texts': z
    .string()
    .regex(/^[a-z]+$/)
    .and(z.string().length(9)),
  'exclusive union': z.xor([z.object({ a: z.string() }), z.object({ b: z.int() })]),
  'union and its objects': z
    .object({ id: z.string() })
    .and(
      z.discriminatedUnion('t', [z.object({ t: z.literal('a') }), z.object({ t: z.literal('b') })]),
    ),
  'intersection of dates': z.date().and(z.date()),
  'union with never': z.union([z.never(), z.object({ a: z.never() }), z.string()]),
  'intersection of numbers': z.intersection(z.number().min(3).max(8), z.number().min(5).max(10)),
  literal: z.literal(['a', 1, null]),
  enum: z.enum(['a', 'b']),
  'enum of TypeScript': z.enum(Level),
  'template literal': z.templateLiteral(['v', z.int().min(0), '-', z.enum(['a', 'b'])]),
  'template literal of formats': z.templateLiteral([
    'x',
    z.email(),
    z.ipv6(),
    z.uuid(),
    z.string().min(3),
    z.string().optional(),
    z.null(),
    z.boolean(),
  ]),
  'exact optional': z.object({ a: z.string().exactOptional() }),
  success: z.success(z.string()),
  'coerced values': z.tuple([
    z.coerce.string(),
    z.coerce.number(),
    z.coerce.boolean(),
    z.coerce.date(),
    z.coerce.bigint(),
  ]),
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
  'boolean of your own words': z.stringbool({
    truthy: ['jawohl'],
    falsy: ['nein'],
    case: 'sensitive',
  }),
  'schema of a JSON schema': z.fromJSONSchema({
    type: 'object',
    properties: {
      a: { type: 'string', format: 'email' },
      b: { type: 'array', items: { type: 'integer' }, uniqueItems: true, minItems: 2 },
    },
    required: ['a', 'b'],
  }),
  'pipe to listed words': z.string().pipe(z.enum(['a', 'b'])),
  'pipe to a number': z.string().transform(Number).pipe(z.int().min(3)),
  'pipe through JSON': z.preprocess(
    value => JSON.parse(String(value)) as unknown,
    z.object({ a: z.int() }),
  ),
  codec: z.codec(z.iso.datetime(), z.date(), {
    decode: text => new Date(text),
    encode: date => date.toISOString(),
  }),
  'codec of JSON': z.codec(z.string(), z.json(), {
    decode(text, context) {
      try {
        return JSON.parse(text) as z.core.util.JSONType
      } catch {
        context.issues.push({ code: 'custom', input: text, message: 'no JSON' })
        return z.NEVER
      }
    },
    encode: value => JSON.stringify(value),
  }),
  'inverted codec': z.invertCodec(
    z.codec(z.string(), z.number(), { decode: Number, encode: String }),
  ),
  'recursive nonoptional': z.object({ a: z.lazy(() => tree.optional()).nonoptional() }),
  'transform that may throw': z.string().transform(text => {
    if (text.length > 9) throw new Error('too long')
    return text
  }),
  preprocess: z.preprocess(value => value, z.int().min(2)),
  brand: z.string().min(1).brand('id'),
  'refined by superRefine': z.int().superRefine((value, context) => {
    if (value % 3 !== 0) context.addIssue('no')
  }),
  'rarely accepted string': z
    .string()
    .min(1)
    .superRefine((text, context) => {
      if (text.length !== 7) context.addIssue('no')
    }),
  refined: z.int().refine(value => value % 2 === 0),
}

/** Takes a millisecond to reject. */
function isLate(): boolean {
  for (const end = performance.now() + 1; performance.now() < end; );
  return false
}

const withoutValues = [
  z.custom(),
  z.never(),
  z.promise(z.string()),
  z.symbol(),
  z.file().mime('image/png'),
  z.instanceof(URL),
  z.function(),
]

const slow: [what: string, schema: z.core.$ZodType, message: string][] = [
  ['a slow check', z.string().refine(isLate), 'rejects every generated value'],
]

describe('fromSchema', () => {
  test.each(sampled(Object.entries(kinds)))(
    'generates only values that the schema accepts: %s',
    (_, schema) => {
      fc.assert(
        fc.property(fromSchema(schema), value => z.safeParse(schema, value).success),
        runs(100),
      )
    },
  )

  test('covers every class of schema that zod exports', () => {
    const covered = new Set<unknown>()
    const walk = (value: unknown) => {
      if (typeof value !== 'object' || value === null || covered.has(value)) return
      covered.add(value)
      if ('_zod' in value) walk((value as unknown as z.core.$ZodType)._zod.def)
      if (value instanceof z.ZodLazy) walk(value.unwrap())
      for (const part of Object.values('_zod' in value ? {} : value)) walk(part)
    }
    walk([kinds, withoutValues])
    const classes = Object.entries(z).flatMap(([name, made]) =>
      /^Zod[A-Z].*(?<!Error)$/.test(name) && typeof made === 'function'
        ? [[name, made] as const]
        : [],
    )
    const missing = classes.filter(
      ([, made]) =>
        ![...covered].some(schema => schema instanceof (made as unknown as typeof z.ZodType)),
    )
    expect(missing.map(([name]) => name)).toEqual([])
  })

  test('generates values at both ends of a range', () => {
    expect(
      new Set(fc.sample(fromSchema(z.int().min(3).max(5)), { numRuns: 100, seed: 1 })),
    ).toEqual(new Set([3, 4, 5]))
  })

  test.each(withoutValues)('throws for a kind without generated values', schema => {
    expect(() => fromSchema(z.object({ field: schema as z.core.$ZodType }))).toThrow(
      /no values can be generated for the zod kind "\w+" at key "field"/,
    )
  })

  test.each<[string, z.core.$ZodType, string]>([
    [
      'a refinement',
      z.string().refine(text => text === 'one of a million'),
      'rejects every generated value',
    ],
    [
      'a refinement of an object',
      z.object({ a: z.int() }).refine(() => false),
      'rejects every generated value',
    ],
    [
      'a set of more values than there are',
      z.object({ all: z.set(z.boolean()).min(3) }),
      'zod schema of kind "set" rejects every generated value (too_small)',
    ],
    [
      'a map of more keys than there are',
      z.map(z.boolean(), z.int()).min(3),
      'rejects every generated value',
    ],
    ['sides that exclude each other', z.string().and(z.number()), 'rejects every generated value'],
    [
      'a check that throws',
      z.string().refine(() => {
        throw new Error('broken')
      }),
      'the check throws Error: broken',
    ],
    // It works for three seconds until it gives up.
    ...(runsAll() ? slow : []),
    [
      'an asynchronous codec',
      z.codec(z.string(), z.int(), {
        decode: async text => Number(text),
        encode: async value => String(value),
      }),
      'is asynchronous',
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
    [
      'a schema that requires itself behind an optional one',
      required,
      'requires itself without end',
    ],
    ['a schema that leads to itself', loop, 'leads to itself with nothing between'],
    [
      'a lazy schema that throws',
      z.lazy(() => {
        throw new Error('boom')
      }),
      'returns no schema, but throws Error: boom',
    ],
    ['a lazy schema of nothing', z.lazy(() => undefined as never), 'returns no schema'],
    [
      'a million items',
      z.array(z.int()).min(1e6),
      'the smallest value of the schema has about 1000000 parts',
    ],
    ['a million different items', z.set(z.int()).min(1e6), 'parts, which is too many'],
    [
      'a list that doubles at each level',
      Array.from({ length: 30 }).reduce<z.ZodType>(inner => z.array(inner).min(2), z.int()),
      'parts, which is too many',
    ],
    [
      'an object that doubles at each level',
      Array.from({ length: 25 }).reduce<z.ZodType>(l => z.object({ l, r: l }), z.int()),
      'parts, which is too many',
    ],
    [
      'thousands of levels',
      Array.from({ length: 4000 }).reduce<z.ZodType>(a => z.object({ a }), z.int()),
      'nested too deeply',
    ],
    ['a text without end', z.string().min(1e9), 'a text of 1000000000 characters is too long'],
    [
      'a text of any length',
      z.string().min(Number.POSITIVE_INFINITY),
      'a text of Infinity characters is too long',
    ],
    ['a pattern of long texts', z.string().regex(/^((a{1000}){1000}){1000}$/), 'is too long'],
    [
      'two patterns whose checks are slow',
      z
        .string()
        .regex(/^(a+)+$/)
        .regex(/^(a*)*b$/)
        .min(30),
      'both repeat repetitions',
    ],
    [
      'a lookaround whose check is slow',
      z.string().regex(/^(?!(a+)+b)a{30,}$/),
      'a lookaround of the pattern',
    ],
    ['a pattern of nothing', z.string().regex(/^a\bb$/), 'no text was found for the checks regex'],
    [
      'a part beyond the length',
      z.string().startsWith('abcdef').max(3),
      'no text was found for the checks starts_with, max_length',
    ],
    [
      'a part in another case',
      z.object({ a: z.string().startsWith('ABC').lowercase() }),
      'no text was found for the checks starts_with, lowercase',
    ],
    [
      'base64 of an odd length',
      z.base64().length(7),
      'no text was found for the checks base64, length_equals',
    ],
    ['a multiple of nothing', z.bigint().multipleOf(0n), 'no value lies within'],
    ['an invalid date', z.date().min(new Date(Number.NaN)), 'no value lies within'],
    [
      'an integer',
      z.int().gt(3).lt(4),
      'no value lies within the checks {"format":"safeint","exclusiveMinimum":3,"exclusiveMaximum":4}',
    ],
    ['a number', z.object({ low: z.number().min(5).max(3) }), 'at key "low"'],
    ['a bigint', z.bigint().gt(3n).lt(4n), 'no value lies within'],
    ['a multiple of a bigint', z.bigint().multipleOf(10n).gt(10n).lt(20n), 'no value lies within'],
    ['a date', z.date().min(new Date(10)).max(new Date(5)), 'no value lies within'],
    ['a length', z.string().min(5).max(2), 'no value lies within'],
    ['a list', z.array(z.int()).min(3).max(2), 'no value lies within'],
    [
      'a list of nothing',
      z.object({ list: z.array(z.never()).min(1) }),
      'no values can be generated for the zod kind "never" at key "list"',
    ],
    ['no options', z.union([]), 'no values can be generated for the zod kind "never"'],
    ['no words', z.enum([]), 'the zod kind "enum" lists no values'],
    [
      'a backreference',
      z.string().regex(/^(a|b)\1$/),
      'no text can be generated for the pattern /^(a|b)\\1$/',
    ],
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
