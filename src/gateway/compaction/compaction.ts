import type { CanonicalEvent } from '../../canonical/event.ts'
import type { ControlPart } from '../../canonical/message.ts'
import { textOf } from '../../canonical/read.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { Usage } from '../../canonical/response.ts'
import { optionsFor } from '../../kit/fields/option-groups.ts'
import { isObject } from '../../kit/json/json.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { streamHeaders } from '../../sse/write.ts'
import { explodeResponse } from '../../translate/fold.ts'
import { refuseIfStrict } from '../../translate/settings.ts'
import { changedRequest } from '../body/changed-request.ts'
import { estimateTokens } from '../endpoints/estimate.ts'
import { reject } from '../error.ts'
import { freshIds } from '../ids.ts'
import { type GatewayResponse, jsonResponse } from '../request.ts'
import type { Answering, RequestContext, Service, Trace } from '../request-context.ts'
import { forgetCall } from '../use.ts'
import { type Asked, isTrigger, withoutAsking } from './asked.ts'
import { heading, isInstruction, ownerOf, said } from './unsealed.ts'

/** What a model is asked for. */
const standard =
  'Write a summary of the conversation so far, from which the work can go on without it: what the user wants, what was done and decided, which files, commands and facts matter, what is open, and what comes next. Write the summary alone.'

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
      ...value.messages.filter(isInstruction),
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
