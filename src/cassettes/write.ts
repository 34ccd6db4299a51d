import { eventStream } from '../eventstream/framing.ts'
import { encoded, joined } from '../sse/bytes.ts'
import { FrameSplitter } from '../sse/split.ts'
import { withoutSplitSecrets } from './across.ts'
import type { Captured, CapturedAttempt, CapturedBody } from './capture.ts'
import type { Cassette, CassetteBody, CassetteFrame } from './format.ts'
import { createRedactor, type Redaction, type Redactor } from './redact.ts'
import { formatVersion } from './version.ts'

/** Those of all protocols. */
export const framings = [eventStream]

type Chunk = Uint8Array | string

/** The cassette of an exchange, without secrets. Undefined: its client was never let in. */
export function cassetteOf(captured: Captured, redaction: Redaction): Cassette | undefined {
  const { call, time, request, candidates, skipped, attempts, response, end } = captured
  if (!request) return undefined
  const redactor = createRedactor(call.secrets, redaction)
  const bodies = createBodies(redactor, redaction.media)
  const { method, path, headers } = call.request
  const responseOf = (begun: NonNullable<Captured['response']>) => ({
    status: begun.status,
    headers: redactor.headers(begun.headers),
    atMs: rounded(begun.atMs),
    body: bodies(begun.body, begun.headers),
  })
  return {
    format: 'wireglot-cassette',
    version: formatVersion,
    id: call.requestId,
    time: new Date(time).toISOString(),
    operation: call.operation,
    request: {
      protocol: call.protocol,
      method,
      path: redactor.text(path),
      query: redactor.query(call.query),
      headers: redactor.headers(headers),
      body: bodies(request, headers),
    },
    route: {
      candidates,
      skipped: skipped.map(({ type: _, ...channel }) => channel),
    },
    attempts: [...attempts.values()].map(one => ({
      ...attemptOf(one, redactor),
      body: bodies(one.body, one.sent.headers),
      ...(one.response && { response: responseOf(one.response) }),
    })),
    ...(response && { response: responseOf(response) }),
    notes: redacted(end?.notes ?? [], redactor) as Cassette['notes'],
    ...(end?.record && { record: redacted(end.record, redactor) }),
  }
}

function attemptOf({ sent, atMs, tried }: CapturedAttempt, redactor: Redactor) {
  const { channel, model, protocol, vendor, method, url, headers, notes, settings } = sent
  return {
    channel,
    model,
    protocol,
    ...(vendor !== undefined && { vendor }),
    atMs: rounded(atMs),
    method,
    url: url === '' ? '' : redactor.url(url),
    headers: redactor.headers(headers),
    notes: redacted(notes, redactor) as Cassette['notes'],
    settings: redacted(settings, redactor),
    ...(tried && { ms: rounded(tried.ms) }),
    ...(tried?.failure && { failure: redacted(tried.failure, redactor) }),
  }
}

/** A value that is written as JSON. */
const redacted = <T>(value: T, redactor: Redactor): T =>
  JSON.parse(redactor.text(JSON.stringify(value))) as T

/** In microseconds: those of events that came one after another differ. */
const rounded = (ms: number) => Math.round(ms * 1_000) / 1_000

/** Bodies as they are written. Bytes that several have in common are read once. */
function createBodies({ text: clean, secretsIn }: Redactor, media: boolean) {
  const known = new Map<unknown, CassetteBody>()

  /** Forms have text between other bytes. */
  const base64Of = ({ chunks }: CapturedBody): string => {
    const bytes = Buffer.from(joined(chunks.map(one => encoded(one.chunk))))
    return Buffer.from(clean(bytes.toString('latin1')), 'latin1').toString('base64')
  }

  const written = (body: CapturedBody, type: string): CassetteBody => {
    const framing = framings.find(({ contentType }) => type.startsWith(contentType))
    const chunks = textsOf(body, framing?.decode())
    if (!chunks)
      return media ? { base64: base64Of(body) } : { redacted: body.length + body.leftOut }
    const isStream = framing !== undefined || /^text\/event-stream/i.test(type)
    if (!isStream) return { text: clean(chunks.map(({ text }) => text).join('')) }
    const frames = framesOf(chunks)
    const shown = framing ? frames.map(({ text }) => withoutIds(text)) : frames.map(one => one.text)
    const texts = cleaned(withoutSplitSecrets(shown, secretsIn), clean)
    return { frames: frames.map(({ atMs }, i) => ({ atMs, text: texts[i] ?? '' })) }
  }

  return (body: CapturedBody, headers: Record<string, string>): CassetteBody => {
    const [first] = body.chunks
    const key = body.chunks.length === 1 ? first?.chunk : undefined
    const found = key === undefined ? undefined : known.get(key)
    const shown = found ?? written(body, headers['content-type'] ?? '')
    if (key !== undefined) known.set(key, shown)
    return {
      ...shown,
      ...(body.end !== 'complete' && { isCut: true as const }),
      ...(body.leftOut > 0 && { leftOut: body.leftOut }),
    }
  }
}

/**
 * Undefined: it is not UTF-8. What broke off may end inside of a character, which is left out.
 * `decode`: of binary frames.
 */
function textsOf(
  { chunks, leftOut, end }: CapturedBody,
  decode: ((chunk: Chunk) => Chunk) | undefined,
): CassetteFrame[] | undefined {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  try {
    const texts = chunks.map(({ atMs, chunk }) => {
      const shown = decode ? decode(chunk) : chunk
      const text = typeof shown === 'string' ? shown : decoder.decode(shown, { stream: true })
      return { atMs, text }
    })
    if (leftOut === 0 && end === 'complete') decoder.decode()
    return texts
  } catch {
    return undefined
  }
}

/**
 * Many texts at once: a search begins once for all of them. No event contains the separator; if one
 * does, or a secret goes over several, each is cleaned by itself.
 */
function cleaned(texts: readonly string[], clean: Redactor['text']): string[] {
  const all = clean(texts.join('\0')).split('\0')
  return all.length === texts.length ? all : texts.map(clean)
}

/** The bytes of a binary frame, which would be in the file twice, and with their secrets. */
const withoutIds = (text: string) => text.replace(/^id: frame:.*\n/gm, '')

/** Whole events. The time of one is that of the chunk that ends it. */
function framesOf(chunks: readonly CassetteFrame[]): CassetteFrame[] {
  const frames: CassetteFrame[] = []
  const splitter = new FrameSplitter()
  let held = ''
  const add = (atMs: number, text: string) => {
    held = ''
    if (text !== '') frames.push({ atMs: rounded(atMs), text })
  }
  for (const { atMs, text } of chunks) {
    let from = 0
    for (let end = splitter.next(text, 0); end >= 0; end = splitter.next(text, end)) {
      add(atMs, held + text.slice(from, end))
      from = end
    }
    held += text.slice(from)
  }
  const last = chunks.at(-1)
  if (last) add(last.atMs, held)
  return frames
}
