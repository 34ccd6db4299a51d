import { createStreamTranslator, translateRequest, translateResponse } from '../../src/api.ts'
import { protocols } from '../../src/protocols/index.ts'
import type { Covered } from '../../test/support/covered.ts'
import { requestOf, responseOf, streamOf } from '../fixtures.ts'
import { type Measured, measure, type Task } from '../measure.ts'
import { wrongInRequest, wrongInResponse, wrongInStream } from '../right.ts'
import { contender, type Ways } from './contenders.ts'

/**
 * `wrong`: what was timed, and came out otherwise than it should; `cannot`: what was not timed, and
 * why.
 */
export type PeerResult = {
  name: string
  version: string
  measures: Measured[]
  wrong: Record<string, string>
  cannot: Record<string, string>
}

/** What each thing timed is called; ours has the same name behind this. */
export const ours = 'wireglot: '

/**
 * One contender and one pair in a process of their own, compared with this library and the floor.
 */
const [name = '', from, to, dir = ''] = process.argv.slice(2) as [string, Covered, Covered, string]

// A contender may log what it does for each event.
console.log = () => {}
console.error = () => {}

const { version, ways } = await contender(name, dir)
const can: Ways = ways(from, to)
const result: PeerResult = { name, version, measures: [], wrong: {}, cannot: {} }
const tasks: Task[] = []

type Turn = {
  what: string
  units: number
  floor(): void
  theirs(): unknown
  ours(): void
  wrong(out: unknown): string | undefined | Promise<string | undefined>
}

/** Of text that is not the same nothing is timed: who loses half of it is fast. */
async function enter({ what, units, floor, theirs, ours: own, wrong }: Turn): Promise<void> {
  try {
    const fault = await wrong(await theirs())
    if (fault?.includes('text')) throw new Error(fault)
    if (fault) result.wrong[what] = fault
  } catch (error) {
    result.cannot[what] =
      (error instanceof Error ? error.message : String(error)).split('\n')[0]?.slice(0, 120) ?? ''
    return
  }
  const base = `${what}: parse + stringify`
  tasks.push(
    { name: base, units, work: floor },
    { name: what, units, floor: base, work: theirs },
    { name: ours + what, units, floor: base, work: own },
  )
}

const now = 1_750_000_000
const missing = 'has no such conversion'

for (const kind of ['text', 'agent'] as const) {
  const what = `${kind} stream`
  const { stream } = can
  if (!stream) result.cannot[what] = missing
  else {
    const { frames, events } = streamOf(protocols[from], kind)
    const json = frames.flatMap(frame => /^data: (\{.*)$/m.exec(frame)?.[1] ?? [])
    const chunks = frames.map(frame => new TextEncoder().encode(frame))
    await enter({
      what,
      units: events,
      floor: () => {
        for (const text of json) JSON.stringify(JSON.parse(text))
      },
      theirs: () => stream(chunks),
      ours: () => {
        const translator = createStreamTranslator({ from, to, now })
        let out = ''
        for (const chunk of chunks) out += translator.push(chunk)
        return out + translator.end()
      },
      wrong: text => wrongInStream(String(text), to, kind),
    })
  }
}

const enterWhole = async (
  what: string,
  wire: unknown,
  convert: Ways['request'],
  own: (body: unknown) => unknown,
  wrong: Turn['wrong'],
) => {
  if (!convert) {
    result.cannot[what] = missing
    return
  }
  const text = JSON.stringify(wire)
  const theirs = () => {
    const made = convert(JSON.parse(text))
    return made instanceof Promise ? made.then(body => JSON.stringify(body)) : JSON.stringify(made)
  }
  await enter({
    what,
    units: 1,
    floor: () => void JSON.stringify(JSON.parse(text)),
    theirs,
    ours: () => void JSON.stringify(own(JSON.parse(text))),
    wrong: out => wrong(JSON.parse(String(out))),
  })
}

for (const [size, what] of [
  ['small', 'request of 1 KB'],
  ['agent', 'request of 150 KB'],
] as const) {
  const wire = requestOf(protocols[from], size)
  await enterWhole(
    what,
    wire,
    can.request,
    body => translateRequest(body, { from, to }).body,
    body => wrongInRequest(wire, from, body, to),
  )
}
await enterWhole(
  'response',
  responseOf(protocols[from]),
  can.response,
  body => translateResponse(body, { from, to, now }).body,
  body => wrongInResponse(body, to, 'agent'),
)

result.measures = await measure(tasks)
process.send?.(result)
process.disconnect?.()
process.exit()
