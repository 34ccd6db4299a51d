import type { ControlPart, Message, Part } from '../../canonical/message.ts'
import { textOf } from '../../canonical/read.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
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
import { reject } from '../error.ts'
import type { Identity } from '../hooks.ts'
import { freshIds } from '../ids.ts'
import { type GatewayResponse, jsonResponse } from '../request.ts'
import type { Answering, RequestContext, Service, Trace } from '../request-context.ts'

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
      messages: value.messages.map(message => withTexts(message, texts)),
    })),
  }
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

/** Does the request ask for a compaction that no provider of its protocol can make? */
export async function compactionAsked(incoming: RequestContext): Promise<boolean> {
  const { protocol, body, candidates } = incoming
  if (!mayHold(body, '"compaction_trigger"')) return false
  if (candidates[0]?.protocol === protocol && !candidates[0].channel.embedded) return false
  await body.parse?.()
  return decoded(incoming).messages.some(({ parts }) => parts.some(isTrigger))
}

const isTrigger = (part: Part): part is ControlPart =>
  part.type === 'control' && part.control === 'compaction-trigger'

/** A compaction that the gateway makes: a summary by the model, sealed for the client. */
export async function compacted(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  answer: Answering,
): Promise<GatewayResponse> {
  const { protocol, stream, model } = incoming
  const { now, newId } = freshIds()
  const { wire, item } = await compaction(service, incoming, trace, answer)
  if (incoming.operation === 'compact') {
    const { usage } = isObject(wire) ? wire : {}
    return jsonResponse({
      id: newId('resp_'),
      object: 'response.compaction',
      created_at: now,
      output: [item],
      usage,
    })
  }
  if (!stream) return jsonResponse(wire)
  const settings = { context: { from: protocol.name, to: protocol.name }, model, now, newId }
  const { text } = explodeResponse(wire, protocol, settings)
  return { status: 200, headers: { ...streamHeaders }, body: text }
}

async function compaction(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  answer: Answering,
): Promise<{ wire: unknown; item: object }> {
  const { protocol, model } = incoming
  const { seal, config } = service
  const note = gatewayNote('gateway.compacted', '')
  refuseIfStrict([note], config.defaults.strict, protocol.name)
  const { now, newId } = freshIds()
  const asking = { ...incoming, operation: 'generate', stream: false, asList: false } as const
  const body = changedRequest(asking, value =>
    asksForSummary(value, config.compaction?.instructions),
  )
  const response = await answer(service, { ...asking, body }, trace)
  const { usage } = response
  const text = textOf(response)
  if (!seal || text.trim() === '')
    throw reject(502, 'internal', 'the model wrote no summary of the conversation')
  trace.notes.push(note)
  const item = {
    type: 'compaction',
    id: newId('cmp_'),
    encrypted_content: await seal.close(text, ownerOf(trace.identity ?? {})),
  }
  const part: ControlPart = {
    type: 'control',
    control: 'compaction',
    protocol: protocol.name,
    raw: item,
  }
  const { wire } = protocol.encodeResponse(
    {
      id: newId('resp_'),
      model,
      createdAt: now,
      completedAt: now,
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant', origin: 'item', parts: [part] }],
          finish: { reason: 'stop' },
        },
      ],
      ...(usage && { usage }),
    },
    optionsFor(protocol, { now, newId }),
  )
  return { wire, item }
}

/** Tools stay: the history has calls of them. */
function asksForSummary(
  { output: _, stream: __, ...request }: CanonicalRequest,
  instructions = standard,
): CanonicalRequest {
  const messages = request.messages
    .map(message => ({ ...message, parts: message.parts.filter(part => !isTrigger(part)) }))
    .filter(({ parts }) => parts.length > 0)
  return {
    ...request,
    ...(request.tools?.length && { toolChoice: { mode: 'none' } as const }),
    messages: [...messages, said(instructions)],
  }
}
