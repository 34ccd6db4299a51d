import { Session } from 'node:inspector'

/**
 * How often each function of the source ran its busiest block, and through how much each built-in function went. Unlike times, these
 * numbers are the same in every run, and a small body is enough to see how they grow.
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

/** An expression goes through a text from where it starts to the end of what it finds, or to the end of the text. */
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

/** Calls that go through more than this are counted by their place, which takes time to find. */
const long = 16

/** The line of the source that is running. */
function caller(): string {
  const lines = new Error().stack?.split('\n') ?? []
  return (
    lines.map(line => /\/src\/(?!.*node_modules)(.*?:\d+)/.exec(line)?.[1]).find(Boolean) ??
    'elsewhere'
  )
}

/** Replaces the built-in functions by ones that count, while it works. */
function countBuiltIn<T>(steps: Steps, work: () => T): T {
  const undo: (() => void)[] = []
  let isCounting = true
  for (const [kind, owner, methods] of watched)
    for (const [name, measure] of Object.entries(methods)) {
      const known = Object.getOwnPropertyDescriptor(owner, name)
      if (!known) continue
      const call = known.value as Method
      const title = `${kind}.${name}`
      const value = function (this: unknown, ...args: unknown[]) {
        const made = call.apply(this, args)
        if (isCounting) {
          isCounting = false
          const passed = measure(this, args, made)
          const place = passed < long ? title : `${title} in ${caller()}`
          steps.set(place, (steps.get(place) ?? 0) + passed)
          isCounting = true
        }
        return made
      }
      undo.push(() => Object.defineProperty(owner, name, known))
      Object.defineProperty(owner, name, { ...known, value })
    }
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

  /** The steps of work that is synchronous. */
  count(work: () => void): Steps {
    const steps: Steps = new Map()
    this.#take()
    countBuiltIn(steps, work)
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
