import type { CanonicalError } from '../../canonical/error.ts'
import type { Place } from '../../canonical/message.ts'
import type { FieldNames } from '../../protocol.ts'
import { type Keys, keysIn, unknownOf } from '../fields/keys.ts'
import { omitNullishOrNone, omitUndefined } from '../fields/omit.ts'
import { withInner } from '../fields/own.ts'
import { isObject, type JsonObject } from '../json/json.ts'

/**
 * The error body of a protocol as a table: the canonical fields that each key holds. Known keys,
 * reading and the paths of notes follow from it; what a body does not hold, from reading it again
 * (`encode-error.ts`).
 */
type Field = Exclude<keyof CanonicalError, 'raw' | 'at'>
/** `*`: all other keys. */
type Rows = { readonly [path: string]: readonly Field[] }

/** Around an error, a key may also hold always the same. */
type Around = { readonly [key: string]: readonly Field[] | string }

export type ErrorTable = {
  read(body: unknown): ReadError
  /** The fields of each row, by its path from the error object. */
  rows: Rows
  names: FieldNames
}

/** An error body without its wrapping. */
export type ReadError = {
  /** The error object. Of a body without one, the body. */
  error: JsonObject
  /** What the error object is in, or the body. */
  outer: JsonObject
  isNested: boolean
  /** The text of the error, else all of the body. Empty: there is neither. */
  message: string
  /** Undefined: `/error`. */
  at: Place | undefined
  /**
   * The keys without a row, of the error and around it. `unread`: keys of the error that have one,
   * but another kind of value.
   */
  unknown(unread?: readonly string[]): { inside?: JsonObject; around?: JsonObject }
}

/** `inside`: the keys of the error object. `around`: those of the object that it is in. */
export function createErrorTable(inside: Rows, around: Around = {}): ErrorTable {
  const rows: Record<string, readonly Field[]> = {}
  const names: FieldNames = inside['*'] ? {} : { 'error/*': '' }
  const add = (path: string, fields: readonly Field[]) => {
    rows[path] = fields
    for (const field of fields) names[`error:${field}`] ??= path === '*' ? '' : path
  }
  for (const [path, fields] of Object.entries(inside)) add(path, fields)
  for (const [key, fields] of Object.entries(around))
    if (typeof fields !== 'string') add(`../${key}`, fields)
  const keys = Object.keys(inside).map(path => path.replace(/\/.*/s, ''))
  const outside = Object.keys(around)
  const known = {
    inside: keysIn(keys, {}),
    flat: keysIn([...keys, ...outside], {}),
    around: keysIn(outside, {}),
  }
  const constants = Object.entries(around).filter(([, value]) => typeof value === 'string')
  return { rows, names, read: body => open(body, known, constants) }
}

type Known = Record<'inside' | 'flat' | 'around', Keys>

/** Proxies send the shapes of others: JSON as text, a page, a list of one, no error object. */
function open(wire: unknown, known: Known, constants: [string, unknown][]): ReadError {
  const body = typeof wire === 'string' ? (jsonIn(wire) ?? wire) : wire
  const first: unknown = Array.isArray(body) ? body[0] : body
  const outer = isObject(first) ? first : {}
  const { error: inner, ...beside } = outer
  const isText = typeof inner === 'string' && inner !== ''
  const isNested = isObject(inner) || isText
  const nested = isObject(inner) ? inner : {}
  const error = isNested ? nested : outer
  const keyIn = (holder: JsonObject) => messageKeys.find(key => textIn(holder[key]))
  const key = isText ? undefined : keyIn(error)
  const outerKey = key === undefined && isNested && !isText ? keyIn(beside) : undefined
  const text = isText ? inner : textIn(key ? error[key] : beside[outerKey ?? ''])
  return {
    error,
    outer,
    isNested,
    message: (text ?? fallback(body, error)).slice(0, longestMessage),
    at: placeOf(body, isNested),
    unknown(unread = []) {
      const left = { ...unknownOf(error, isNested ? known.inside : known.flat) }
      for (const one of unread) left[one] = error[one]
      if (key !== undefined) left[key] = undefined
      const others = isNested ? { ...unknownOf(beside, known.around) } : {}
      for (const [one, value] of isNested ? constants : [])
        if (beside[one] !== value) others[one] = beside[one]
      if (outerKey !== undefined) others[outerKey] = undefined
      return omitUndefined({
        inside: omitNullishOrNone(left),
        around: omitNullishOrNone(others),
      })
    },
  }
}

/** The unknown keys where they were in the body. */
export const unknownAt = (
  { isNested }: ReadError,
  { inside, around }: ReturnType<ReadError['unknown']>,
): JsonObject | undefined => (isNested ? withInner(around, 'error', inside) : inside)

/** The longest error message, in UTF-16 units; longer ones are cut. */
export const longestMessage = 2048

const messageKeys = ['message', 'Message', 'detail']

export const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** A message that is not a text, such as a list of faults, as JSON. */
function textIn(value: unknown): string | undefined {
  if (value === undefined || value === null || typeof value === 'string') return textOf(value)
  return isEmpty(value) ? undefined : JSON.stringify(value)
}

const isEmpty = (value: unknown) =>
  typeof value === 'object' && Object.keys(value ?? {}).length === 0

/** Of a page its title, of an error without a message all of it. */
function fallback(body: unknown, error: JsonObject): string {
  if (typeof body !== 'string') return textIn(isObject(body) ? error : body) ?? ''
  const text = body.trim()
  const isPage = /^<(!doctype|html|head|body)/i.test(text)
  return (isPage && /<(title|h1)[^<>]*>([^<]*)</i.exec(text)?.[2]?.trim()) || text
}

function jsonIn(text: string): unknown {
  try {
    return /^\s*[{[]/.test(text) ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/**
 * JSON pointer to the error in a body, which may be a list of one. `isNested`: it is under `error`.
 * Undefined: `/error`, the default place.
 */
function placeOf(body: unknown, isNested: boolean): string | undefined {
  const place = `${Array.isArray(body) ? '/0' : ''}${isNested ? '/error' : ''}`
  return place === '/error' ? undefined : place
}
