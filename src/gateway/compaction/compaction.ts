import type { CanonicalEvent } from '../../canonical/event.ts'
import type { ControlPart, Message, Part } from '../../canonical/message.ts'
import { textOf } from '../../canonical/read.ts'
import type { CanonicalRequest, StateSpec } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/response.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { optionsFor } from '../../kit/fields/option-groups.ts'
import { isObject } from '../../kit/json/json.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { streamHeaders } from '../../sse/write.ts'
import { type Seal, sealPrefix } from '../../stores/seal.ts'
import { explodeResponse } from '../../translate/fold.ts'
import { refuseIfStrict } from '../../translate/settings.ts'
import type { ReadBody } from '../body/body.ts'
import { mayHoldAny } from '../body/bytes.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { estimateTokens } from '../endpoints/estimate.ts'
import { reject } from '../error.ts'
import type { Identity } from '../hooks.ts'
import { freshIds } from '../ids.ts'
import { type GatewayResponse, jsonResponse } from '../request.ts'
import type { Answering, RequestContext, Service, Trace } from '../request-context.ts'
import { forgetCall } from '../use.ts'

/** What a model is asked for. */
const standard =
  'Write a summary of the conversation so far, from which the work can go on without it: what the user wants, what was done and decided, which files, commands and facts matter, what is open, and what comes next. Write the summary alone.'

const heading = 'The conversation so far, as a summary:'

const ownerOf = ({ id, name }: Identity): string => id ?? name ?? ''

/**
 * The request with the summaries in place of what was sealed for this client.
 * @throws GatewayError 400 for a seal that cannot be opened
 */
export async function unsealed(
  seal: Seal,
  incoming: RequestContext,
  identity: Identity,
): Promise<RequestContext> {
  const { body } = incoming
  if (!mayHold(body, sealPrefix)) return incoming
  await body.parse?.()
  const texts = new Map<string, string>()
  for (const { parts } of decoded(incoming).messages)
    for (const part of parts) {
      const sealed = sealedIn(part)
      if (sealed === undefined) continue
      const text = await seal.open(sealed, ownerOf(identity))
      if (text === undefined)
        throw reject(400, 'invalid_request', 'a compaction was made for another client or key')
      texts.set(sealed, text)
    }
  if (texts.size === 0) return incoming
  return {
    ...incoming,
    body: changedRequest(incoming, value => ({
      ...value,
      messages: withoutCompacted(value.messages).map(message => withTexts(message, texts)),
    })),
  }
}

/**
 * Where a compaction stands inside of a turn, its client sends everything before it, too. Only the
 * instructions among that still count. Items replace by themselves what they stand for.
 */
function withoutCompacted(messages: readonly Message[]): Message[] {
  const isBlock = (part: Part) => sealedIn(part) !== undefined
  const last = messages.findLastIndex(
    ({ origin, parts }) => origin !== 'item' && parts.some(isBlock),
  )
  const message = messages[last]
  if (!message) return [...messages]
  const at = message.parts.findLastIndex(isBlock)
  const rest = message.parts.slice(at + 1)
  return [
    ...messages.slice(0, last).filter(({ role }) => role === 'system'),
    { ...message, parts: message.parts.slice(at, at + 1) },
    ...(rest.length > 0 ? [{ ...message, parts: rest }] : []),
    ...messages.slice(last + 1),
  ]
}

/** Not by destructuring: the value of a long body is parsed when it is read. */
function mayHold(body: ReadBody, word: string): boolean {
  return body.bytes
    ? mayHoldAny(body.bytes, [word])
    : (JSON.stringify(body.value) ?? '').includes(word)
}

function sealedIn(part: Part): string | undefined {
  if (part.type !== 'control' || part.control !== 'compaction' || !isObject(part.raw))
    return undefined
  const { encrypted_content: sealed } = part.raw
  return typeof sealed === 'string' && sealed.startsWith(sealPrefix) ? sealed : undefined
}

function withTexts(message: Message, texts: ReadonlyMap<string, string>): Message {
  const [part] = message.parts.flatMap(one => sealedIn(one) ?? [])
  if (part === undefined) return message
  return said(`${heading}\n\n${texts.get(part) ?? ''}`)
}

const said = (text: string): Message => ({
  role: 'user',
  origin: 'message',
  parts: [{ type: 'text', text }],
})

/**
 * A compaction that a request asks for. `alone`: the response is nothing else. `form`: an item of
 * its own, or a block of a turn. `atTokens`: it is made only from this size on.
 */
type Asked = { form: 'item' | 'block'; alone: boolean; instructions?: string; atTokens?: number }

/** From this size on, if the request does not say. */
const standardTokens = 150_000

/** Undefined: it asks for none, or providers of its protocol make it. */
export async function compactionAsked(incoming: RequestContext): Promise<Asked | undefined> {
  const { protocol, body, candidates } = incoming
  if (!words.some(word => mayHold(body, word))) return undefined
  if (candidates[0]?.protocol === protocol && !candidates[0].channel.embedded) return undefined
  await body.parse?.()
  const { messages, state } = decoded(incoming)
  if (messages.some(({ parts }) => parts.some(isTrigger))) return { form: 'item', alone: true }
  if (isObject(state?.compaction)) {
    const { instructions } = state.compaction
    return { form: 'block', alone: true, ...told(instructions) }
  }
  return editIn(state)
}

const words = ['"compaction_trigger"', '"compaction"', '"compact_']

const told = (instructions: unknown) =>
  typeof instructions === 'string' && instructions !== '' ? { instructions } : {}

/** A compaction that is made when the conversation is long, before it is answered. */
function editIn(state: StateSpec | undefined): Asked | undefined {
  const { list, form } = editsIn(state)
  for (const edit of list) {
    if (!isCompaction(edit)) continue
    const { instructions, pause_after_compaction: pauses, trigger, compact_threshold: most } = edit
    const tokens = isObject(trigger) ? trigger['value'] : most
    return {
      form,
      alone: pauses === true,
      atTokens: typeof tokens === 'number' ? tokens : standardTokens,
      ...told(instructions),
    }
  }
  return undefined
}

function editsIn(state: StateSpec | undefined): { list: unknown[]; form: Asked['form'] } {
  const { contextManagement: wanted } = state ?? {}
  if (Array.isArray(wanted)) return { list: wanted, form: 'item' }
  const { edits } = isObject(wanted) ? wanted : {}
  return { list: Array.isArray(edits) ? edits : [], form: 'block' }
}

const isCompaction = (edit: unknown): edit is Record<string, unknown> =>
  isObject(edit) && String(edit['type']).startsWith('compact')

/** The request without what asks for a compaction. */
function withoutAsking(request: CanonicalRequest): CanonicalRequest {
  const { state, ...rest } = request
  if (!state) return request
  const { compaction: _, contextManagement, ...others } = state
  const list = editsIn(state).list.filter(edit => !isCompaction(edit))
  const left = Array.isArray(contextManagement) ? list : { edits: list }
  const kept = omitUndefined({
    ...others,
    contextManagement: list.length > 0 ? (left as typeof contextManagement) : undefined,
  })
  return Object.keys(kept).length > 0 ? { ...rest, state: kept as StateSpec } : rest
}

/**
 * What a request that asks for a compaction becomes: the response, if the compaction is all of it.
 * Else the request that is answered instead, with the part that its response begins with, if the
 * conversation was long enough.
 */
export async function withCompaction(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { asked, answer }: { asked: Asked; answer: Answering },
): Promise<GatewayResponse | { incoming: RequestContext; part?: ControlPart }> {
  const { body } = incoming
  if (asked.atTokens !== undefined && estimateTokens(body.value) < asked.atTokens)
    return { incoming: { ...incoming, body: changedRequest(incoming, withoutAsking) } }
  if (asked.alone) return compacted(service, incoming, trace, { asked, answer })
  const { part, text } = await compaction(service, incoming, trace, { asked, answer })
  forgetCall(trace)
  const change = (value: CanonicalRequest): CanonicalRequest => ({
    ...withoutAsking(value),
    messages: [
      ...value.messages.filter(({ role }) => role === 'system'),
      said(`${heading}\n\n${text}\n\nGo on from here.`),
    ],
  })
  return {
    incoming: {
      ...incoming,
      body: changedRequest(incoming, change),
      notes: [...(incoming.notes ?? []), note],
    },
    part,
  }
}

/** The events of a response that begins with one more part. */
export async function* withFirstPart(
  events: AsyncIterable<CanonicalEvent>,
  head: ControlPart,
): AsyncGenerator<CanonicalEvent, undefined> {
  let isSent = false
  for await (const event of events) {
    if ('part' in event && event.candidate === 0) yield { ...event, part: event.part + 1 }
    else if (isSent || event.type !== 'message.start') yield event
    else {
      const { candidate, message } = event
      isSent = true
      yield event
      yield { type: 'part.start', candidate, message, part: 0, head }
      yield { type: 'part.end', candidate, part: 0 }
    }
  }
  return undefined
}

const isTrigger = (part: Part): part is ControlPart =>
  part.type === 'control' && part.control === 'compaction-trigger'

const note = gatewayNote('gateway.compacted', '')

type Asking = { asked: Asked; answer: Answering }

/** A response that is a compaction: a summary by the model, sealed for the client. */
export async function compacted(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  asking: Asking,
): Promise<GatewayResponse> {
  const { protocol, stream, model } = incoming
  const { now, newId } = freshIds()
  const { part, usage } = await compaction(service, incoming, trace, asking)
  trace.notes.push(note)
  const { form } = asking.asked
  const { wire } = protocol.encodeResponse(
    {
      id: newId('resp_'),
      model,
      createdAt: now,
      completedAt: now,
      candidates: [
        {
          index: 0,
          messages: [
            { role: 'assistant', origin: form === 'item' ? 'item' : 'message', parts: [part] },
          ],
          finish: { reason: form === 'item' ? 'stop' : 'compaction' },
        },
      ],
      ...(usage && { usage }),
    },
    optionsFor(protocol, { now, newId }),
  )
  if (incoming.operation === 'compact')
    return jsonResponse({
      id: newId('resp_'),
      object: 'response.compaction',
      created_at: now,
      output: [part.raw],
      usage: isObject(wire) ? wire['usage'] : undefined,
    })
  if (!stream) return jsonResponse(wire)
  const settings = { context: { from: protocol.name, to: protocol.name }, model, now, newId }
  const { text } = explodeResponse(wire, protocol, settings)
  return { status: 200, headers: { ...streamHeaders }, body: text }
}

async function compaction(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { asked, answer }: Asking,
): Promise<{ part: ControlPart; text: string; usage: Usage | undefined }> {
  const { protocol } = incoming
  const { seal, config } = service
  refuseIfStrict([note], config.defaults.strict, protocol.name)
  const { newId } = freshIds()
  const asking = { ...incoming, operation: 'generate', stream: false, asList: false } as const
  const { instructions = standard } = config.compaction ?? {}
  const more = asked.instructions === undefined ? '' : `\n\n${asked.instructions}`
  const body = changedRequest(asking, value => asksForSummary(value, instructions + more))
  const response = await answer(service, { ...asking, body }, trace)
  const { usage } = response
  const text = textOf(response)
  if (!seal || text.trim() === '')
    throw reject(502, 'internal', 'the model wrote no summary of the conversation')
  const sealed = await seal.close(text, ownerOf(trace.identity ?? {}))
  const raw =
    asked.form === 'item'
      ? { type: 'compaction', id: newId('cmp_'), encrypted_content: sealed }
      : { type: 'compaction', content: sealedWords, encrypted_content: sealed }
  return {
    part: { type: 'control', control: 'compaction', protocol: protocol.name, raw },
    text,
    usage,
  }
}

/** Without any, clients would take the compaction for one that has failed. */
const sealedWords = 'The summary is sealed.'

/** Tools stay: the history has calls of them. */
function asksForSummary(value: CanonicalRequest, instructions: string): CanonicalRequest {
  const { output: _, stream: __, ...request } = withoutAsking(value)
  const messages = request.messages
    .map(message => ({ ...message, parts: message.parts.filter(part => !isTrigger(part)) }))
    .filter(({ parts }) => parts.length > 0)
  return {
    ...request,
    ...(request.tools?.length && { toolChoice: { mode: 'none' } as const }),
    messages: [...messages, said(instructions)],
  }
}
