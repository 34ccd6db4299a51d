import { createStreamTranslator, translateRequest } from '../src/api.ts'
import { type ProtocolName, protocolNames, protocols } from '../src/protocols/index.ts'
import { grownRequest, streamOf } from './fixtures.ts'
import { type Measured, measure } from './measure.ts'

/**
 * Runs with `--expose-gc` and a young generation so large that nothing is collected while a stream
 * is counted.
 */

export type Cost = {
  from: ProtocolName
  to: ProtocolName
  openBytes: number
  garbageBytes: number
  text: number
}

const used = () => {
  globalThis.gc?.()
  return process.memoryUsage().heapUsed
}

/** What a stream holds in its middle, and what each of its events leaves behind. */
function costOf(from: ProtocolName, to: ProtocolName): Cost {
  const { frames, events } = streamOf(protocols[from], 'agent')
  const half = frames.slice(0, Math.floor(frames.length / 2))
  const open = (chunks: readonly string[]) => {
    const translator = createStreamTranslator({ from, to })
    // As bytes, for strings would be slices of one another.
    for (const chunk of chunks) translator.push(Buffer.from(chunk))
    return translator
  }
  for (let i = 0; i < 50; i++) open(frames).end()
  const before = used()
  const streams = Array.from({ length: 200 }, () => open(half))
  const openBytes = (used() - before) / streams.length
  streams.length = 0

  globalThis.gc?.()
  const bytes = frames.map(frame => Buffer.from(frame))
  const start = process.memoryUsage().heapUsed
  for (let run = 0; run < 10; run++) {
    const translator = createStreamTranslator({ from, to })
    for (const chunk of bytes) translator.push(chunk)
    translator.end()
  }
  const garbageBytes = (process.memoryUsage().heapUsed - start) / 10 / events
  return { from, to, openBytes, garbageBytes, text: half.join('').length }
}

/** Time for each message, and for each tool, of longer and longer requests. */
async function growth(): Promise<{ messages: Measured[]; tools: Measured[] }> {
  const from = 'messages'
  const to = 'chat-completions'
  const grown = (turns: number, tools: number) => grownRequest(protocols[from], turns, tools)
  const task = (name: string, wire: unknown, units: number) => ({
    name,
    units,
    work: () => void translateRequest(wire, { from, to }),
  })
  return {
    messages: await measure(
      [10, 30, 100, 300, 1000].map(turns =>
        task(`${turns * 3} messages`, grown(turns, 0), turns * 3),
      ),
    ),
    tools: await measure(
      [10, 30, 100, 300, 1000].map(count => task(`${count} tools`, grown(1, count), count)),
    ),
  }
}

const costs = protocolNames.flatMap(from => protocolNames.map(to => costOf(from, to)))
process.send?.({ costs, ...(await growth()) })
