import type { SchemaDialect } from '../../protocol.ts'
import { isObject } from '../json/json.ts'
import type { SchemaSubset } from './schema-subset.ts'

/**
 * Which regular expressions a server takes in a schema. `any`: those that JSON Schema means, which
 * have Unicode rules, and those of Python. `python`: those that Python compiles, as many servers do
 * with every pattern. `linear`: of these, those that engines without backtracking compile, too, such
 * as those of Rust and Go. `anchored`: those of llama.cpp, which turns them into a grammar without
 * classes such as `\d`. Sources: https://github.com/bman654/clodex/pull/195,
 * https://github.com/NangoHQ/nango/issues/7547, https://docs.rs/regex/latest/regex/#syntax,
 * https://github.com/openclaw/openclaw/issues/113562,
 * https://github.com/openclaw/openclaw/issues/108580
 */
export type Patterns = NonNullable<SchemaDialect['patterns']> | 'any'

/** Does such a server take this pattern? */
export function compiles(pattern: string, by: Patterns): boolean {
  if (by === 'any') return isUnicode(pattern) || isPython(pattern)
  if (!isPython(pattern)) return false
  return by === 'python' || (by === 'linear' ? isLinear : isAnchored)(pattern)
}

/**
 * What Python refuses and JavaScript takes, each in a group of its own: escapes such as `\p`, named
 * groups, a look behind for a text of any length, and empty classes. Other escapes are passed by.
 */
const foreign = new RegExp(
  [
    /\\(?:(u(?![\da-fA-F]{4})|x(?![\da-fA-F]{2})|[CEFGHIJKLMNOPQRTUVXYceghijklmopqyz])|.)/,
    /(\(\?<(?![=!]))/,
    /(\(\?<[=!][^()*+?{|]*[*+?{|])/,
    /(\[\^?\](?!\]))/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'gs',
)

function isPython(pattern: string): boolean {
  for (const [, ...groups] of pattern.matchAll(foreign))
    if (groups.some(group => group !== undefined)) return false
  return !setsIn(pattern).some(hasOpenRange) && isWhole(pattern)
}

/** What stands in brackets. */
const setsIn = (pattern: string): string[] =>
  Array.from(pattern.matchAll(/\\.|\[\^?((?:\\.|[^\\\]])*)/gs), ([, set = '']) => set)

/** A range that begins or ends with a class such as `\w`, as in `[\w-.]`. */
const hasOpenRange = (set: string): boolean =>
  Array.from(set.matchAll(/(\\.|[^\\])-(\\.|[^\\])|\\?./gs)).some(([, ...ends]) =>
    ends.some(end => end !== undefined && /^\\[dDsSwW]/.test(end)),
  )

/** Brackets that are not closed, and the like, compile nowhere. */
const isWhole = (pattern: string): boolean =>
  isExpression(pattern.replace(/^\(\?[aimsux]+\)/, '').replaceAll('(?P<', '(?<'))

const isUnicode = (pattern: string): boolean => isExpression(pattern, 'u')

function isExpression(pattern: string, flags?: string): boolean {
  try {
    new RegExp(pattern, flags)
    return true
  } catch {
    return false
  }
}

/** Such engines repeat nothing more often. */
const mostCounted = 1000

/**
 * Nothing that looks around or back, no brackets in brackets, which are sets of their own, braces
 * around counts alone, and escapes that they know.
 */
function isLinear(pattern: string): boolean {
  const escapes = pattern.replaceAll('\\\\', '')
  if (/\\([\dkZ]|[^ -~])/.test(escapes) || setsIn(escapes).some(set => set.includes('\\b')))
    return false
  const plain = pattern.replace(/\\./gs, '.')
  if (/\(\?(<?[=!]|P=)|\[\^?[^[\]]*(\[|&&|--|~~)/.test(plain)) return false
  const counted = plain.replace(/\[[^\]]*/g, '')
  if (/\{(?!\d+(,\d*)?\})/.test(counted)) return false
  return !counted.match(/\{[\d,]+/g)?.some(counts => tooMany(counts))
}

const tooMany = (counts: string) =>
  counts
    .slice(1)
    .split(',')
    .some(one => Number(one) > mostCounted)

const isAnchored = (pattern: string): boolean =>
  pattern.length > 1 &&
  pattern.startsWith('^') &&
  pattern.endsWith('$') &&
  !/\(\?(?!:)|\\[bBdDsSwW]/.test(pattern)

const refusing = (by: Patterns): SchemaSubset => ({
  pattern: value => typeof value === 'string' && !compiles(value, by),
  patternProperties: value =>
    isObject(value) && !Object.keys(value).every(key => compiles(key, by)),
})

/** A grammar of llama.cpp repeats nothing more often. */
export const mostRepeated = 2000

const isOften = (value: unknown) => typeof value === 'number' && value > mostRepeated

/** The keywords that such a server refuses. */
export const refusedPatterns: Readonly<Record<Patterns, SchemaSubset>> = {
  any: refusing('any'),
  python: refusing('python'),
  linear: refusing('linear'),
  anchored: {
    ...refusing('anchored'),
    minLength: isOften,
    maxLength: isOften,
    minItems: isOften,
    maxItems: isOften,
  },
}
