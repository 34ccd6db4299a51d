import fc, { type Arbitrary } from 'fast-check'
import { lengths } from './bounds.ts'
import { type Bag, type Def, refusal } from './definition.ts'
import { wordsOf } from './typical.ts'

/** The number makes a text recognizable when it appears elsewhere. */
export const shortText = fc.oneof(
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom('hello', 'a b', 'ünï', '🙂', '{"a":1}', 'line\n'), fc.integer({ min: 100_000, max: 999_999 }))
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
  return known.length > 0 ? fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: shortText }) : shortText
}

type Lengths = { minLength: number; maxLength: number }

/** Text of the formats that have no pattern, or one that fast-check cannot follow. */
const formats: Record<string, (of: { def: Def; isBounded: boolean } & Lengths) => Arbitrary<string>> = {
  email: ({ minLength }) =>
    fc.stringMatching(/^[a-z0-9]{1,8}@[a-z0-9]{1,8}\.(com|org|example)$/).map(text => 'x'.repeat(Math.max(0, minLength - text.length)) + text),
  url: urlText,
  uuid: () => fc.uuid(),
  guid: () => fc.uuid(),
  ipv4: () => fc.ipV4(),
  ipv6: () => fc.ipV6(),
  emoji: () => fc.constantFrom('🙂', '🎉', '🚀🚀'),
  datetime: () => fc.date({ noInvalidDate: true, min: new Date('1970-01-01'), max: new Date('2099-12-31') }).map(date => date.toISOString()),
  jwt: () => fc.base64String({ minLength: 4 }).map(text => `eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxIn0.${text.replaceAll(/\W/g, '')}`),
  duration: () => fc.stringMatching(/^P\d{1,3}D(T\d{1,2}H(\d{1,2}M)?)?$/),
  json_string: () => json.map(value => JSON.stringify(value)),
  base64: ({ minLength, maxLength, isBounded }) => fc.base64String(isBounded ? { minLength, maxLength: Math.max(maxLength, minLength) } : {}),
  base64url: ({ minLength }) => fc.base64String({ minLength: minLength + 2 }).map(text => text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  cidrv6: () => fc.tuple(fc.ipV6(), fc.integer({ min: 0, max: 128 })).map(([address, bits]) => `${address}/${bits}`),
  hostname: () => fc.domain(),
}

function urlText({ def, minLength, isBounded }: { def: Def; isBounded: boolean } & Lengths): Arbitrary<string> {
  if (!def.hostname && !def.protocol && !isBounded) return fc.webUrl()
  const part = (pattern: RegExp | undefined, fallback: Arbitrary<string>) => (pattern ? matching(pattern) : fallback)
  // `z.httpUrl()` wants a domain.
  const host = part(def.hostname, fc.stringMatching(/^[a-z]{1,8}\.(com|org)$/))
  return fc.tuple(part(def.protocol, fc.constantFrom('https', 'http')), host, fc.stringMatching(/^(\/[a-z0-9]{0,8})?$/)).map(([protocol, name, path]) => {
    const url = `${protocol}://${name}${path}`
    return url.length < minLength ? `${url}${path ? '' : '/'}${'x'.repeat(minLength - url.length)}` : url
  })
}

/** Text for the checks of zod: known words that fit, else of the format, else around the parts that it must have. */
export function checkedText(def: Def, bag: Bag, key: string, isAccepted: (value: unknown) => boolean): Arbitrary<unknown> {
  const fitting = wordsOf(key).filter(isAccepted)
  if (fitting.length > 0) return fc.constantFrom(...fitting)
  const checks = (def.checks ?? []).map(({ _zod }) => _zod.def as { format?: string; prefix?: string; includes?: string; suffix?: string; position?: number })
  const find = (part: 'prefix' | 'includes' | 'suffix') => checks.flatMap(check => (check[part] === undefined ? [] : [check[part]]))
  const [starts, middles, ends] = [find('prefix'), find('includes'), find('suffix')]
  const format = bag.format ?? def.format ?? ''
  const { pattern } = bag
  const isWhole = starts.length + middles.length + ends.length === 0 && !/^(lower|upper)case$/.test(format)
  const range = lengths(bag, 20, key)
  const isBounded = bag.minimum !== undefined || bag.maximum !== undefined
  if (isWhole && Object.hasOwn(formats, format)) return formats[format]?.({ def, isBounded, ...range }) ?? shortText
  if (isWhole && pattern) return matching(pattern, isBounded)
  const fixed = [...starts, ...middles, ...ends].join('').length
  // `includes` may require a position.
  const before = Math.max(0, ...checks.map(({ position = 0 }) => position - starts.join('').length))
  const free = { minLength: Math.max(before, range.minLength - fixed), maxLength: Math.max(before, range.maxLength - fixed) }
  return longText(free).map(text => {
    const made = format === 'uppercase' ? text.toUpperCase() : format === 'lowercase' ? text.toLowerCase() : text
    return starts.join('') + made + middles.join('') + ends.join('')
  })
}

/** Texts that must be long repeat a short one: a random character costs a microsecond. */
function longText({ minLength, maxLength }: Lengths): Arbitrary<string> {
  if (minLength <= 500) return fc.string({ minLength, maxLength })
  return fc.string({ minLength: 20, maxLength: 20 }).map(text => text.repeat(Math.ceil(minLength / text.length)).slice(0, minLength))
}

/**
 * Text of a pattern. Flags that make it accept more, and lookarounds, are left to the filter behind this. `isBounded`: its length
 * is checked as well. @throws Error for a pattern that fast-check cannot follow, such as one with a backreference
 */
export function matching(pattern: RegExp, isBounded = false): Arbitrary<string> {
  const size = isBounded ? ({ size: 'medium' } as const) : {}
  try {
    return fc.stringMatching(new RegExp(withoutLookarounds(pattern.source), pattern.flags.replaceAll(/[dgimy]/g, '')), size)
  } catch (error) {
    throw refusal(`no text can be generated for the pattern ${pattern}. Generate it yourself and combine it with fc.record`, '', error)
  }
}

/** The source of a pattern without its groups `(?=…)`, `(?!…)`, `(?<=…)` and `(?<!…)`. */
function withoutLookarounds(source: string): string {
  let kept = ''
  /** The depth of groups, and the one at which a lookaround began; 0: none. */
  let depth = 0
  let outside = 0
  let isInClass = false
  for (let at = 0; at < source.length; at++) {
    const isEscape = source[at] === '\\'
    const token = isEscape ? source.slice(at, at + 2) : (source[at] ?? '')
    if (isEscape) at++
    else if (isInClass) isInClass = token !== ']'
    else if (token === '[') isInClass = true
    else if (token === '(') {
      depth++
      if (outside === 0 && /^\(\?<?[=!]/.test(source.slice(at, at + 4))) outside = depth
    } else if (token === ')') {
      depth--
      if (outside > depth) {
        outside = 0
        continue
      }
    }
    if (outside === 0) kept += token
  }
  return kept
}
