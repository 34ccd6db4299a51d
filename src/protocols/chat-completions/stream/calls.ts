import { copyOf } from '../../../canonical/copy.ts'
import type { Place } from '../../../canonical/message.ts'
import { hashId } from '../../../kit/conversation/ids.ts'
import { omitNullishOrNone } from '../../../kit/fields/omit.ts'
import {
  advanceJson,
  type JsonObject,
  mergeInto,
  saysMore,
  startJson,
} from '../../../kit/json/json.ts'
import { pointerOf } from '../../../kit/notes/path.ts'
import { readInput } from '../../../kit/tools/object-input.ts'
import type { EmitEvent } from '../../../protocol.ts'
import { callPart, noteInput, readCall } from '../content/calls.ts'
import { carriedIssuer } from '../content/signatures.ts'
import {
  type Beside,
  type Call,
  type Choice,
  type DecoderState,
  placeOf,
  reportOf,
} from './decoder-state.ts'
import { add, closePart, openPart } from './open-parts.ts'

export type Into = { delta: JsonObject; emit: EmitEvent }

export const isText = (value: unknown) => typeof value === 'string' && value !== ''

export function takeCall(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  const read = readCall(delta, carriedIssuer.server)
  const { id, index, name, kind, input, signature, unknown } = read
  const place = findCall(choice, { index, id, name, input })
  if (place === undefined) {
    for (const earlier of choice.named.splice(0)) announce(state, choice, earlier, emit)
    addCall(choice, startCall(name, kind, choice.calls.length))
    if (typeof index === 'number') choice.byIndex.set(index, choice.calls.length - 1)
  }
  const call = choice.calls[place ?? choice.calls.length - 1]
  if (!call) return
  if (!call.id) identify(choice, call, id)
  setName(choice, call, call.name || name)
  const at = `${pointerOf(placeOf(choice))}/tool_calls/${call.place}`
  noteInput(read, at, reportOf(state))
  addInput(state, choice, { call, input, emit, at, beside: { signature, unknown } })
}

/**
 * The place in `calls` of the call that a delta belongs to. Undefined: a new call. The index
 * decides, but some servers leave it out, and some give all calls of a response the same: then a
 * new id, or a name after complete arguments, begins a new call.
 */
function findCall(
  choice: Choice,
  { index, id, name, input }: { index: unknown; id: string; name: string; input: string },
): number | undefined {
  const { calls, byIndex } = choice
  const byId = id ? (choice.byId.get(id) ?? -1) : -1
  const place = typeof index === 'number' ? byIndex.get(index) : placeWithoutIndex(choice, id, byId)
  const call = place === undefined ? undefined : calls[place]
  if (!call || place === undefined) return undefined
  if (id && call.id && id !== call.id) {
    if (byId >= 0) return byId
    if (name) return undefined
  }
  const another = name && !id && call.json.whole && (name !== call.name || input.trim() !== '')
  return another ? undefined : place
}

/** An unknown id begins a new call; a delta without one belongs to the last call. */
function placeWithoutIndex({ calls }: Choice, id: string, byId: number): number | undefined {
  if (byId >= 0) return byId
  return id || calls.length === 0 ? undefined : calls.length - 1
}

export function readLegacyCall(state: DecoderState, choice: Choice, { delta, emit }: Into): void {
  let call = choice.calls[0]
  // Some servers send an empty call with every text.
  if (!call && !isText(delta['name']) && readInput(delta['arguments']) === '') return
  if (!call) {
    call = startCall('', 'function', 0)
    call.isLegacy = true
    addCall(choice, call)
    identify(choice, call, 'call_fn_0')
  }
  if (isText(delta['name'])) setName(choice, call, call.name || (delta['name'] as string))
  const { name: _, arguments: input, ...unknown } = delta
  addInput(state, choice, {
    call,
    input: readInput(input),
    emit,
    at: `${pointerOf(placeOf(choice))}/function_call`,
    beside: { unknown: omitNullishOrNone(unknown) },
  })
}

const startCall = (name: string, kind: Call['kind'], place: number): Call => ({
  place,
  id: '',
  name,
  input: '',
  kind,
  part: undefined,
  json: startJson(),
  beside: { unknown: undefined },
  isLegacy: false,
})

function addCall(choice: Choice, call: Call): void {
  choice.calls.push(call)
  if (call.name) choice.named.push(call)
}

/** Gives a call its id. The first call of an id is the one that it names. */
function identify({ byId }: Choice, call: Call, id: string): void {
  call.id = id
  if (id && call.place <= (byId.get(id) ?? Infinity)) byId.set(id, call.place)
}

function setName(choice: Choice, call: Call, name: string): void {
  if (!call.name && name) choice.named.push(call)
  call.name = name
}

type CallDelta = { call: Call; input: string; emit: EmitEvent; at: Place; beside: Beside }

function addInput(
  state: DecoderState,
  choice: Choice,
  { call, input, emit, at, beside }: CallDelta,
): void {
  advanceJson(call.json, input)
  const { signature, unknown } = beside
  if (call.part !== undefined) {
    if (signature) add(choice, call.part, { delta: { kind: 'signature', signature }, emit })
    if (input) add(choice, call.part, { delta: { kind: 'input', text: input }, emit })
    // The part has already been announced, so unknown keys that come now have no place.
    if (unknown && saysMore(call.beside.unknown ?? {}, unknown))
      reportOf(state).once('field.unknown', at)
    return
  }
  call.input += input
  call.at ??= at
  call.beside.signature = signature ?? call.beside.signature
  if (call.beside.signature) choice.callProofs.add(call.beside.signature.value)
  if (unknown && call.beside.unknown) mergeInto(call.beside.unknown, unknown)
  else if (unknown) call.beside.unknown = copyOf(unknown)
  announce(state, choice, call, emit)
}

/** Starts the part of a call once the call has a name. */
export function announce(state: DecoderState, choice: Choice, call: Call, emit: EmitEvent): void {
  if (!call.name || call.part !== undefined) return
  closePart(choice, emit)
  const isMadeUp = !call.id || call.isLegacy
  if (!call.id)
    identify(choice, call, `call_${hashId(`${state.id}/${choice.candidate}/${call.place}`)}`)
  const { id, name, kind, beside, at = placeOf(choice) } = call
  const part = callPart({ id, name, kind, input: '', ...beside }, isMadeUp, at)
  call.part = openPart(choice, part, emit)
  choice.byPart.set(call.part, call)
  if (call.input) add(choice, call.part, { delta: { kind: 'input', text: call.input }, emit })
  call.input = ''
}
