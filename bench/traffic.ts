import { createStreamTranslator, translateRequest, translateResponse } from '../src/api.ts'
import type { ProtocolName } from '../src/protocols/index.ts'
import { createFrameParser } from '../src/sse/parse.ts'
import { corpusFiles, recordedRequests } from '../test/corpus/data.ts'

/**
 * One pair over captured traffic, in a process of its own: text → parse → translate → serialize,
 * against `JSON.parse` and `JSON.stringify` of the same text.
 */

/**
 * What of the traffic: requests of recorded clients, or captured requests, responses and streams.
 */
export type TrafficKind = 'recorded' | 'requests' | 'responses' | 'streams'

/** Microseconds for one text. `client`: who sent it, for recorded requests. */
export type Timed = { kind: TrafficKind; client?: string; us: number; floorUs: number }

/** `refused`: how many texts this pair refuses to translate; these are not timed. */
export type TrafficResult = { timed: Timed[]; refused: Partial<Record<TrafficKind, number>> }

type Item = { kind: TrafficKind; client?: string; work: () => unknown; floor: () => unknown }

/** Captured texts of each kind. The same ones in every run. */
const sampleSize = 200
const rounds = 7
const warmMs = 1500
/**
 * A round repeats its work until it takes this long, so that the clock's resolution does not
 * matter.
 */
const roundMs = 0.3

function sample<T>(all: readonly T[]): T[] {
  return all.length <= sampleSize
    ? [...all]
    : Array.from(
        { length: sampleSize },
        (_, i) => all[Math.floor((i * all.length) / sampleSize)] as T,
      )
}

function jsonFloor(text: string): () => unknown {
  return () => JSON.stringify(JSON.parse(text))
}

function recordedItems(from: ProtocolName, to: ProtocolName): Item[] {
  return recordedRequests()
    .filter(({ protocol }) => protocol === from)
    .map(({ name, body, path }) => {
      const text = JSON.stringify(body)
      const work = () => JSON.stringify(translateRequest(JSON.parse(text), { from, to, path }).body)
      return { kind: 'recorded', client: name.replace(/\/.*/, ''), work, floor: jsonFloor(text) }
    })
}

function requestItems(from: ProtocolName, to: ProtocolName): Item[] {
  return sample(corpusFiles(from, 'requests')).map(({ text, path }) => {
    const more = path === undefined ? {} : { path }
    const work = () =>
      JSON.stringify(translateRequest(JSON.parse(text), { from, to, ...more }).body)
    return { kind: 'requests', work, floor: jsonFloor(text) }
  })
}

function responseItems(from: ProtocolName, to: ProtocolName): Item[] {
  return sample(corpusFiles(from, 'responses')).map(({ text }) => {
    const work = () =>
      JSON.stringify(translateResponse(JSON.parse(text), { from, to, now: 0 }).body)
    return { kind: 'responses', work, floor: jsonFloor(text) }
  })
}

/** One event is one chunk, as servers send them. */
function streamItems(from: ProtocolName, to: ProtocolName): Item[] {
  return sample(corpusFiles(from, 'streams')).map(({ text }) => {
    const chunks = text.split(/(?<=\n\n|\r\n\r\n)/)
    const json: string[] = []
    const parser = createFrameParser(({ data }) => {
      if (data.startsWith('{')) json.push(data)
    })
    parser.push(text)
    parser.end()
    const work = () => {
      const translator = createStreamTranslator({ from, to, now: 0 })
      let out = ''
      for (const chunk of chunks) out += translator.push(chunk)
      return out + translator.end()
    }
    const floor = () => {
      for (const data of json) JSON.stringify(JSON.parse(data))
    }
    return { kind: 'streams', work, floor }
  })
}

function canRun({ work, floor }: Item): boolean {
  try {
    work()
    floor()
    return true
  } catch {
    return false
  }
}

function timeOf(work: () => unknown, repeats: number): number {
  const started = performance.now()
  for (let i = 0; i < repeats; i++) work()
  return ((performance.now() - started) * 1000) / repeats
}

/**
 * The best of several rounds, floor and work in turn, so that whatever else the machine does falls
 * on both.
 */
function timed({ kind, client, work, floor }: Item): Timed {
  const repeatsOf = (one: () => unknown) =>
    Math.max(1, Math.ceil((roundMs * 1000) / Math.max(timeOf(one, 2), 0.5)))
  const [workRepeats, floorRepeats] = [repeatsOf(work), repeatsOf(floor)]
  let [us, floorUs] = [Infinity, Infinity]
  for (let round = 0; round < rounds; round++) {
    floorUs = Math.min(floorUs, timeOf(floor, floorRepeats))
    us = Math.min(us, timeOf(work, workRepeats))
  }
  return { kind, ...(client !== undefined && { client }), us, floorUs }
}

function measured(from: ProtocolName, to: ProtocolName): TrafficResult {
  const result: TrafficResult = { timed: [], refused: {} }
  for (const items of [
    recordedItems(from, to),
    requestItems(from, to),
    responseItems(from, to),
    streamItems(from, to),
  ]) {
    const able = items.filter(canRun)
    const [first] = items
    if (first && able.length < items.length) result.refused[first.kind] = items.length - able.length
    for (const until = performance.now() + warmMs; able.length > 0 && performance.now() < until; )
      for (const { work, floor } of able) {
        work()
        floor()
      }
    for (const item of able) result.timed.push(timed(item))
  }
  return result
}

const [from, to] = process.argv.slice(2) as [ProtocolName, ProtocolName]
process.send?.(measured(from, to))
