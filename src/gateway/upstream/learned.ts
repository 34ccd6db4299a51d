import { isObject } from '../../kit/json/json.ts'
import type { Operation, ProtocolFacts } from '../../protocol.ts'
import type { Deployment } from './catalog.ts'

/**
 * Fields of requests that upstreams refused. Each is left out of further requests to the same
 * channel and model that have the same shape: a field may be refused only next to another one.
 */
export type Learned = {
  /**
   * The fields to leave out, as the protocol of the candidate names them. `shape`: called only
   * where something is known.
   */
  of(candidate: Deployment, shape: () => Shape): string[]
  /** Remembers fields without which a request of this shape has succeeded. */
  learn(candidate: Deployment, shape: Shape, fields: readonly string[]): void
  /** Everything that is remembered. */
  all(): LearnedField[]
  /** Forgets the fields that match, by default all. Returns how many they were. */
  forget(which?: Which): number
  /** Does what another process has done. */
  apply(change: LearnedChange): void
}

type Which = Partial<Pick<LearnedField, 'channel' | 'model' | 'field'>>

/** What a process sends to the others. */
export type LearnedChange = { place: Place; fields: readonly string[] } | { forgotten: Which }

/** What operators see of it. */
export type LearnedFields = Pick<Learned, 'all' | 'forget'>

/**
 * What decides about the fields of a request: the names of its outermost fields, and what it asks
 * of reasoning.
 */
export type Shape = readonly string[]

/**
 * A field that is left out of requests of one shape. `entry`: the id of the model in the
 * configuration. `model`: the name that the upstream has for it.
 */
export type LearnedField = {
  channel: string
  entry: string
  model: string
  protocol: string
  shape: Shape
  field: string
  secondsLeft: number
}

/**
 * How long a field is left out. Servers are updated, and nothing that was learned wrongly may last.
 */
const rememberedMs = 10 * 60 * 1000

/**
 * Shapes of all channels and models together. Clients can invent shapes, so the oldest one makes
 * room.
 */
const mostShapes = 1000

/**
 * Of a shape and its model, in UTF-16 units. Nothing is learned from requests with longer names.
 */
const longestKey = 4000

/** `until`: by field, on the clock of `performance.now()`, which nobody sets back. */
type Known = Place & { until: Map<string, number> }

type Place = Omit<LearnedField, 'field' | 'secondsLeft'>

export function createLearned(send: (change: LearnedChange) => void = () => {}): Learned {
  const known = new Map<string, Known>()
  const keyOf = ({ channel, protocol, model, shape }: Omit<Place, 'entry'>) =>
    JSON.stringify([channel, protocol, model, shape])

  function remember(place: Place, fields: readonly string[]): void {
    const key = keyOf(place)
    const until = known.get(key)?.until ?? new Map<string, number>()
    for (const field of fields) until.set(field, performance.now() + rememberedMs)
    // Deleted first, so that it is the newest of the map.
    known.delete(key)
    known.set(key, { ...place, until })
    const [oldest] = known.keys()
    if (known.size > mostShapes && oldest !== undefined) known.delete(oldest)
  }

  function forget({ channel, model, field }: Which): number {
    let count = 0
    for (const [key, one] of known) {
      if ((channel ?? one.channel) !== one.channel || (model ?? one.model) !== one.model) continue
      for (const name of one.until.keys())
        if ((field ?? name) === name && one.until.delete(name)) count++
      if (one.until.size === 0) known.delete(key)
    }
    return count
  }

  return {
    of({ channel, protocol, model }, shape) {
      // Most gateways never learn anything.
      if (known.size === 0) return []
      const place = { channel: channel.name, protocol: protocol.name, model, shape: shape() }
      const fields = known.get(keyOf(place))
      if (!fields) return []
      const now = performance.now()
      return [...fields.until].flatMap(([field, until]) => (until > now ? [field] : []))
    },
    learn({ channel, entry, model, protocol }, shape, fields) {
      const place = {
        channel: channel.name,
        entry: entry.id,
        model,
        protocol: protocol.name,
        shape,
      }
      if (fields.length === 0 || keyOf(place).length > longestKey) return
      remember(place, fields)
      send({ place, fields })
    },
    all() {
      const now = performance.now()
      return [...known.values()].flatMap(({ until, ...one }) =>
        [...until].flatMap(([field, end]) =>
          end > now ? [{ ...one, field, secondsLeft: Math.ceil((end - now) / 1000) }] : [],
        ),
      )
    },
    forget(which = {}) {
      send({ forgotten: which })
      return forget(which)
    },
    apply(change) {
      if ('place' in change) remember(change.place, change.fields)
      else forget(change.forgotten)
    },
  }
}

/** `body`: of a request in this protocol; its outline is enough. */
export function shapeOf(body: unknown, operation: Operation, protocol: ProtocolFacts): Shape {
  if (!isObject(body)) return [operation]
  const { fieldNames, olderNames = {} } = protocol
  const reasoning = ['reasoning.effort', 'reasoning.mode']
    .flatMap(name => [fieldNames[name] ?? '', ...(olderNames[name] ?? [])])
    .flatMap(path => {
      const value = path
        .split('/')
        .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
      const isWord = typeof value === 'boolean' || (typeof value === 'string' && value.length < 40)
      return isWord ? [`${path.replaceAll('/', '.')}=${value}`] : []
    })
  return [operation, ...Object.keys(body).sort(), ...new Set(reasoning)]
}
