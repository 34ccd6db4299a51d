/**
 * Small checks to combine: each returns the faults of one value. They use nothing of the library,
 * so that a validator made of them is independent of it.
 */
export type Faults = string[]
export type Check = (value: unknown, at: string, faults: Faults) => void
export type Shape = Record<string, Check>

export type JsonObject = Record<string, unknown>
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An independent validator of one protocol. */
export type Strict = {
  /** Faults of a request body. Empty: the server would accept it. */
  checkRequest(body: unknown): string[]
  /** Faults of a complete successful response. */
  checkResponse(body: unknown): string[]
  /** Faults of a stream: parsed `data` of each frame, or the text `[DONE]`. */
  checkStream(events: unknown[]): string[]
  /** Faults of an error body. */
  checkError(body: unknown): string[]
  /** How a client interprets the end of the stream. */
  outcome(events: unknown[]): 'success' | 'failed' | 'cut'
}

const unknownKey = ': unknown key'
export const notDone = 'the stream does not end with [DONE]'

/**
 * Not grave: fields beyond the protocol and a missing `[DONE]`, since many servers do so and
 * clients accept it.
 */
export const isGrave = (fault: string): boolean => !fault.endsWith(unknownKey) && fault !== notDone

export const any: Check = () => {}

export const text =
  ({
    min = 0,
    max = Number.POSITIVE_INFINITY,
    pattern,
  }: {
    min?: number
    max?: number
    pattern?: RegExp
  } = {}): Check =>
  (value, at, faults) => {
    if (typeof value !== 'string') faults.push(`${at}: expected a string`)
    else if (value.length < min) faults.push(`${at}: shorter than ${min}`)
    else if (value.length > max) faults.push(`${at}: longer than ${max}`)
    else if (pattern && !pattern.test(value)) faults.push(`${at}: does not match ${pattern.source}`)
  }

export const number =
  ({
    min = Number.NEGATIVE_INFINITY,
    max = Number.POSITIVE_INFINITY,
    int = false,
  }: {
    min?: number
    max?: number
    int?: boolean
  } = {}): Check =>
  (value, at, faults) => {
    if (typeof value !== 'number' || !Number.isFinite(value))
      faults.push(`${at}: expected a number`)
    else if (int && !Number.isInteger(value)) faults.push(`${at}: expected an integer`)
    else if (value < min || value > max) faults.push(`${at}: outside ${min}..${max}`)
  }

export const int = (min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY) =>
  number({ min, max, int: true })

export const flag: Check = (value, at, faults) => {
  if (typeof value !== 'boolean') faults.push(`${at}: expected a boolean`)
}

export const one =
  (...words: unknown[]): Check =>
  (value, at, faults) => {
    if (!words.includes(value)) faults.push(`${at}: expected one of ${words.join(', ')}`)
  }

export const nullable =
  (check: Check): Check =>
  (value, at, faults) => {
    if (value !== null) check(value, at, faults)
  }

export const list =
  (check: Check, { min = 0, max = Number.POSITIVE_INFINITY } = {}): Check =>
  (value, at, faults) => {
    if (!Array.isArray(value)) return void faults.push(`${at}: expected an array`)
    if (value.length < min) faults.push(`${at}: fewer than ${min}`)
    if (value.length > max) faults.push(`${at}: more than ${max}`)
    value.forEach((item, index) => {
      check(item, `${at}/${index}`, faults)
    })
  }

export const map =
  (check: Check): Check =>
  (value, at, faults) => {
    if (!isObject(value)) return void faults.push(`${at}: expected an object`)
    for (const [key, item] of Object.entries(value)) check(item, `${at}/${key}`, faults)
  }

/** A missing field that may be null: the official SDKs read it as null. */
const nullMissing = ': missing, and may be null'
export const isNullMissing = (fault: string): boolean => fault.endsWith(nullMissing)

function addMissing(required: Shape, value: object, at: string, faults: string[]): void {
  for (const [key, check] of Object.entries(required)) {
    if (Object.hasOwn(value, key)) continue
    const ofNull: string[] = []
    check(null, '', ofNull)
    faults.push(`${at}/${key}${ofNull.length === 0 ? nullMissing : ': missing'}`)
  }
}

/** Required and optional keys; no others. */
export const object =
  (required: Shape, optional: Shape = {}): Check =>
  (value, at, faults) => {
    if (!isObject(value)) return void faults.push(`${at}: expected an object`)
    addMissing(required, value, at, faults)
    for (const [key, item] of Object.entries(value)) {
      const shape = Object.hasOwn(required, key) ? required : optional
      const check = Object.hasOwn(shape, key) ? shape[key] : undefined
      if (check) check(item, `${at}/${key}`, faults)
      else faults.push(`${at}/${key}${unknownKey}`)
    }
  }

/** An object with any other keys. */
export const loose =
  (required: Shape, optional: Shape = {}): Check =>
  (value, at, faults) => {
    if (!isObject(value)) return void faults.push(`${at}: expected an object`)
    addMissing(required, value, at, faults)
    for (const [key, check] of Object.entries({ ...required, ...optional }))
      if (Object.hasOwn(value, key)) check(value[key], `${at}/${key}`, faults)
  }

/** One of several shapes, distinguished by a key. */
export const by =
  (key: string, shapes: Record<string, Check>, otherwise?: Check): Check =>
  (value, at, faults) => {
    if (!isObject(value)) return void faults.push(`${at}: expected an object`)
    const word = value[key]
    const check = typeof word === 'string' && Object.hasOwn(shapes, word) ? shapes[word] : otherwise
    if (check) check(value, at, faults)
    else faults.push(`${at}/${key}: expected one of ${Object.keys(shapes).join(', ')}`)
  }

/**
 * One of several kinds of values: no faults if one check has none, otherwise the faults of the
 * closest one.
 */
export const either =
  (...checks: Check[]): Check =>
  (value, at, faults) => {
    let best: string[] | undefined
    for (const check of checks) {
      const own: string[] = []
      check(value, at, own)
      if (own.length === 0) return
      if (!best || depth(own) > depth(best)) best = own
    }
    faults.push(...(best ?? []))
  }

const depth = (faults: string[]) => Math.max(...faults.map(fault => fault.split('/').length))

export const run = (check: Check, value: unknown): string[] => {
  const faults: string[] = []
  check(value, '', faults)
  return faults
}
