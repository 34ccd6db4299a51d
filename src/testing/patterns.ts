import { refusal } from './definition.ts'

/** An atom of a pattern, or a group of terms, with how often it repeats. */
type Term = {
  atom: string
  group?: Term[]
  quantifier: string
  min: number
  max: number
}

const escaped = /\\(?:u\{[\da-fA-F]+\}|[pP]\{[^}]*\}|k<[^>]*>|x..|u[\da-fA-F]{4}|c.|.)/y
const characters = /\[(?:\\.|[^\]\\])*\]/y
const opening = /\((?:\?(?:[:=!]|<[=!]|<[^>]*>|[a-z-]*:))?/y
const repetition = /(?:[*+?]|\{(\d+)(,(\d*))?\})\??/y
const anything = /./sy

function termsOf(source: string): Term[] {
  let at = 0
  const next = (token: RegExp) => {
    token.lastIndex = at
    const found = token.exec(source)
    at += found?.[0].length ?? 0
    return found
  }
  const sequence = (): Term[] => {
    const terms: Term[] = []
    while (at < source.length && source[at] !== ')') {
      const opener = next(opening)?.[0]
      const group = opener === undefined ? undefined : sequence()
      if (group) at++
      const atom = opener ?? (next(escaped) ?? next(characters) ?? next(anything))?.[0] ?? ''
      const found = atom === '|' || atom === '^' || atom === '$' ? null : next(repetition)
      terms.push({
        atom,
        ...(group && { group }),
        quantifier: found?.[0] ?? '',
        ...timesOf(found),
      })
    }
    return terms
  }
  return sequence()
}

function timesOf(found: RegExpExecArray | null): { min: number; max: number } {
  const [sign = '', min, comma, max] = found ?? []
  if (sign === '') return { min: 1, max: 1 }
  if (min !== undefined)
    return {
      min: Number(min),
      max: comma === undefined ? Number(min) : Number(max || Number.POSITIVE_INFINITY),
    }
  return {
    min: sign.startsWith('+') ? 1 : 0,
    max: sign.startsWith('?') ? 1 : Number.POSITIVE_INFINITY,
  }
}

const isLookaround = ({ atom }: Term) => /^\(\?<?[=!]$/.test(atom)
const isBoundary = ({ atom }: Term) => atom === '\\b' || atom === '\\B'
/** Two of these within each other make texts long, and checks of texts slow. */
const isRepeated = ({ max }: Term) => max > 10
const some = (terms: readonly Term[], test: (term: Term) => boolean): boolean =>
  terms.some(term => test(term) || some(term.group ?? [], test))

/**
 * `isAhead`: what a positive lookahead requires becomes a part of the text. `range`: of the
 * lengths, for the first character that repeats.
 */
export type How = {
  isAhead?: boolean | undefined
  range?: { minLength: number; maxLength: number }
}

/** Texts beyond this are refused. */
export const longest = 1_000_000

/**
 * A source that fast-check can follow: without lookarounds and word boundaries, and with few
 * repetitions within repetitions. A filter must check the texts.
 */
export function followed(source: string, { isAhead = false, range }: How): string {
  const terms = termsOf(source)
  const least = leastLength(terms)
  if (least > longest || Number(range?.minLength) > longest)
    throw refusal(`a text of the pattern /${source.slice(0, 100)}/ is too long`)
  const repeated = range && terms.find(term => !term.group && term.max === Number.POSITIVE_INFINITY)
  if (!repeated) return written(terms, isAhead, false)
  const [from, to] = [
    range.minLength - least + repeated.min,
    range.maxLength - least + repeated.min,
  ]
  const sized = {
    ...repeated,
    min: 1,
    max: 1,
    quantifier: `{${Math.max(repeated.min, from)},${Math.max(repeated.min, to)}}`,
  }
  return terms
    .map(term => (term === repeated ? textOf(sized, isAhead, false) : textOf(term, isAhead, true)))
    .join('')
}

const leastLength = (terms: readonly Term[]): number =>
  terms.reduce(
    (sum, term) =>
      sum +
      (/^[\^$|]$/.test(term.atom) || isLookaround(term)
        ? 0
        : term.min * (term.group ? leastLength(term.group) : 1)),
    0,
  )

function written(terms: readonly Term[], isAhead: boolean, isInside: boolean): string {
  return terms.map(term => textOf(term, isAhead, isInside)).join('')
}

/** `isInside`: a repetition, so that those in it are short. */
function textOf(term: Term, isAhead: boolean, isInside: boolean): string {
  if (isBoundary(term) || (isLookaround(term) && !(isAhead && term.atom === '(?='))) return ''
  const { atom, group, min, max } = term
  const quantifier = isInside && max > min + 2 ? `{${min},${min + 2}}` : term.quantifier
  if (!group) return atom + quantifier
  const content = written(group, isAhead, isInside || max > 1)
  if (isLookaround(term)) return `(?:${content.replaceAll(/^\^|\$$/g, '')})`
  return content === '' ? '' : `${atom}${content})${quantifier}`
}

/**
 * Could the check of a text that the pattern does not match take forever? A guess on the safe side.
 */
export const isSlow = ({ source, flags }: RegExp): boolean =>
  hasSlowRepetition(termsOf(source), flags)

/** The same within a lookaround, whose texts are never generated. */
export const hasSlowLookaround = ({ source, flags }: RegExp): boolean =>
  some(termsOf(source), term => isLookaround(term) && hasSlowRepetition(term.group ?? [], flags))

const hasSlowRepetition = (terms: readonly Term[], flags: string): boolean =>
  some(
    terms,
    term => isRepeated(term) && term.group !== undefined && isAmbiguous(term.group, flags),
  )

/**
 * Can a text be split into repetitions of this group in several ways? Not if a character that
 * nothing repeats ends each of them.
 */
function isAmbiguous(group: readonly Term[], flags: string): boolean {
  if (some(group, ({ atom }) => atom === '|')) return true
  const repeated = group.filter(term => some([term], isRepeated))
  if (repeated.length === 0) return false
  const separators = group.filter(
    ({ atom, min, group: inner }) => min > 0 && !inner && /^(?:[^\\[\].()]|\\[^\w])$/.test(atom),
  )
  const isSafe = ({ atom }: Term) =>
    repeated.every(
      term => !term.group && !new RegExp(`^${term.atom}$`, flags).test(atom.replace('\\', '')),
    )
  return !separators.some(isSafe)
}
