import { mapMedia } from '../../bridge/media.ts'
import type { MediaPart } from '../../canonical/message.ts'
import { pointerOf } from '../../canonical/place.ts'
import { hashHex } from '../../kit/conversation/ids.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { bytesIn } from '../../kit/media/base64.ts'
import { gatewayNote } from '../../kit/notes/gateway.ts'
import { refuseIfStrict } from '../../translate/settings.ts'
import { changedRequest, decoded } from '../body/changed-request.ts'
import { capableOf } from '../bridge.ts'
import { inTime } from '../in-time.ts'
import type { RequestContext, Service, Trace } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'

/** Of one request; later documents get the sentence that the bridge writes. */
const mostDocuments = 20
/** Of one text, in UTF-16 units. */
const longest = 1024 * 1024
/** In milliseconds, for one document. */
const mostMs = 60_000

/**
 * Does the model read no documents? One that is known to read text alone counts as such here: its
 * server may take the text out of them, but need not.
 */
function readsNone(candidate: Deployment): boolean {
  if (!candidate.entry.bridge) return false
  const { input } = capableOf(candidate)
  if (!input) return false
  const isTextOnly = !input.includes('image') && !candidate.entry.capabilities?.input
  return isTextOnly || !input.includes('file')
}

/** The request with text in place of its documents, as the application reads them. */
export async function withDocumentText(
  service: Service,
  incoming: RequestContext,
  trace: Trace,
): Promise<RequestContext> {
  const { protocol, body, candidates } = incoming
  const [candidate] = candidates
  if (incoming.operation !== 'generate' || !candidate || !readsNone(candidate)) return incoming
  await body.parse?.()
  const documents = new Map<string, MediaPart>()
  mapMedia(decoded(incoming), part => {
    const key = keyOf(part)
    if (key !== undefined && documents.size < mostDocuments) documents.set(key, part)
    return part
  })
  if (documents.size === 0) return incoming
  const notes = [...documents.values()].map(({ at }) =>
    gatewayNote('gateway.document-text', at ? pointerOf(at) : ''),
  )
  refuseIfStrict(notes, service.config.defaults.strict, protocol.name)
  const texts = new Map<string, string>()
  // At once, so that the time for one is the time for all.
  await Promise.all(
    [...documents].map(async ([key, part]) => {
      const text = await textOf(service, incoming, trace, part)
      if (text) texts.set(key, text)
    }),
  )
  return {
    ...incoming,
    notes: [
      ...(incoming.notes ?? []),
      ...notes.filter((_, i) => texts.has([...documents.keys()][i] ?? '')),
    ],
    body: changedRequest(incoming, asked =>
      mapMedia(asked, part => {
        const text = texts.get(keyOf(part) ?? '')
        if (text === undefined) return part
        const { filename, title, at, cache } = part
        const name = filename ?? title
        const told = name === undefined ? '' : ` (${name.slice(0, 200)})`
        return {
          type: 'text',
          text: `[A document${told}, as text:]\n${text}`,
          ...omitUndefined({ at, cache }),
        }
      }),
    ),
  }
}

/** Undefined: it is no document, or its bytes are elsewhere. */
const keyOf = ({ kind, source }: MediaPart): string | undefined =>
  (kind === 'document' || kind === 'file') && source.type === 'base64'
    ? hashHex(source.data, 40)
    : undefined

/** Undefined: the application has not read it. */
async function textOf(
  { hooks, log }: Service,
  { request: { signal } }: RequestContext,
  { requestId, request, identity = {} }: Trace,
  { source, filename, title }: MediaPart,
): Promise<string | undefined> {
  if (source.type !== 'base64') return undefined
  const { data, mime } = source
  try {
    const text: unknown = await inTime(signal, mostMs, end =>
      hooks.documentText?.(
        { bytes: bytesIn(data), ...omitUndefined({ mime, filename: filename ?? title }) },
        { request, identity, signal: end },
      ),
    )
    return typeof text === 'string' ? text.slice(0, longest) : undefined
  } catch (error) {
    log('warn', { requestId, error }, 'a document could not be read')
    return undefined
  }
}
