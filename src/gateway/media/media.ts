import { isRead, mapMedia } from '../../bridge/media.ts'
import type { MediaPart } from '../../canonical/message.ts'
import { pointerOf } from '../../canonical/place.ts'
import { textOf } from '../../canonical/read.ts'
import { hashHex } from '../../kit/conversation/ids.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { refuseIfStrict } from '../../translate/settings.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { capableOf } from '../bridge.ts'
import { GatewayError } from '../error.ts'
import type { Answering, RequestContext, Service, Trace } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'
import { addSpent } from '../use.ts'

/** What a model that sees is asked for. */
const instruction =
  'Describe this image for somebody who cannot see it and has to work with what it shows. Copy all text in it word by word. Write the description alone.'

/** Of one request; later images get the sentence that the bridge writes. */
const mostImages = 20
/** Of one description, in UTF-16 units. */
const longest = 8_000
/** The number of descriptions that are remembered. */
const remembered = 500

/** Does the request have media that the candidate does not read? */
export function hasUnread(
  asked: Pick<RequestContext, 'protocol' | 'body' | 'request'>,
  candidate: Deployment,
): boolean {
  const { input } = capableOf(candidate)
  if (!input) return false
  let found = false
  mapMedia(decoded(asked), part => {
    found ||= !isRead(part, input)
    return part
  })
  return found
}

/**
 * The request with descriptions in place of its images, if its model reads none and the
 * configuration names one that does. What cannot be described stays.
 */
export async function withDescriptions(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  answer: Answering,
): Promise<RequestContext> {
  const { protocol, body, candidates } = incoming
  const [candidate] = candidates
  const model = candidate?.entry.media?.describe
  if (!model || !candidate || capableOf(candidate).input?.includes('image') !== false)
    return incoming
  await body.parse?.()
  const images: MediaPart[] = []
  mapMedia(decoded(incoming), part => {
    if (part.kind === 'image') images.push(part)
    return part
  })
  const known = images.slice(-mostImages)
  if (known.length === 0) return incoming
  const notes = known.map(({ at }) => gatewayNote('gateway.described', at ? pointerOf(at) : ''))
  refuseIfStrict(notes, service.config.defaults.strict, protocol.name)
  const texts = new Map<string, string>()
  const keys = known.map(keyOf)
  await Promise.all(
    known.map(async (image, nth) => {
      const key = keys[nth]
      const text = key && (await described(service, incoming, trace, { image, key, model, answer }))
      if (key && text) texts.set(key, text)
    }),
  )
  return {
    ...incoming,
    notes: [...(incoming.notes ?? []), ...notes.filter((_, nth) => texts.has(keys[nth] ?? ''))],
    body: changedRequest(incoming, asked =>
      mapMedia(asked, part => {
        const text = texts.get(keyOf(part) ?? '')
        return text === undefined ? part : { type: 'text', text: `[An image: ${text}]` }
      }),
    ),
  }
}

/** Undefined: another model cannot see it either. */
function keyOf({ kind, source }: MediaPart): string | undefined {
  if (kind !== 'image') return undefined
  if (source.type === 'base64') return hashHex(source.data, 40)
  return source.type === 'url' ? hashHex(source.url, 40) : undefined
}

type Asked = { image: MediaPart; key: string; model: string; answer: Answering }

/** Undefined: it could not be described. */
async function described(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  asked: Asked,
): Promise<string | undefined> {
  const { descriptions, catalog } = service
  // Descriptions are shared by all that may ask their model.
  const candidates = catalog.candidates(asked.model, incoming.protocol, trace.identity ?? {})
  if (!candidates) return undefined
  const key = `${asked.model} ${asked.key}`
  const known = descriptions.get(key)
  if (known)
    try {
      return await known
    } catch {
      // It may have been made for a client that has left: it is made once more.
    }
  const made = describe(service, { ...incoming, candidates }, trace, asked)
  descriptions.set(key, made)
  for (const [oldest] of descriptions) {
    if (descriptions.size <= remembered) break
    descriptions.delete(oldest)
  }
  const forget = () => descriptions.get(key) === made && descriptions.delete(key)
  try {
    const text = await made
    if (text === undefined) forget()
    return text
  } catch (error) {
    forget()
    service.log('warn', { requestId: trace.requestId, error }, 'an image could not be described')
    return undefined
  }
}

/** `incoming`: with the candidates that see. Its use counts, whatever becomes of it. */
async function describe(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { image, model, answer }: Asked,
): Promise<string | undefined> {
  const { protocol, request } = incoming
  const { wire } = protocol.encodeRequest(
    {
      model,
      maxOutputTokens: 2_000,
      messages: [
        {
          role: 'user',
          origin: 'message',
          parts: [image, { type: 'text', text: instruction }],
        },
      ],
    },
    { path: request.path },
  )
  const { notes: _, bodyFor: __, recalled: ___, ...plain } = incoming
  const { spent: ____, spentBy: _____, ...begun } = trace
  const own: Trace = { ...begun, notes: [], attempts: 0, ended() {} }
  const asking = {
    ...plain,
    model,
    stream: false,
    asList: false,
    body: { value: wire, outline: wire, isPlain: true },
  }
  let failure: GatewayError | undefined
  try {
    const response = await answer(service, asking, own)
    return textOf(response).trim().slice(0, longest) || undefined
  } catch (error) {
    if (error instanceof GatewayError) failure = error
    throw error
  } finally {
    addSpent(trace, own, failure)
  }
}
