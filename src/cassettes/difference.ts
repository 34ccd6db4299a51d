import { isObject } from '../kit/json/json.ts'
import { framesIn } from '../sse/split.ts'
import type { Cassette, CassetteBody } from './format.ts'
import { textOfBody } from './read.ts'

/**
 * A place at which two exchanges differ. `at`: a JSON pointer into the cassette, which goes on into
 * the JSON of a body. `before` and `after`: absent where one of them has nothing there.
 */
export type Difference = { at: string; before?: unknown; after?: unknown }

/** More than these nobody reads. */
const most = 100

/**
 * How what was made of a request differs: the requests to upstreams, the response to the client,
 * and the notes. Ids and times that each translation makes anew are no differences. Of a body that
 * broke off, only what both have counts.
 * @example
 * import { differencesBetween, readCassettes } from 'wireglot/cassettes'
 *
 * const [then] = await readCassettes(['test/examples/cassettes'])
 * console.log(then && differencesBetween(then, then).length) // 0
 */
export function differencesBetween(then: Cassette, now: Cassette): Difference[] {
  const found: Difference[] = []
  const compare = (at: string, before: unknown, after: unknown) =>
    compareValues(at, before, after, found)
  compare('/attempts/length', then.attempts.length, now.attempts.length)
  for (const [i, attempt] of then.attempts.entries()) {
    const other = now.attempts[i]
    if (!other) break
    const at = `/attempts/${i}`
    compare(`${at}/protocol`, attempt.protocol, other.protocol)
    compare(`${at}/model`, attempt.model, other.model)
    compareBodies(`${at}/body`, attempt.body, other.body, found)
    compare(`${at}/notes`, attempt.notes, other.notes)
  }
  const { response } = then
  if (response && now.response) {
    compare('/response/status', response.status, now.response.status)
    compareBodies('/response/body', response.body, now.response.body, found)
  }
  compare('/notes', then.notes, now.notes)
  return found.slice(0, most)
}

function compareBodies(at: string, then: CassetteBody, now: CassetteBody, found: Difference[]) {
  const [before, after] = [valuesOf(then), valuesOf(now)]
  const isCut = then.isCut || now.isCut
  const length = isCut ? Math.min(before.length, after.length) : undefined
  if (Boolean(then.isCut) !== Boolean(now.isCut))
    found.push({ at: `${at}/isCut`, before: then.isCut ?? false, after: now.isCut ?? false })
  const isStream = then.frames ?? now.frames
  if (!isStream) compareValues(at, before[0], after[0], found)
  else compareValues(`${at}/frames`, before.slice(0, length), after.slice(0, length), found)
}

/** The JSON of a body, or that of each event of a stream. What is no JSON stays text. */
function valuesOf(body: CassetteBody): unknown[] {
  const text = textOfBody(body)
  if (text === undefined) return [body.base64 ?? body.redacted]
  if (!body.frames) return [jsonOr(text)]
  const decoder = new TextDecoder()
  return [...framesIn(new TextEncoder().encode(text))]
    .map(bytes => eventOf(decoder.decode(bytes)))
    .filter(event => event !== undefined)
}

/** Undefined: a comment, which only keeps a connection open. */
function eventOf(frame: string): unknown {
  const data: string[] = []
  let event: string | undefined
  for (const line of frame.split(/\r\n|\r|\n/)) {
    if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
    else if (line.startsWith('event:')) event = line.slice(6).trim()
  }
  if (data.length === 0) return undefined
  const value = jsonOr(data.join('\n'))
  return event === undefined ? value : { event, data: value }
}

function jsonOr(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}

function compareValues(at: string, then: unknown, now: unknown, found: Difference[]): void {
  if (found.length >= most) return
  if (Array.isArray(then) && Array.isArray(now)) {
    for (let i = 0; i < Math.max(then.length, now.length); i++)
      compareValues(`${at}/${i}`, then[i], now[i], found)
  } else if (isObject(then) && isObject(now)) {
    for (const key of new Set([...Object.keys(then), ...Object.keys(now)]))
      if (!isMadeTime(key, then[key], now[key]))
        compareValues(
          `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`,
          then[key],
          now[key],
          found,
        )
  } else if (!Object.is(then, now) && !areMadeIds(then, now) && !areSameButSecrets(then, now))
    found.push({
      at,
      ...(then !== undefined && { before: then }),
      ...(now !== undefined && { after: now }),
    })
}

/** Times at which a translation made a response. */
const isMadeTime = (key: string, then: unknown, now: unknown) =>
  /^(created|created_at|completed_at|createTime)$/.test(key) && typeof then === typeof now

/** A secret in several pieces was replaced as often. */
const areSameButSecrets = (then: unknown, now: unknown) =>
  typeof then === 'string' && typeof now === 'string' && withOne(then) === withOne(now)
const withOne = (text: string) => text.replaceAll(/\*{4,}/g, '***')

/** Ids of a translation are random, after a prefix. */
function areMadeIds(then: unknown, now: unknown): boolean {
  if (typeof then !== 'string' || typeof now !== 'string' || then.length !== now.length)
    return false
  const [one, other] = [madeId.exec(then), madeId.exec(now)]
  return one !== null && other !== null && one[1] === other[1]
}

const madeId = /^([a-z]{0,12}[-_]?)[0-9A-Za-z]{24}$/
