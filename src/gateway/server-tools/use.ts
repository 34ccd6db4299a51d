import type { CanonicalEvent } from '../../canonical/event.ts'
import type { ServerToolPart, ToolCallPart } from '../../canonical/message.ts'
import type { ServerTool } from '../../canonical/tool.ts'
import { parseObject } from '../../kit/json/json.ts'
import { inTime } from '../in-time.ts'
import type { Reading } from '../stream-hook.ts'
import { mcpParts } from './mcp.ts'
import { isOfMcp } from './request.ts'
import { type Found, failed, type Returned, webParts } from './result.ts'
import { runTool } from './run.ts'
import type { Running } from './running.ts'

/** In milliseconds, for one use of a tool. */
const mostMs = 60_000

/** So many calls of one round are run. */
const mostCalls = 16
const tooMany = failed('These are too many calls at once.')

/** So many pages can be cited. */
const mostFound = 200

/** How a response uses the tools. */
export class Use {
  /** What they have found, by address. */
  readonly found = new Map<string, Found>()
  readonly #running: Running
  readonly #reading: Reading
  readonly #counts = new Map<ServerTool, number>()
  readonly #ids = new Set<string>()

  constructor(running: Running, reading: Reading) {
    this.#running = running
    this.#reading = reading
  }

  /** Runs the calls of one round. */
  async results(calls: readonly ToolCallPart[]): Promise<Returned[]> {
    const all = await Promise.all(
      calls.map((call, nth) => (nth < mostCalls ? this.#run(call) : tooMany)),
    )
    for (const page of all.flatMap(({ found }) => found))
      if (!this.found.has(page.url) && this.found.size < mostFound) this.found.set(page.url, page)
    return all
  }

  /** How the client sees a call. Servers repeat their ids in each response. */
  shown(call: ToolCallPart, result: Returned): ServerToolPart[] {
    const tool = this.#running.tools.get(call.name)
    if (!tool) return []
    let { id } = call
    for (let nth = 2; this.#ids.has(id); nth++) id = `${call.id}_${nth}`
    this.#ids.add(id)
    const { protocol } = this.#running.incoming
    return isOfMcp(tool)
      ? mcpParts(protocol.name, { ...call, id }, tool, result)
      : webParts({ ...call, id }, tool.asked.tool, result)
  }

  /** Usage with the number of uses of each tool, as providers count them. */
  counted(event: CanonicalEvent): CanonicalEvent {
    if (event.type !== 'usage') return event
    const counts = [...this.#counts].filter(([{ mcp }]) => !mcp)
    if (counts.length === 0) return event
    const serverTools = Object.fromEntries(counts.map(([{ tool }, count]) => [tool, count]))
    return { ...event, usage: { ...event.usage, serverTools } }
  }

  /** Never throws: the model reads that the tool has failed. */
  async #run({ name, input }: ToolCallPart): Promise<Returned> {
    const { service, trace } = this.#reading
    const { signal } = this.#running.incoming.request
    const tool = this.#running.tools.get(name)
    const given = parseObject(input)
    if (!tool || !given) return failed('The arguments are not a JSON object.')
    const { asked } = tool
    const count = this.#counts.get(asked) ?? 0
    if (count >= (asked.common?.maxUses ?? Infinity))
      return failed('The tool may not be used again.')
    this.#counts.set(asked, count + 1)
    try {
      const { request, identity = {} } = trace
      return await inTime(signal, mostMs, async end =>
        runTool(service, tool, given, { request, identity, signal: end }),
      )
    } catch (error) {
      const { requestId } = trace
      if (!signal.aborted)
        service.log('warn', { requestId, tool: name, error }, 'a tool of the application failed')
      return failed('The tool failed.')
    }
  }
}
