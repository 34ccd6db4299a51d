import { collectEvent, startCollecting } from '../../canonical/collect.ts'
import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message } from '../../canonical/message.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse, Usage } from '../../canonical/response.ts'
import type { JsonSchema } from '../../canonical/tool.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { capableOf } from '../bridge.ts'
import { GatewayError } from '../error.ts'
import { eventLength } from '../event-length.ts'
import { newNotes } from '../new-notes.ts'
import type { RequestContext } from '../request-context.ts'
import { plusUsage } from '../resume/plus-usage.ts'
import type { Reading, Stream } from '../stream-hook.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { bounded } from '../upstream/response.ts'
import { forgetCall } from '../use.ts'
import { faultsOf } from './faults.ts'

/** What an answer has to be. `schema` undefined: any JSON object. */
export type Expected = { schema: JsonSchema | undefined }

/** Does the bridge ask this server for JSON in words? */
const isPrompted = (candidate: Deployment): boolean =>
  candidate.entry.bridge && capableOf(candidate).structuredOutput === 'prompt'

/** Undefined: no answer is checked, because servers see to the format, or none is wanted. */
export function expectedOf(incoming: RequestContext): Expected | undefined {
  if (incoming.operation !== 'generate' || !incoming.candidates.some(isPrompted)) return undefined
  const { output, candidateCount = 1 } = decoded(incoming)
  const { format } = output ?? {}
  if (candidateCount > 1 || (format?.type !== 'json' && format?.type !== 'schema')) return undefined
  return { schema: format.type === 'schema' ? format.schema : undefined }
}

/**
 * The events of an answer in JSON, which are held back until it is whole. If it is not what it has
 * to be, the model is told why and asked once more, and the client gets the second answer.
 */
export async function* checked(
  first: Stream,
  incoming: RequestContext,
  { schema }: Expected,
  reading: Reading,
): AsyncGenerator<CanonicalEvent, undefined> {
  const { service, trace, read } = reading
  if (!isPrompted(first.opened.candidate)) {
    yield* read(first, incoming)
    return undefined
  }
  const check = (text: string) =>
    faultsOf(text, schema).catch((error: unknown) => {
      service.log('warn', { requestId: trace.requestId, error }, 'an answer could not be checked')
      return undefined
    })
  const heard = await listened(read(first, incoming))
  const faults = heard.answer === undefined ? undefined : await check(heard.answer)
  if (!faults) {
    yield* heard.events
    return undefined
  }
  const { notes } = trace
  const used = forgetCall(trace)
  const next = askingAgain(incoming, heard.answer ?? '', faults)
  const again = await asked(first, next, reading)
  trace.notes.unshift(...newNotes(trace.notes, notes))
  if (again) trace.notes.push(gatewayNote('gateway.output-retried', ''))
  const isWrong = !again || (again.answer !== undefined && (await check(again.answer)))
  if (isWrong) trace.notes.push(gatewayNote('gateway.output-invalid', ''))
  for (const event of again?.events ?? heard.events) yield again ? withUsage(event, used) : event
  return undefined
}

/** Undefined: the model could not be asked again, so the client gets the first answer. */
async function asked(
  first: Stream,
  next: RequestContext,
  { service, trace, ask, read }: Reading,
): Promise<Heard | undefined> {
  try {
    const stream = await ask(next)
    const heard = await listened(read(stream, next))
    Object.assign(first, omitUndefined({ isRead: stream.isRead, signatures: stream.signatures }))
    return heard.hasFailed ? undefined : heard
  } catch (error) {
    if (next.request.signal.aborted || !(error instanceof GatewayError)) throw error
    service.log('warn', { requestId: trace.requestId, error }, 'a model was not asked again')
    return undefined
  }
}

/** `answer`: what is to be JSON. Undefined: a call, a refusal, or what was cut off. */
type Heard = { events: CanonicalEvent[]; answer: string | undefined; hasFailed: boolean }

/** @throws GatewayError when it is too long to be kept */
export async function listened(source: AsyncIterable<CanonicalEvent>): Promise<Heard> {
  const events: CanonicalEvent[] = []
  const into = startCollecting()
  let length = 0
  for await (const event of source) {
    length = bounded(length + eventLength(event))
    events.push(event)
    collectEvent(into, event)
  }
  const { response, clean }: { response: CanonicalResponse; clean: boolean } = into
  const hasFailed = response.error !== undefined || !clean
  return { events, answer: hasFailed ? undefined : answerIn(response), hasFailed }
}

function answerIn({ candidates: [candidate] }: CanonicalResponse): string | undefined {
  const parts = candidate?.messages.flatMap(message => message.parts) ?? []
  if (candidate?.finish?.reason !== 'stop' || parts.some(({ type }) => type === 'tool-call'))
    return undefined
  return parts.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('')
}

function askingAgain(
  incoming: RequestContext,
  answer: string,
  faults: readonly string[],
): RequestContext {
  const said = (role: Message['role'], text: string): Message => ({
    role,
    origin: 'message',
    parts: [{ type: 'text', text }],
  })
  const words = `Your answer is not what was asked for:\n${faults.join('\n')}\nWrite the whole JSON again, and nothing else.`
  const more = [...(answer.trim() === '' ? [] : [said('assistant', answer)]), said('user', words)]
  const { protocol, request } = incoming
  const change = (value: CanonicalRequest) => ({ ...value, messages: [...value.messages, ...more] })
  return {
    ...incoming,
    bodyFor: candidate => {
      const body = incoming.bodyFor?.(candidate) ?? incoming.body
      return changedRequest({ protocol, request, body }, change)
    },
  }
}

/** The counts of both answers. */
const withUsage = (event: CanonicalEvent, used: Usage | undefined): CanonicalEvent =>
  event.type === 'usage' ? { ...event, usage: plusUsage(used, event.usage) } : event
