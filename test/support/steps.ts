import { Session } from 'node:inspector'

/**
 * How often each function of the source ran its busiest block, and through how much each built-in
 * function went. Unlike times, these numbers are the same in every run, and a small body is enough
 * to see how they grow.
 */
export type Steps = Map<string, number>

type Method = (this: unknown, ...args: unknown[]) => unknown
type Measure = (self: unknown, args: unknown[], result: unknown) => number

const lengthOf = (value: unknown): number => {
  if (value instanceof Set || value instanceof Map) return value.size
  return (value as { length?: number } | null | undefined)?.length ?? 0
}

const keys = Object.keys
const whole: Measure = self => lengthOf(self)
const argument: Measure = (_, [given]) => lengthOf(given)
const found: Measure = (self, [, from = 0], at) =>
  (Number(at) < 0 ? lengthOf(self) : Number(at) + 1) - Number(from)
const result: Measure = (_, __, made) => lengthOf(made)
const one: Measure = () => 1
/** What is behind the place moves. */
const moved: Measure = (self, [from]) => lengthOf(self) - Number(from)

/**
 * An expression goes through a text from where it starts to the end of what it finds, or to the end
 * of the text.
 */
const searched: Measure = (self, [text], match) => {
  const { source, lastIndex } = self as RegExp
  const [word = ''] = (match as RegExpExecArray | null) ?? []
  if (match) return word.length + 1 + (lastIndex > 0 ? 0 : (match as RegExpExecArray).index)
  return source.startsWith('^') ? 1 : lengthOf(text)
}

const iteratorOf = (values: Iterable<unknown>) => Object.getPrototypeOf(values[Symbol.iterator]())

/** The built-in functions that go through a list, a text or an object. */
const watched: readonly [name: string, owner: object, methods: Record<string, Measure>][] = [
  [
    'list',
    Array.prototype,
    {
      includes: whole,
      indexOf: found,
      lastIndexOf: whole,
      slice: result,
      concat: result,
      splice: moved,
      shift: whole,
      unshift: whole,
      join: whole,
      flat: result,
      reverse: whole,
      toReversed: whole,
      fill: whole,
      with: whole,
    },
  ],
  ['list', Array, { from: result }],
  ['list iterator', iteratorOf([]), { next: one }],
  ['set iterator', iteratorOf(new Set()), { next: one }],
  ['map iterator', iteratorOf(new Map()), { next: one }],
  [
    'object',
    Object,
    {
      keys: result,
      values: result,
      entries: result,
      fromEntries: (_, __, made) => keys(made as object).length,
      assign: (_, [, ...given]) =>
        given.reduce<number>((n, from) => n + keys(Object(from)).length, 0),
    },
  ],
  ['JSON', JSON, { parse: argument, stringify: result }],
  [
    'text',
    String.prototype,
    {
      includes: whole,
      indexOf: found,
      lastIndexOf: whole,
      startsWith: argument,
      endsWith: argument,
      replace: whole,
      replaceAll: whole,
      split: whole,
      trim: whole,
      toLowerCase: whole,
      toUpperCase: whole,
      normalize: whole,
      isWellFormed: whole,
    },
  ],
  ['expression', RegExp.prototype, { exec: searched }],
  [
    'bytes',
    Object.getPrototypeOf(Uint8Array.prototype),
    { includes: whole, indexOf: found, lastIndexOf: whole, slice: result, set: argument },
  ],
  ['bytes', Buffer.prototype, { includes: whole, indexOf: found, toString: result }],
  ['bytes', Buffer, { from: result, concat: result }],
  ['decoder', TextDecoder.prototype, { decode: result }],
  ['encoder', TextEncoder.prototype, { encode: result }],
]

/** What makes iterators. Their steps are counted by where they were made. */
const iterated: readonly [kind: string, owner: object][] = [
  ['list iterator', Array.prototype],
  ['set iterator', Set.prototype],
  ['map iterator', Map.prototype],
]

/**
 * Calls that go through less than this are not counted by their place, which takes time to find.
 * Shorter than any grown list.
 */
const long = 12

/**
 * The line of the source that is running. Without the text of a stack, which takes long to make.
 */
function caller(): string {
  const { prepareStackTrace, stackTraceLimit } = Error
  Error.prepareStackTrace = (_, sites) => sites
  Error.stackTraceLimit = 8
  const sites = new Error().stack as unknown as NodeJS.CallSite[]
  Object.assign(Error, { prepareStackTrace, stackTraceLimit })
  for (const site of sites) {
    const [, file] = site.getFileName()?.split(/\/src\/(?=[\w/-]+\.ts)/) ?? []
    if (file !== undefined) return `${file}:${site.getLineNumber()}`
  }
  return 'elsewhere'
}

/** Replaces the built-in functions by ones that count, while it works. */
function countBuiltIn<T>(steps: Steps, work: () => T, placed: ReadonlySet<string>): T {
  const undo: (() => void)[] = []
  const places = new WeakMap<object, string>()
  let isCounting = true
  const watch = (
    owner: object,
    name: string | symbol,
    note: (self: unknown, args: unknown[], made: unknown) => void,
  ): void => {
    const known = Object.getOwnPropertyDescriptor(owner, name)
    if (!known) return
    const call = known.value as Method
    const value = function (this: unknown, ...args: unknown[]) {
      const made = call.apply(this, args)
      if (isCounting) {
        isCounting = false
        note(this, args, made)
        isCounting = true
      }
      return made
    }
    undo.push(() => Object.defineProperty(owner, name, known))
    Object.defineProperty(owner, name, { ...known, value })
  }
  for (const [kind, owner, methods] of watched)
    for (const [name, measure] of Object.entries(methods)) {
      const title = `${kind}.${name}`
      const isPlaced = placed.has(title)
      watch(owner, name, (self, args, made) => {
        const passed = measure(self, args, made)
        const place = isPlaced && (passed < long ? places.get(self as object) : ` in ${caller()}`)
        const key = place ? title + place : title
        steps.set(key, (steps.get(key) ?? 0) + passed)
      })
    }
  for (const [kind, owner] of iterated)
    if (placed.has(`${kind}.next`))
      watch(owner, Symbol.iterator, (self, _, made) => {
        if (lengthOf(self) >= long) places.set(made as object, ` in ${caller()}`)
      })
  try {
    return work()
  } finally {
    isCounting = false
    for (const one of undo) one()
  }
}

type Coverage = {
  result: { url: string; functions: { functionName: string; ranges: Range[] }[] }[]
}
type Range = { startOffset: number; count: number }

/** Counts steps until it is closed: what runs meanwhile takes several times as long. */
export class StepCounter {
  readonly #session = new Session()

  constructor() {
    this.#session.connect()
    this.#ask('Profiler.enable')
    this.#ask('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
  }

  /**
   * The steps of work that is synchronous. `placed`: of these built-in functions, by the lines that
   * call them, which takes long.
   */
  count(work: () => void, placed: ReadonlySet<string> = new Set()): Steps {
    const steps: Steps = new Map()
    this.#take()
    countBuiltIn(steps, work, placed)
    for (const { url, functions } of this.#take().result) {
      const [, file] = url.split(/\/src\/(?=[\w/-]+\.ts)/)
      if (file === undefined) continue
      for (const { functionName, ranges } of functions) {
        const title = `${file} ${functionName || 'function'}@${ranges[0]?.startOffset}`
        steps.set(title, Math.max(...ranges.map(({ count }) => count)))
      }
    }
    return steps
  }

  close(): void {
    this.#ask('Profiler.stopPreciseCoverage')
    this.#session.disconnect()
  }

  #take(): Coverage {
    return this.#ask('Profiler.takePreciseCoverage') as Coverage
  }

  /** An inspector in the same thread answers before it returns. */
  #ask(method: string, params?: object): unknown {
    let answer: unknown
    this.#session.post(method, params, (error, given) => {
      if (error) throw error
      answer = given
    })
    return answer
  }
}
