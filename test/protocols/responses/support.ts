import OpenAI from 'openai'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import type { Note } from '../../../src/canonical/note.ts'
import { isObject, type JsonObject } from '../../../src/kit/json/json.ts'
import type { CodecOptions, MachineState, StreamMachine } from '../../../src/protocol.ts'
import { type ResponsesOptions, responses } from '../../../src/protocols/responses/index.ts'
import { normalize } from '../../../src/testing/streams.ts'

type Options = CodecOptions & ResponsesOptions

/**
 * Everything that a machine gives for these events. A short stream's state is copied between any
 * two, so that it must be plain data.
 */
export function run<In, Out>(
  machine: StreamMachine<In, Out, MachineState, ResponsesOptions>,
  events: readonly In[],
  options?: Options,
): { out: Out[]; notes: Note[] } {
  let state = machine.initial(options)
  const out: Out[] = []
  for (const event of events) {
    if (events.length < 60) state = structuredClone(state)
    machine.step(state, event, one => out.push(one))
  }
  machine.end(state, one => out.push(one))
  return { out, notes: state.notes }
}

export const decode = (wire: readonly unknown[]) => run(responses.streamDecoder, wire)
/** Without the counts of 0 that a response gets when its source has none. */
export function encode(events: readonly CanonicalEvent[], options?: Options) {
  const normalized = normalize(responses, events, options)
  const { out, notes } = run(responses.streamEncoder, normalized.events, options)
  const isMissing = notes.some(({ code }) => code === 'usage.missing')
  return {
    out: isMissing ? out.map(withoutUsage) : out,
    notes: [...normalized.notes, ...notes.filter(({ code }) => code !== 'usage.missing')],
  }
}

const withoutUsage = <Event>(event: Event): Event =>
  isObject(event) && isObject(event['response'])
    ? { ...event, response: { ...event['response'], usage: null } }
    : event

export function typesOf(wire: readonly unknown[]): string[] {
  return wire.map(event => (isObject(event) ? String(event['type']) : String(event)))
}

/** The `response` of the last event that has one. */
export function lastResponse(wire: readonly unknown[]): JsonObject {
  const event = wire.findLast(one => isObject(one) && isObject(one['response']))
  const response = isObject(event) ? event['response'] : undefined
  if (!isObject(response)) throw new Error('no event has a response')
  return response
}

/** What the official client makes of a stream. */
export async function accumulate(wire: readonly unknown[]): Promise<JsonObject> {
  const text = wire.map(event => responses.frames.write(event)).join('')
  const response = async () =>
    new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new OpenAI({ apiKey: 'key', maxRetries: 0, fetch: response })
  return { ...(await client.responses.stream({ model: 'm', input: 'x' }).finalResponse()) }
}

const partTypes = ['output_text', 'refusal', 'reasoning_text']

/** What strict accumulators refuse in a stream, one sentence each. */
export function faultsOf(wire: readonly unknown[]): string[] {
  const faults: string[] = []
  const items: {
    id: string
    type: string
    callId: unknown
    done: boolean
    parts: string[]
    summaries: number
  }[] = []
  let responseId: unknown
  let terminal = false
  for (const [place, event] of wire.entries()) {
    const fault = (what: string): void => {
      faults.push(`${place}: ${what}`)
    }
    if (event === '[DONE]') {
      if (place !== wire.length - 1) fault('[DONE] is last')
      continue
    }
    if (!isObject(event)) {
      fault('not an object')
      continue
    }
    const type = String(event['type'])
    if (event['sequence_number'] !== place)
      fault(`sequence_number is ${String(event['sequence_number'])}`)
    if (place === 0 && type !== 'response.created') fault('the first event is response.created')
    if (terminal) fault('nothing follows the terminal event')
    const { response } = event
    if (isObject(response)) {
      responseId ??= response['id']
      if (response['id'] !== responseId) fault('the response id changed')
      terminal = ['response.completed', 'response.incomplete', 'response.failed'].includes(type)
      if (type === 'response.completed')
        for (const item of items) if (!item.done) fault(`${item.type} is not done`)
      continue
    }
    if (type === 'error') continue
    const index = event['output_index']
    if (typeof index !== 'number') {
      fault('no output_index')
      continue
    }
    if (type === 'response.output_item.added') {
      const { item } = event
      if (!isObject(item) || typeof item['id'] !== 'string' || item['id'] === '') {
        fault('an item without id')
        continue
      }
      if (index !== items.length) fault('an item is not appended')
      if (items.some(({ id }) => id === item['id'])) fault('an id twice')
      if (String(item['type']).endsWith('_tool_call') && !item['call_id'])
        fault('a call without call_id')
      items.push({
        id: item['id'],
        type: String(item['type']),
        callId: item['call_id'],
        done: false,
        parts: [],
        summaries: 0,
      })
      continue
    }
    const open = items[index]
    if (!open) {
      fault('no such item')
      continue
    }
    if (open.done) fault('the item is done')
    if (type === 'response.output_item.done') {
      const { item } = event
      if (
        !isObject(item) ||
        item['id'] !== open.id ||
        item['type'] !== open.type ||
        item['call_id'] !== open.callId
      )
        fault('another item is done')
      open.done = true
      continue
    }
    // The events on the commands of a shell name no item.
    if (event['item_id'] !== open.id && !type.startsWith('response.shell_call_command.'))
      fault('item_id of another item')
    const content = event['content_index']
    if (type === 'response.content_part.added') {
      if (content !== open.parts.length) fault('a part is not appended')
      open.parts.push(isObject(event['part']) ? String(event['part']['type']) : '')
    } else if (type === 'response.reasoning_summary_part.added') {
      if (event['summary_index'] !== open.summaries) fault('a summary is not appended')
      open.summaries++
    } else if (typeof event['summary_index'] === 'number') {
      if (event['summary_index'] >= open.summaries) fault('no such summary')
    } else if (typeof content === 'number') {
      const part = open.parts[content]
      const wanted = partTypes.find(one => type.startsWith(`response.${one}`)) ?? part
      if (part === undefined || part !== wanted) fault('no such part')
    } else if (type.startsWith('response.function_call_arguments') && open.type !== 'function_call')
      fault('arguments of no function call')
  }
  if (!terminal) faults.push('no terminal event')
  if (wire.at(-1) !== '[DONE]') faults.push('no [DONE]')
  return faults
}
