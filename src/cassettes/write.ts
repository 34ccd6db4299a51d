import { protocols } from '../protocols/index.ts'
import { encoded, joined } from '../sse/bytes.ts'
import { FrameSplitter } from '../sse/split.ts'
import type { Captured, CapturedAttempt, CapturedBody } from './capture.ts'
import { type Cassette, type CassetteBody, type CassetteFrame, formatVersion } from './format.ts'
import { createRedactor, type Redactor } from './redact.ts'

const framings = Object.values(protocols).flatMap(({ framing }) => framing ?? [])
const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The cassette of an exchange, without secrets. Undefined: its client was never let in. */
export function cassetteOf(captured: Captured, media: boolean): Cassette | undefined {
  const { call, time, request, candidates, skipped, attempts, response, end } = captured
  if (!request) return undefined
  const redactor = createRedactor(call.secrets, media)
  const bodies = createBodies(redactor, media)
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
function createBodies({ text: clean }: Redactor, media: boolean) {
  const known = new Map<unknown, CassetteBody>()

  const written = (body: CapturedBody, type: string): CassetteBody => {
    const framing = framings.find(({ contentType }) => type.startsWith(contentType))
    const decode = framing?.decode()
    const chunks = body.chunks.map(({ atMs, chunk }) => ({
      atMs,
      bytes: encoded(decode ? decode(chunk) : chunk),
    }))
    const bytes = joined(chunks.map(one => one.bytes))
    const text = textOf(bytes, body.leftOut > 0 || body.end !== 'complete')
    if (text === undefined)
      return media
        ? { base64: Buffer.from(bytes).toString('base64') }
        : { redacted: body.length + body.leftOut }
    const isStream = /^text\/event-stream/i.test(type) || framing !== undefined
    if (!isStream) return { text: clean(text) }
    const frames = framesOf(chunks)
    const texts = cleaned(
      frames.map(one => withoutIds(one.text)),
      clean,
    )
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

/** Undefined: it is not UTF-8. What broke off may end inside of a character, which is left out. */
function textOf(bytes: Uint8Array, isCut: boolean): string | undefined {
  for (let left = 0; left <= (isCut ? 3 : 0); left++)
    try {
      return strict.decode(bytes.subarray(0, bytes.length - left))
    } catch {}
  return undefined
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
const withoutIds = (text: string) =>
  text.includes('id: frame:') ? text.replace(/^id: frame:.*\n/gm, '') : text

/** Whole events. The time of one is that of the chunk that ends it. */
function framesOf(chunks: readonly { atMs: number; bytes: Uint8Array }[]): CassetteFrame[] {
  const frames: CassetteFrame[] = []
  const splitter = new FrameSplitter()
  let held: Uint8Array[] = []
  const add = (atMs: number) => {
    const text = textOf(joined(held), true)
    held = []
    if (text) frames.push({ atMs: rounded(atMs), text })
  }
  for (const { atMs, bytes } of chunks) {
    let from = 0
    for (let end = splitter.next(bytes, 0); end >= 0; end = splitter.next(bytes, end)) {
      held.push(bytes.subarray(from, end))
      add(atMs)
      from = end
    }
    if (from < bytes.length) held.push(bytes.subarray(from))
  }
  const last = chunks.at(-1)
  if (last && held.length > 0) add(last.atMs)
  return frames
}
