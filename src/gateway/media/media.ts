import { capabilitiesOf } from '../../bridge/capabilities.ts'
import type { MediaPart, Part } from '../../canonical/message.ts'
import { pointerOf } from '../../canonical/place.ts'
import { textOf } from '../../canonical/read.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import { hashHex } from '../../kit/conversation/ids.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import type { Modality } from '../../models/model.ts'
import type { Protocol } from '../../protocol.ts'
import { protocolNames } from '../../protocols/index.ts'
import { mapParts } from '../../translate/passes/map-parts.ts'
import { refuseIfStrict } from '../../translate/settings.ts'
import { ChangedBody, type ReadBody } from '../body/body.ts'
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

const modalityOf = ({ kind }: MediaPart): Modality => (kind === 'document' ? 'file' : kind)

/** What a candidate reads. Undefined: it is not known, and all is sent. */
const inputOf = ({ channel, protocol, entry, model }: Deployment) =>
  capabilitiesOf({
    vendor: channel.vendor,
    protocol: protocolNames.find(name => name === protocol.name),
    model,
    own: omitUndefined({ ...entry.capabilities }),
  }).input

/** Does the request have media that the candidate does not read? */
export function hasUnread(body: ReadBody, protocol: Protocol, candidate: Deployment): boolean {
  const input = inputOf(candidate)
  if (!input) return false
  let found = false
  eachMedium(protocol.decodeRequest(body.value).value, part => {
    found ||= !input.includes(modalityOf(part))
    return part
  })
  return found
}

function eachMedium(
  request: CanonicalRequest,
  change: (part: MediaPart) => Part,
): CanonicalRequest {
  const replaced = (part: Part): Part => {
    if (part.type === 'media') return change(part)
    return part.type === 'tool-result' ? { ...part, content: part.content.map(replaced) } : part
  }
  return { ...request, messages: mapParts(request.messages, replaced) }
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
  const { protocol, body, request, candidates } = incoming
  const [candidate] = candidates
  const model = candidate?.entry.media?.describe
  if (!model || !candidate || inputOf(candidate)?.includes('image') !== false) return incoming
  await body.parse?.()
  const options = { path: request.path }
  const images: MediaPart[] = []
  eachMedium(protocol.decodeRequest(body.value, options).value, part => {
    if (part.kind === 'image') images.push(part)
    return part
  })
  const known = images.slice(-mostImages)
  if (known.length === 0) return incoming
  const notes = known.map(({ at }) => gatewayNote('gateway.described', at ? pointerOf(at) : ''))
  refuseIfStrict(notes, service.config.defaults.strict, protocol.name)
  const texts = new Map<string, string>()
  await Promise.all(
    known.map(async image => {
      const key = keyOf(image)
      const text = key && (await described(service, incoming, trace, { image, key, model, answer }))
      if (key && text) texts.set(key, text)
    }),
  )
  return {
    ...incoming,
    notes: notes.slice(0, texts.size),
    body: new ChangedBody(body, wire => {
      const { value } = protocol.decodeRequest(wire, options)
      const told = eachMedium(value, part => {
        const text = texts.get(keyOf(part) ?? '')
        return text === undefined ? part : { type: 'text', text: `[An image: ${text}]` }
      })
      return protocol.encodeRequest(told, options).wire
    }),
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
function described(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  asked: Asked,
): Promise<string | undefined> {
  const { descriptions } = service
  const { key } = asked
  const known = descriptions.get(key)
  if (known) return known
  const made = describe(service, incoming, trace, asked).catch(error => {
    descriptions.delete(key)
    service.log('warn', { requestId: trace.requestId, error }, 'an image could not be described')
    return undefined
  })
  descriptions.set(key, made)
  for (const [oldest] of descriptions) {
    if (descriptions.size <= remembered) break
    descriptions.delete(oldest)
  }
  return made
}

async function describe(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
  { image, model, answer }: Asked,
): Promise<string | undefined> {
  const { protocol, request } = incoming
  const candidates = service.catalog.candidates(model, protocol, trace.identity ?? {})
  if (!candidates) return undefined
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
  const own: Trace = { ...trace, notes: [], attempts: 0, ended() {} }
  const response = await answer(
    service,
    {
      ...plain,
      model,
      candidates,
      stream: false,
      asList: false,
      body: { value: wire, outline: wire, isPlain: true },
    },
    own,
  )
  addSpent(trace, own)
  return textOf(response).trim().slice(0, longest) || undefined
}
