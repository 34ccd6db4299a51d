import fc, { type Arbitrary } from 'fast-check'
import { regexes } from 'zod'
import { lengths } from './bounds.ts'
import { type Bag, type Def, refusal } from './definition.ts'
import { followed, type How, hasSlowLookaround, isSlow, longest } from './patterns.ts'
import { wordsOf } from './typical.ts'

/** The number makes a text recognizable when it appears elsewhere. */
export const shortText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('hello', 'a b', 'ünï', '🙂', '{"a":1}', 'line\n'),
        fc.integer({ min: 100_000, max: 999_999 }),
      )
      .map(([text, mark]) => `${text} ${mark}`),
  },
  { weight: 1, arbitrary: fc.constantFrom('', '\n', '<system>x</system>') },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }) },
)

/** Any JSON value that survives stringify and parse: no -0, no deep nesting. */
export const json: Arbitrary<unknown> = fc
  .oneof(
    { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
    { weight: 1, arbitrary: fc.record({ type: shortText, text: shortText }, { requiredKeys: [] }) },
  )
  .map(value => JSON.parse(JSON.stringify(value)) as unknown)

/** Text for a key whose schema does not restrict it. */
export function textFor(key: string): Arbitrary<unknown> {
  const known = wordsOf(key)
  return known.length > 0
    ? fc.oneof(
        { weight: 6, arbitrary: fc.constantFrom(...known) },
        { weight: 1, arbitrary: shortText },
      )
    : shortText
}

type Lengths = { minLength: number; maxLength: number }

/** Text of the formats that have no pattern, or one that fast-check cannot follow. */
const formats: Record<
  string,
  (of: { def: Def; isBounded: boolean } & Lengths) => Arbitrary<string>
> = {
  email: ({ minLength }) =>
    fc
      .stringMatching(/^[a-z0-9]{1,8}@[a-z0-9]{1,8}\.(com|org|example)$/)
      .map(text => 'x'.repeat(Math.max(0, minLength - text.length)) + text),
  url: urlText,
  uuid: () => fc.uuid(),
  guid: () => fc.uuid(),
  ipv4: () => fc.ipV4(),
  ipv6: () => fc.ipV6(),
  emoji: ({ minLength, maxLength }) =>
    fc
      .array(fc.constantFrom('🙂', '🎉', '🚀'), {
        minLength: Math.max(1, Math.ceil(minLength / 2)),
        maxLength: Math.max(1, Math.floor(maxLength / 2)),
      })
      .map(all => all.join('')),
  datetime: () =>
    fc
      .date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2099-12-31') })
      .map(date => date.toISOString()),
  jwt: ({ def, minLength }) =>
    fc
      .base64String({ minLength: 4 })
      .map(
        text =>
          `${jwtHeader(def.alg)}.eyJzdWIiOiIxIn0.${text.replaceAll(/\W/g, '').padEnd(minLength, 'x')}`,
      ),
  duration: () => fc.stringMatching(/^P\d{1,3}D(T\d{1,2}H(\d{1,2}M)?)?$/),
  json_string: () => json.map(value => JSON.stringify(value)),
  base64: ({ minLength, maxLength, isBounded }) =>
    fc.base64String(isBounded ? { minLength, maxLength: Math.max(maxLength, minLength) } : {}),
  base64url: ({ minLength, maxLength }) =>
    fc.string({ unit: fc.constantFrom(...'abcXYZ019-_'), minLength, maxLength }).map(text => {
      if (text.length % 4 !== 1) return text
      if (text.length < maxLength) return `${text}a`
      return text.slice(1)
    }),
  cidrv6: () =>
    fc
      .tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 }))
      .map(([address, bits]) => `${address}/${bits}`),
  hostname: () => fc.domain(),
}

const jwtHeader = (alg = 'HS256') => btoa(JSON.stringify({ alg, typ: 'JWT' })).replaceAll('=', '')

function urlText({
  def,
  minLength,
  isBounded,
}: { def: Def; isBounded: boolean } & Lengths): Arbitrary<string> {
  if (!def.hostname && !def.protocol && !isBounded) return fc.webUrl()
  const part = (pattern: RegExp | undefined, fallback: Arbitrary<string>) =>
    pattern ? matching(pattern) : fallback
  // `z.httpUrl()` wants a domain.
  const host = part(def.hostname, fc.stringMatching(/^[a-z]{1,8}\.(com|org)$/))
  return fc
    .tuple(
      part(def.protocol, fc.constantFrom('https', 'http')),
      host,
      fc.stringMatching(/^(\/[a-z0-9]{0,8})?$/),
    )
    .map(([protocol, name, path]) => {
      const url = `${protocol}://${name}${path}`
      return url.length < minLength
        ? `${url}${path ? '' : '/'}${'x'.repeat(minLength - url.length)}`
        : url
    })
}

type TextCheck = {
  format?: string
  pattern?: RegExp
  prefix?: string
  includes?: string
  suffix?: string
  position?: number
}

/** The patterns of these checks follow from their other fields. */
const partFormats = new Set(['starts_with', 'includes', 'ends_with', 'lowercase', 'uppercase'])

/** How many texts of a generator are tried before the next generator is. */
const mostTried = 200
const longestTry = 1000

/**
 * Text for the checks of zod. Of several generators, the first is taken of which one text in a few
 * hundred is accepted: known words, the format, the patterns, and these with the prefixes, parts
 * and suffixes that the checks require. `hasRules`: predicates are checked as well.
 * @throws Error if no generator makes an accepted text and there are no predicates, or if a check
 * could take forever
 */
export function checkedText(
  def: Def,
  bag: Bag,
  key: string,
  isAccepted: (value: unknown) => boolean,
  hasRules: boolean,
): Arbitrary<unknown> {
  const fitting = wordsOf(key).filter(isAccepted)
  if (fitting.length > 0) return fc.constantFrom(...fitting)
  const faults: unknown[] = []
  let first: Arbitrary<string> | undefined
  for (const generator of generatorsOf(def, bag, key)) {
    try {
      const made = generator()
      first ??= made
      if (isEverAccepted(made, isAccepted)) return made
    } catch (fault) {
      faults.push(fault)
    }
  }
  if (first && hasRules) return first
  if (!first && faults[0] instanceof Error && faults[0].message.startsWith('fromSchema:'))
    throw faults[0]
  throw refusal(
    `no text was found for the checks ${namesOf(textChecks(def))}. Generate it yourself and combine it with fc.record`,
    key,
    faults[0],
  )
}

const textChecks = (def: Def): TextCheck[] => [
  def as TextCheck,
  ...(def.checks ?? []).map(({ _zod }) => _zod.def as TextCheck),
]

const namesOf = (checks: readonly TextCheck[]) =>
  checks
    .flatMap(({ format, check }: TextCheck & { check?: string }) => [format ?? check ?? []].flat())
    .join(', ') || 'of this schema'

function isEverAccepted(made: Arbitrary<string>, isAccepted: (value: unknown) => boolean): boolean {
  const end = Date.now() + longestTry
  for (let seed = 0; seed < mostTried && Date.now() < end; seed++)
    if (isAccepted(fc.sample(made, { numRuns: 1, seed })[0])) return true
  return false
}

/** Generators of texts, the likeliest first. */
function generatorsOf(def: Def, bag: Bag, key: string): (() => Arbitrary<string>)[] {
  const checks = textChecks(def)
  const patterns = checks.flatMap(({ pattern, format = '' }) =>
    pattern && !partFormats.has(format) ? [pattern] : [],
  )
  const slow = patterns.filter(pattern => !ownPatterns.has(pattern.source) && isSlow(pattern))
  const [one, other] = slow
  const endless = patterns.find(hasSlowLookaround)
  if (endless)
    throw refusal(
      `a lookaround of the pattern ${endless} repeats a repetition, so its check could take forever`,
      key,
    )
  if (one && other)
    throw refusal(
      `the patterns ${one} and ${other} both repeat repetitions, so their checks could take forever`,
      key,
    )
  const range = lengths(bag, 20, key)
  const isBounded = bag.minimum !== undefined || bag.maximum !== undefined
  const matches = (pattern: RegExp, isAhead?: boolean) => matching(pattern, { isBounded, isAhead })
  const ofLength = (pattern: RegExp) => matching(pattern, { isBounded, range })
  // A text with other parts in it could be one that the pattern does not match.
  if (one) return [() => matches(one), () => ofLength(one), () => matches(one, true)]
  const named = checks.flatMap(({ format }) =>
    format !== undefined && Object.hasOwn(formats, format) ? [format] : [],
  )
  const whole = [
    ...named.map(format => () => formats[format]?.({ def, isBounded, ...range }) ?? shortText),
    ...patterns.map(pattern => () => matches(pattern)),
    ...(isBounded ? patterns.map(pattern => () => ofLength(pattern)) : []),
    ...patterns
      .filter(({ source }) => source.includes('(?='))
      .map(pattern => () => matches(pattern, true)),
    ...(patterns.length > 1
      ? [() => fc.tuple(...patterns.map(pattern => matches(pattern))).map(texts => texts.join(''))]
      : []),
  ]
  const parts = partsOf(checks)
  const bare = (free: Lengths) => (whole.length > 0 ? whole : [() => longText(free)])
  if (parts.length === 0 && parts.toCase === asItIs) return bare(range)
  const minLength = Math.max(parts.before, range.minLength - parts.length)
  const around = { minLength, maxLength: Math.max(minLength, range.maxLength - parts.length) }
  return [
    ...whole,
    ...bare(around).map(base => () => base().map(parts.around)),
    ...bare({
      minLength: range.minLength,
      maxLength: Math.max(range.maxLength, range.minLength),
    }).map(
      base => () =>
        fc.tuple(base(), fc.nat({ max: 1000 })).map(([text, at]) => parts.over(text, at)),
    ),
  ]
}

const ownPatterns = new Set(
  Object.values(regexes).flatMap(one => (one instanceof RegExp ? [one.source] : [])),
)

const asItIs = (text: string) => text

/**
 * The texts that `startsWith`, `includes` and `endsWith` require, and the case of all letters.
 * `before`: how many characters a part has before it.
 */
function partsOf(checks: readonly TextCheck[]) {
  const find = (part: 'prefix' | 'includes' | 'suffix') =>
    checks.flatMap(check => (check[part] === undefined ? [] : [check[part]]))
  const [starts, middles, ends] = [find('prefix'), find('includes'), find('suffix')]
  const formatNames = checks.map(({ format }) => format)
  const upper = formatNames.includes('uppercase') ? (text: string) => text.toUpperCase() : asItIs
  const toCase = formatNames.includes('lowercase') ? (text: string) => text.toLowerCase() : upper
  return {
    toCase,
    length: [...starts, ...middles, ...ends].join('').length,
    before: Math.max(0, ...checks.map(({ position = 0 }) => position - starts.join('').length)),
    around: (text: string) => starts.join('') + toCase(text) + middles.join('') + ends.join(''),
    /** Instead of characters of the text. */
    over(text: string, at: number) {
      let made = toCase(text)
      for (const part of middles) {
        const from = at % (Math.max(0, made.length - part.length) + 1)
        made = made.slice(0, from) + part + made.slice(from + part.length)
      }
      for (const part of starts) made = part + made.slice(part.length)
      for (const part of ends) made = made.slice(0, Math.max(0, made.length - part.length)) + part
      return made
    },
  }
}

/** Texts that must be long repeat a short one: a random character costs a microsecond. */
function longText({ minLength, maxLength }: Lengths): Arbitrary<string> {
  if (minLength <= 500) return fc.string({ minLength, maxLength })
  if (minLength > longest) throw refusal(`a text of ${minLength} characters is too long`)
  return fc
    .string({ minLength: 20, maxLength: 20 })
    .map(text => text.repeat(Math.ceil(minLength / text.length)).slice(0, minLength))
}

/**
 * Text of a pattern. Flags that make it accept more, and lookarounds, are left to the filter behind
 * this. `isBounded`: its length is checked as well. `isAhead` and `range`: as in `followed`.
 * @throws Error for a pattern that fast-check cannot follow, such as one with a backreference
 */
export function matching(
  pattern: RegExp,
  { isBounded = false, ...how }: { isBounded?: boolean } & How = {},
): Arbitrary<string> {
  const source = followed(pattern.source, how)
  if (/^\^?\$?$/.test(source) || source === '(?:)') return shortText
  try {
    return fc.stringMatching(
      new RegExp(source, pattern.flags.replaceAll(/[dgimy]/g, '')),
      isBounded ? { size: 'medium' } : {},
    )
  } catch (error) {
    throw refusal(
      `no text can be generated for the pattern ${pattern}. Generate it yourself and combine it with fc.record`,
      '',
      error,
    )
  }
}
