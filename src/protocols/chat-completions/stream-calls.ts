import type { CanonicalEvent } from '../../canonical/event.ts'
import type { ToolCallPart } from '../../canonical/message.ts'
import { hashId } from '../../kit/ids.ts'
import { advanceJson, isObject, type JsonObject, type JsonProgress, startJson } from '../../kit/json.ts'
import type { Emit } from '../../protocol.ts'
import { add, closePart, openPart, placeOf } from './open-parts.ts'
import { kept } from './own.ts'
import { decodeCallSignature } from './reasoning.ts'
import type { Choice, State } from './stream-decoder.ts'
import { originalName } from './tools.ts'

export type Call = {
  id: string
  name: string
  input: string
  kind: ToolCallPart['kind']
  /** Ordinal of the part once it was announced, which waits for a name. */
  part: number | undefined
  json: JsonProgress
}

export type Into = { delta: JsonObject; emit: Emit<CanonicalEvent> }

export const isText = (value: unknown) => typeof value === 'string' && value !== ''

export function readCall(state: State, choice: Choice, { delta, position, emit }: Into & { position: number }): void {
  const { index, id, type, extra_content } = delta
  const freeform = type === 'custom' || isObject(delta['custom'])
  const body = delta[freeform ? 'custom' : 'function']
  const inner = isObject(body) ? body : {}
  const name = isText(inner['name']) ? (inner['name'] as string) : ''
  const input = readInput(inner[freeform ? 'input' : 'arguments'])
  const link = isText(id) ? (id as string) : ''
  const place = findCall(choice, { index, id: link, name, input })
  if (place === undefined) {
    const call: Call = { id: link, name, input: '', kind: freeform ? 'freeform' : 'function', part: undefined, json: startJson() }
    choice.calls.push(call)
    if (typeof index === 'number') choice.byIndex.set(index, choice.calls.length - 1)
  }
  const call = choice.calls[place ?? choice.calls.length - 1]
  if (!call) return
  if (!call.id) call.id = link
  if (!call.name) call.name = name
  const at = `${placeOf(choice)}/tool_calls/${position}`
  addInput(state, choice, { call, input, emit, head: { at, signature: decodeCallSignature(extra_content, 'server'), extra_content } })
}

/** Arguments are text; some servers send the object, or nothing yet. */
function readInput(input: unknown): string {
  if (typeof input === 'string') return input
  return input === undefined || input === null ? '' : JSON.stringify(input)
}

/**
 * Which call a delta is of; undefined: a new one. The index says so, but some servers leave it out, and some give all calls
 * of an answer the same: then an id nobody has, or a name when the arguments so far are whole, begins a new call.
 */
function findCall(choice: Choice, { index, id, name, input }: { index: unknown; id: string; name: string; input: string }): number | undefined {
  const { calls, byIndex } = choice
  const byId = id ? calls.findIndex(call => call.id === id) : -1
  const place = typeof index === 'number' ? byIndex.get(index) : byId >= 0 ? byId : id ? undefined : calls.length > 0 ? calls.length - 1 : undefined
  const call = place === undefined ? undefined : calls[place]
  if (!call || place === undefined) return undefined
  if (id && call.id && id !== call.id) {
    if (byId >= 0) return byId
    if (name) return undefined
  }
  const another = name && !id && call.json.whole && (name !== call.name || input.trim() !== '')
  return another ? undefined : place
}

export function readLegacyCall(state: State, choice: Choice, { delta, emit }: Into): void {
  let call = choice.calls[0]
  // Some servers put an empty call beside every text.
  if (!call && !isText(delta['name']) && readInput(delta['arguments']) === '') return
  if (!call) {
    call = { id: 'call_fn_0', name: '', input: '', kind: 'function', part: undefined, json: startJson() }
    choice.calls.push(call)
  }
  if (!call.name && isText(delta['name'])) call.name = delta['name'] as string
  addInput(state, choice, { call, input: readInput(delta['arguments']), emit, head: { at: `${placeOf(choice)}/function_call`, legacy: true } })
}

type CallDelta = {
  call: Call
  input: string
  emit: Emit<CanonicalEvent>
  head: { at: string; signature?: ToolCallPart['signature'] | undefined; extra_content?: unknown; legacy?: boolean }
}

function addInput(state: State, choice: Choice, { call, input, emit, head }: CallDelta): void {
  advanceJson(call.json, input)
  if (call.part !== undefined) {
    if (head.signature) add(choice, call.part, { delta: { kind: 'signature', signature: head.signature }, emit })
    if (input) add(choice, call.part, { delta: { kind: 'input', text: input }, emit })
    return
  }
  call.input += input
  if (!call.name) return
  closePart(choice, emit)
  const synthesized = !call.id || head.legacy
  if (!call.id) call.id = `call_${hashId(`${state.id}/${choice.candidate}/${choice.calls.indexOf(call)}`)}`
  const { at, signature, extra_content: extra, legacy } = head
  const part: ToolCallPart = {
    type: 'tool-call',
    id: call.id,
    ...(synthesized && { idOrigin: 'synthesized' }),
    ...originalName(call.name, state.context),
    kind: call.kind,
    input: '',
    at,
    ...(signature && { signature }),
    ...kept(extra !== undefined && extra !== null && !signature ? { extra_content: extra } : {}, { nulls: [], legacy, extra: signature && extra }),
  }
  call.part = openPart(choice, part, emit)
  if (call.input) add(choice, call.part, { delta: { kind: 'input', text: call.input }, emit })
  call.input = ''
}
