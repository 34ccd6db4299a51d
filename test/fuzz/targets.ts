import { TranslationError } from '../../src/errors.ts'
import { createGateway } from '../../src/gateway/gateway.ts'
import type { Protocol } from '../../src/protocol.ts'
import { createFrameParser, type Frame } from '../../src/sse/parse.ts'
import { all } from '../../src/testing/bodies.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { isObject } from '../../src/testing/strict/faults.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'
import { written } from '../support/written.ts'
import { inChunks, mutated, mutatedBytes } from './mutate.ts'
import type { RandomSource } from './random.ts'
import { everything, stock } from './stock.ts'

/** Something that must not be; whatever else a target throws is one, too. */
export class Finding extends Error {
  override readonly name = 'Finding'
}

export type Target = { name: string; run(random: RandomSource): void | Promise<void> }

const codes = ['malformed', 'inexpressible', 'out-of-order', 'truncated']

/** A value, or one of our errors with a code. */
function typed<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    if (!codes.includes(error.code)) throw new Finding(`an error with the code ${error.code}`)
    return undefined
  }
}

function must(holds: boolean, what: string, ...details: unknown[]): asserts holds {
  if (!holds)
    throw new Finding(
      `${what} ${details.map(detail => (typeof detail === 'string' ? detail : JSON.stringify(detail))).join(' ')}`.slice(
        0,
        9_000,
      ),
    )
}

const isClean = () => Object.keys(Object.prototype).length === 0 && !('polluted' in {})

function bodies(kind: 'request' | 'response', from: Protocol, to: Protocol): Target {
  const list = kind === 'request' ? stock(from).requests : stock(from).responses
  const others = kind === 'request' ? everything.requests : everything.responses
  return {
    name: `${kind}: ${from.name} → ${to.name}`,
    run(random) {
      const wire = mutated(random, random.one(list), others)
      const before = JSON.stringify(wire)
      const decoded = typed(() =>
        kind === 'request' ? from.decodeRequest(wire) : from.decodeResponse(wire),
      )
      const options = {
        fieldNames: { ...from.fieldNames, ...decoded?.fieldNames },
        onUnresolvable: 'note',
      } as const
      const encoded =
        decoded &&
        typed(() =>
          kind === 'request'
            ? written(decoded.value as never, to, options)
            : to.encodeResponse(decoded.value as never, options),
        )
      must(JSON.stringify(wire) === before, 'a codec changed its argument')
      must(isClean(), 'the prototype of all objects was changed')
      if (!encoded || (decoded.value as { error?: unknown }).error) return
      const there = JSON.parse(JSON.stringify(encoded.wire)) as unknown
      if (from === to) {
        // A decoder reports what it could not place.
        if (decoded.notes.length === 0)
          must(
            canonicalJson(there) === canonicalJson(JSON.parse(before)),
            'read and written again it is another:',
            before,
            there,
          )
        must(encoded.notes.length === 0, 'the same protocol notes a loss:', encoded.notes)
      } else if (kind === 'response') {
        // Unknown counts stay unknown, so that a response is as complete as its source.
        must(
          hasBadKey(before) || typed(() => to.decodeResponse(there)) !== undefined,
          'a response that its own protocol cannot read:',
          there,
          before,
        )
      }
    },
  }
}

function streams(from: Protocol, to: Protocol): Target {
  const strict = strictOf(to.name)
  const source = strictOf(from.name)
  return {
    name: `stream: ${from.name} → ${to.name}`,
    run(random) {
      const text = mutatedBytes(
        random,
        random.one(stock(from).streams),
        random.chance(0.8) ? stock(from).streams : everything.streams,
      )
      const translate = (chunks: Iterable<Uint8Array>) => {
        const translator = createStreamTranslator(from, to, {})
        let out = ''
        for (const chunk of chunks) out += translator.push(chunk)
        return { out: out + translator.end(), translator }
      }
      const { out, translator } = translate(inChunks(random, text))
      must(isClean(), 'the prototype of all objects was changed')
      const again = translate([text])
      if (from !== to) {
        must(
          again.out === out,
          'another split of the bytes gives another stream:',
          new TextDecoder().decode(text),
        )
        const wires = wiresOf(out) ?? []
        const faults = strict.checkStream(wires).filter(fault => !itsOwn.test(fault))
        must(faults.length === 0, 'an illegal stream:', faults, new TextDecoder().decode(text))
        must(
          strict.outcome(wires) !== 'cut',
          'a stream without an end:',
          new TextDecoder().decode(text),
        )
        if (!translator.finished)
          must(
            strict.outcome(wires) === 'failed',
            'a false success:',
            new TextDecoder().decode(text),
          )
      }
      const came = wiresOf(new TextDecoder().decode(text))
      // Who leaves out the number of a candidate is taken at its place.
      const isPlain = !unnumbered.get(from.name)?.test(new TextDecoder().decode(text))
      const isWhole = () =>
        source.outcome(came ?? []) !== 'cut' ||
        reasoned.get(from.name)?.test(new TextDecoder().decode(text))
      if (came && isPlain && translator.finished)
        must(
          isWhole() === true,
          'a stream that was cut counts as whole:',
          new TextDecoder().decode(text),
        )
    },
  }
}

/**
 * What any reader finds in the frames; undefined: something that is no JSON. Some servers name the
 * event in the frame alone.
 */
function wiresOf(text: string): unknown[] | undefined {
  const frames: Frame[] = []
  const parser = createFrameParser(frame => frames.push(frame))
  parser.push(text)
  parser.end()
  try {
    return frames.map(({ event, data }) => {
      const wire = data.trim() === '[DONE]' ? '[DONE]' : (JSON.parse(data) as unknown)
      return event !== undefined && isObject(wire) && !('type' in wire)
        ? { type: event, ...wire }
        : wire
    })
  } catch {
    return undefined
  }
}

const sse: Target = {
  name: 'frames of text/event-stream',
  run(random) {
    const text = mutatedBytes(random, random.one(everything.streams), everything.streams)
    const read = (chunks: Iterable<Uint8Array>) => {
      const frames: Frame[] = []
      const parser = createFrameParser(frame => frames.push(frame))
      for (const chunk of chunks) parser.push(chunk)
      parser.end()
      return frames
    }
    const whole = JSON.stringify(read([text]))
    must(
      JSON.stringify(read(inChunks(random, text))) === whole,
      'another split of the bytes gives other frames:',
      new TextDecoder().decode(text),
    )
  },
}

function errors(from: Protocol, to: Protocol): Target {
  return {
    name: `error: ${from.name} → ${to.name}`,
    run(random) {
      const body = random.chance(0.1)
        ? 'upstream request timeout'
        : mutated(random, random.one(everything.errors), [
            ...everything.errors,
            ...everything.responses,
          ])
      const status = random.one([400, 401, 403, 404, 408, 413, 422, 429, 500, 502, 503, 529, 599])
      const { value } = from.decodeError({
        status,
        headers: { 'retry-after': random.one(['', '3', '-1', 'x', '1e9']) },
        body,
      })
      must(
        value.status === status && typeof value.message === 'string' && value.message !== '',
        'an error without its status or a word:',
        body,
        value,
      )
      const { wire } = to.encodeError(value)
      must(wire.status >= 400 && wire.status < 600, 'an error with another status:', wire)
      if (from !== to)
        must(
          strictOf(to.name).checkError(JSON.parse(JSON.stringify(wire.body))).length === 0,
          'an illegal error:',
          wire.body,
          body,
        )
      must(isClean(), 'the prototype of all objects was changed')
    },
  }
}

const methods = [
  'POST',
  'POST',
  'POST',
  'POST',
  'GET',
  'HEAD',
  'PUT',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'x',
]
const segments = ['v1', 'v1beta', 'v1/v1', 'models', 'messages', 'count_tokens', 'chat/completions', 'responses', 'compact', 'input_items', 'm', '..', '.', '%2e%2e', '%2f', '%', ':', 'm:generateContent', 'm:streamGenerateContent', 'a:b:countTokens', '*', '\u0000', '__proto__', 'x'.repeat(300), ''] // biome-ignore format: a list of values
const headerNames = ['content-type', 'content-length', 'content-encoding', 'authorization', 'x-api-key', 'x-goog-api-key', 'anthropic-version', 'anthropic-beta', 'accept', 'connection', 'traceparent', 'host', 'expect', 'upgrade', '__proto__', 'x-odd'] // biome-ignore format: a list of values
const headerValues = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'gzip', 'identity', '0', '-1', '1e9', 'Bearer', 'Bearer x', 'Bearer  a b', '2023-06-01', 'a,b,,a', 'close, x-odd', '00-zz', '\u00e9', 'x'.repeat(5000), ''] // biome-ignore format: a list of values

/** Any HTTP request, through a gateway with the built-in model. */
function requestsByHttp(): Target {
  const gateway = createGateway(
    {
      auth: 'none',
      channels: [{ name: 'demo', embedded: 'demo' }],
      store: { memory: true, memoryLimitBytes: 1_000_000 },
    },
    { logger: false },
  )
  return {
    name: 'HTTP requests',
    async run(random) {
      const protocol = random.one(all)
      const stream = random.chance(0.5)
      const common = protocol.address.target({ operation: 'generate', model: 'm', stream }) ?? '/'
      const url = new URL(
        `http://gateway${random.chance(0.6) ? common : `/${Array.from({ length: 1 + random.below(5) }, () => random.one(segments)).join('/')}`}`,
      )
      const headers: Record<string, string> = { 'content-type': 'application/json' }
      for (let i = random.below(4); i > 0; i--)
        headers[random.one(headerNames)] = random.one(headerValues)
      const body = mutated(
        random,
        { stream, ...(random.one(stock(protocol).requests) as object) },
        everything.requests,
      )
      const text = Buffer.from(JSON.stringify(body))
      const sent = random.chance(0.7) ? text : mutatedBytes(random, text, everything.streams)
      const response = await gateway.handle({
        method: random.one(methods),
        path: url.pathname,
        query: url.searchParams,
        headers,
        body: { bytes: piecewise(inChunks(random, sent)) },
        signal: new AbortController().signal,
      })
      const message = await textOf(response.body)
      must(
        response.status !== 500,
        'an unexpected error: ',
        message,
        url.pathname,
        JSON.stringify(body),
      )
      must(response.status < 600 && response.status >= 200, 'no status:', response.status)
      for (const [name, value] of Object.entries(response.headers))
        must(!/[\r\n\0]/.test(name + value), 'a header that ends another:', name, value)
      if (response.status >= 400 && response.headers['content-type'] === 'application/json')
        JSON.parse(message)
      must(isClean(), 'the prototype of all objects was changed')
    },
  }
}

const types = ['application/json', 'application/json; charset=utf-8', 'text/event-stream', 'text/event-stream;charset=utf-8', 'text/plain', 'text/html', 'application/octet-stream', ''] // biome-ignore format: a list of values

/**
 * Whatever an upstream returns, the gateway sends a response, a stream or an error that is legal in
 * the caller's protocol, and writes one record.
 */
function respondsByHttp(served: Protocol): Target {
  let next = {
    status: 200,
    headers: {} as Record<string, string>,
    chunks: [] as Uint8Array[],
    breaks: false,
  }
  let records = 0
  const gateway = createGateway(
    {
      auth: 'none',
      channels: [
        {
          name: 'up',
          protocols: [served.name as never],
          baseUrl: 'http://upstream',
          breaker: { failures: 0 },
        },
      ],
      defaults: { retries: 0 },
    },
    {
      logger: false,
      onUsage: () => void records++,
      transport: {
        async send() {
          const { status, headers, chunks, breaks } = next
          return { status, headers, body: piecewise(chunks, breaks) }
        },
      },
    },
  )
  const plain: Record<string, object> = {
    'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'Hi' }] },
    responses: { model: 'm', input: 'Hi' },
    messages: { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
    'generate-content': { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] },
  }
  return {
    name: `HTTP responses: ${served.name}`,
    async run(random) {
      const caller = random.one(all)
      const stream = random.chance(0.5)
      const url = new URL(
        caller.address.target({ operation: 'generate', model: 'm', stream }) ?? '/',
        'http://gateway',
      )
      const whole = () =>
        Buffer.from(
          JSON.stringify(
            mutated(
              random,
              random.one(random.chance(0.8) ? stock(served).responses : everything.errors),
              everything.responses,
            ),
          ),
        )
      const content = random.chance(0.6) ? random.one(stock(served).streams) : whole()
      const bytes = random.chance(0.7) ? mutatedBytes(random, content, everything.streams) : content
      next = {
        status: random.chance(0.8)
          ? 200
          : random.one([201, 204, 301, 304, 400, 404, 429, 500, 503, 529, 599]),
        headers: {
          'content-type': random.one(types),
          ...(random.chance(0.2) && {
            [random.one(['retry-after', 'x-request-id', 'x-ratelimit-limit'])]:
              random.one(headerValues),
          }),
        },
        chunks: inChunks(random, bytes),
        breaks: random.chance(0.1),
      }
      records = 0
      const reported = Buffer.from(
        JSON.stringify({
          ...plain[caller.name],
          ...(caller.name !== 'generate-content' && stream && { stream: true }),
        }),
      )
      const response = await gateway.handle({
        method: 'POST',
        path: url.pathname,
        query: url.searchParams,
        headers: { 'content-type': 'application/json' },
        body: { bytes: piecewise([reported]) },
        signal: new AbortController().signal,
      })
      const [message, broke] = await textBeforeBreak(response.body)
      const sent = new TextDecoder().decode(bytes)
      const strict = strictOf(caller.name)
      const lastFrame = wiresOf(message.slice(Math.max(0, message.lastIndexOf('\ndata:'))))
      if (broke && !(caller.frames.breaksOff && strict.outcome(lastFrame ?? []) === 'failed'))
        throw broke
      must(
        response.status !== 500 ||
          next.status === 500 ||
          !message.includes('internal error of the gateway'),
        'an unexpected error: ',
        message,
        sent,
      )
      for (const [name, value] of Object.entries(response.headers))
        must(!/[\r\n\0]/.test(name + value), 'a header that ends another:', name, value)
      must(records === 1, `${records} records of one exchange`, sent)
      must(isClean(), 'the prototype of all objects was changed')
      if (caller === served) return
      if (response.status >= 400)
        must(
          strict.checkError(JSON.parse(message)).length === 0,
          'an illegal error:',
          message,
          sent,
        )
      else if (stream) {
        const wires = wiresOf(message) ?? [undefined]
        const faults = strict.checkStream(wires).filter(fault => !itsOwn.test(fault))
        must(
          faults.length === 0 && strict.outcome(wires) !== 'cut',
          'an illegal stream:',
          faults,
          message,
          sent,
        )
      } else
        must(
          hasBadKey(message) ||
            typed(() => caller.decodeResponse(JSON.parse(message))) !== undefined,
          'a response that its own protocol cannot read:',
          message,
          sent,
        )
    },
  }
}

/** Streams in which a candidate may be one without a number. */
const unnumbered = new Map<string, RegExp>([
  ['generate-content', /"index":1/],
  ['chat-completions', /"choices":\[\{(?!"index":)/],
])

/**
 * Streams with a finish reason: nothing of the response is missing where only their last event is.
 */
const reasoned = new Map<string, RegExp>([['messages', /"stop_reason":"/]])

/**
 * Decoders refuse objects with such a key, also among arguments that were a text on the wire they
 * came from.
 */
const hasBadKey = (text: string) => text.includes('"__proto__"')

/**
 * Names of tools, tiers and kinds of items that the upstream invented, and that cannot be mended.
 */
const itsOwn =
  /name: does not match|type: expected one of|serviceTier: does not match|inlineData\/data: does not match|its text is not what the deltas added up to/

async function* piecewise(
  chunks: readonly Uint8Array[],
  breaks = false,
): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk
  if (breaks) throw Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' })
}

async function textOf(
  body: string | Uint8Array | AsyncIterable<string | Uint8Array>,
): Promise<string> {
  if (typeof body === 'string') return body
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body)
    text += typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })
  return text
}

/** What was sent of a body, and the error behind which its connection was broken. */
async function textBeforeBreak(
  body: Parameters<typeof textOf>[0],
): Promise<[text: string, broke?: Error]> {
  if (typeof body === 'string' || body instanceof Uint8Array) return [await textOf(body)]
  let broke: Error | undefined
  async function* whole(chunks: AsyncIterable<string | Uint8Array>) {
    try {
      yield* chunks
    } catch (error) {
      broke = error as Error
    }
  }
  const text = await textOf(whole(body))
  return broke ? [text, broke] : [text]
}

export const targets: Target[] = [
  ...all.flatMap(from =>
    all.flatMap(to => [
      bodies('request', from, to),
      bodies('response', from, to),
      streams(from, to),
      errors(from, to),
    ]),
  ),
  sse,
  requestsByHttp(),
  ...all.map(respondsByHttp),
]
