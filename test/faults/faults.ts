import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import type { Act, Play } from './upstream.ts'

/**
 * `response`: all of it must arrive. `error`: the client must get an error. `either`: one of both,
 * but never a wrong response.
 */
export type Expect = 'response' | 'error' | 'either'

export type Fault = {
  name: string
  expect: Expect | { whole: Expect; stream: Expect }
  play: Play
  /** It breaks a stream in the middle. */
  breaks?: true
  /** The gateway waits but a moment for this one. */
  impatient?: true
  /** Nothing listens there at all. */
  refuses?: true
  /**
   * What is expected where it is not `expect`: of streams of binary frames, and where the same
   * bytes pass, which not every client reads.
   */
  binary?: Expect
  passed?: Expect
  /** Wires whose streams have no end marker, so that no client can detect the end. */
  endless?: readonly string[]
  /** What is received if it is not exactly what was sent. */
  says?(text: string): string
}

type Framing = 'length' | 'chunked' | 'close'
type WireResponse = {
  status?: string
  type?: string | undefined
  headers?: string[]
  version?: string
  framing?: Framing
}

function framingField(framing: Framing | undefined, length: number): string {
  if (framing === 'length') return `content-length: ${length}`
  return framing === 'chunked' ? 'transfer-encoding: chunked' : 'connection: close'
}

const head = (
  act: Act,
  length: number,
  { status = '200 OK', type = act.type, headers = [], version = '1.1', framing }: WireResponse = {},
) =>
  [
    `HTTP/${version} ${status}`,
    ...(type ? [`content-type: ${type}`] : []),
    ...headers,
    framingField(framing, length),
    '',
    '',
  ].join('\r\n')

const common = (act: Act): Framing => (act.stream ? 'chunked' : 'length')
const chunk = (bytes: Uint8Array) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
const lastChunk = '0\r\n\r\n'

/** A complete response in one write. */
const response =
  (
    body: (act: Act) => Uint8Array | string,
    response: WireResponse | ((act: Act) => WireResponse) = {},
  ): Play =>
  async act => {
    const bytes = Buffer.from(body(act) as string)
    const reported = {
      framing: common(act),
      ...(typeof response === 'function' ? response(act) : response),
    }
    const coded =
      reported.framing === 'chunked'
        ? Buffer.concat([bytes.length > 0 ? chunk(bytes) : Buffer.alloc(0), Buffer.from(lastChunk)])
        : bytes
    await act.send(Buffer.concat([Buffer.from(head(act, bytes.length, reported)), coded]))
    if (reported.framing === 'close' || reported.version === '1.0') act.socket.end()
  }

/** The head, so much of the body, and then this. */
const upTo =
  (share: number, then: (act: Act) => unknown): Play =>
  async act => {
    const bytes = act.body.subarray(0, Math.floor(act.body.length * share))
    await act.send(head(act, act.body.length, { framing: common(act) }))
    if (bytes.length > 0) await act.send(act.stream ? chunk(bytes) : bytes)
    await then(act)
  }

const reset = ({ socket }: Act) => socket.resetAndDestroy()
const finish = ({ socket }: Act) => socket.end()
const hang = ({ gone }: Act) => gone
const text = (change: (text: string, act: Act) => string) => (act: Act) =>
  act.framed(change(act.text, act))
const pause = () => new Promise(resolve => setImmediate(resolve))
const page = '<!doctype html><html><body>Bad gateway</body></html>'

/** Chunk after chunk, as long as they are read. */
const endless =
  (part: (act: Act, number: number) => string | Buffer): Play =>
  async act => {
    await act.send(head(act, 0, { framing: 'chunked' }))
    if (act.stream) for (const frame of act.frames.slice(0, 2)) await act.send(chunk(frame))
    else await act.send(chunk(Buffer.from('{')))
    for (let number = 0; !act.socket.destroyed && number < 1_000_000; number++) {
      await act.send(chunk(Buffer.from(part(act, number) as string)))
      await pause()
    }
  }

const trickle =
  (response: WireResponse, change: (body: Buffer) => Buffer = body => body): Play =>
  async act => {
    const body = change(act.body)
    const reported = { framing: common(act), ...response }
    const bytes = Buffer.concat([
      Buffer.from(head(act, body.length, reported)),
      reported.framing === 'chunked' ? Buffer.concat([chunk(body), Buffer.from(lastChunk)]) : body,
    ])
    for (let at = 0; at < bytes.length && !act.socket.destroyed; at++) {
      await act.send(bytes.subarray(at, at + 1))
      await pause()
    }
  }

const replaced = (body: Buffer, from: string, to: Buffer): Buffer => {
  const at = body.indexOf(from)
  return at < 0
    ? body
    : Buffer.concat([body.subarray(0, at), to, body.subarray(at + Buffer.byteLength(from))])
}

const before =
  (line: string): Play =>
  async act => {
    await act.send(line)
    await pause()
    await response(({ body }) => body)(act)
  }

const redirects = [301, 302, 303, 307, 308].flatMap((status): Fault[] => [
  {
    name: `a redirect ${status} to another host`,
    expect: 'error',
    play: response(() => '', {
      status: `${status} Moved`,
      headers: ['location: http://127.0.0.1:9/v1'],
    }),
  },
  {
    name: `a redirect ${status} to itself`,
    expect: 'error',
    play: response(() => '', { status: `${status} Moved`, headers: ['location: /v1/messages'] }),
  },
])

/** What upstreams, and proxies before them, do to a response. */
export const faults: Fault[] = [
  { name: 'nothing', expect: 'response', play: response(({ body }) => body) },
  { name: 'a refused connection', expect: 'error', refuses: true, play: () => {} },
  { name: 'a reset before the head', expect: 'error', play: reset },
  { name: 'an end before the head', expect: 'error', play: finish },
  { name: 'a reset inside the head', expect: 'error', play: async act => { await act.send('HTTP/1.1 200 OK\r\ncontent-'); reset(act) } },
  { name: 'an end inside the head', expect: 'error', play: async act => { await act.send('HTTP/1.1 200 OK\r\ncontent-'); finish(act) } },
  { name: 'a reset after the head', expect: 'error', play: upTo(0, reset) },
  { name: 'an end after the head', expect: 'error', play: upTo(0, finish) },
  { name: 'a reset in the middle', breaks: true, expect: 'error', play: upTo(0.5, reset) },
  { name: 'an end in the middle', breaks: true, expect: 'error', play: upTo(0.5, finish) },
  { name: 'a proper end of HTTP in the middle', breaks: true, expect: 'error', play: response(({ body }) => body.subarray(0, body.length / 2)) },
  { name: 'a reset after the last byte', expect: { whole: 'either', stream: 'either' }, play: upTo(1, reset) },
  { name: 'silence before the head', expect: 'error', impatient: true, play: hang },
  { name: 'silence inside the head', expect: 'error', impatient: true, play: async act => { await act.send('HTTP/1.1 200 OK\r\n'); await hang(act) } },
  { name: 'silence after the head', expect: 'error', impatient: true, play: upTo(0, hang) },
  { name: 'silence in the middle', breaks: true, expect: 'error', impatient: true, play: upTo(0.5, hang) },
  { name: 'a connection that is held after the last byte', expect: 'response', play: upTo(1, act => (act.stream ? hang(act) : undefined)) },
  { name: 'one byte a time', expect: 'response', play: trickle({}) },
  { name: 'one byte a time, without a type', expect: 'response', play: trickle({ type: '' }) },
  { name: 'one byte a time after a byte order mark', expect: 'response', binary: 'error', passed: 'either', play: trickle({}, body => Buffer.concat([Buffer.from('\ufeff'), body])) },
  { name: 'one byte a time after a byte order mark, without a type', expect: 'response', binary: 'error', passed: 'either', play: trickle({ type: '' }, body => Buffer.concat([Buffer.from('\ufeff'), body])) },
  {
    name: 'a length that is longer',
    expect: { whole: 'error', stream: 'either' },
    play: async act => { await act.send(head(act, act.body.length + 99, { framing: 'length' })); await act.send(act.body); finish(act) },
  },
  {
    name: 'a length that is shorter',
    expect: 'error',
    play: async act => { await act.send(head(act, Math.floor(act.body.length / 2), { framing: 'length' })); await act.send(act.body) },
  },
  { name: 'two lengths', expect: 'error', play: response(({ body }) => body, { framing: 'length', headers: ['content-length: 7'] }) },
  { name: 'a length that is no number', expect: 'error', play: response(({ body }) => body, { framing: 'close', headers: ['content-length: many'] }) },
  { name: 'chunks and a length', expect: 'either', play: response(({ body }) => body, { framing: 'chunked', headers: ['content-length: 5'] }) },
  { name: 'a size of a chunk that is none', expect: 'error', play: async act => { await act.send(`${head(act, 0, { framing: 'chunked' })}xyz\r\n`); await act.send(act.body) } },
  { name: 'a chunk that is longer than it says', expect: 'error', play: async act => { await act.send(`${head(act, 0, { framing: 'chunked' })}5\r\n`); await act.send(act.body) } },
  { name: 'gzip', expect: 'response', play: response(({ body }) => gzipSync(body), { headers: ['content-encoding: gzip'] }) },
  { name: 'deflate', expect: 'response', play: response(({ body }) => deflateSync(body), { headers: ['content-encoding: deflate'] }) },
  { name: 'brotli', expect: 'response', play: response(({ body }) => brotliCompressSync(body), { headers: ['content-encoding: br'] }) },
  { name: 'half of gzip', expect: 'error', play: response(({ body }) => { const bytes = gzipSync(body); return bytes.subarray(0, bytes.length / 2) }, { headers: ['content-encoding: gzip'] }) },
  { name: 'plain bytes that say they are gzip', expect: 'error', play: response(({ body }) => body, { headers: ['content-encoding: gzip'] }) },
  { name: 'plain bytes that say they are brotli', expect: 'error', play: response(({ body }) => body, { headers: ['content-encoding: br'] }) },
  { name: 'gzip that does not say so', expect: 'error', play: response(({ body }) => gzipSync(body)) },
  { name: 'an unknown encoding', expect: 'either', play: response(({ body }) => body, { headers: ['content-encoding: rot13'] }) },
  { name: 'letters that say they are UTF-16', expect: 'response', play: response(({ body }) => body, ({ type }) => ({ type: `${type}; charset=utf-16` })) },
  { name: 'letters that are UTF-16', expect: 'error', play: response(({ body }) => Buffer.from(body.toString(), 'utf16le')) },
  ...[200, 404, 502].map((status): Fault => ({ name: `a web page with ${status}`, expect: 'error', play: response(() => page, { status: `${status} So`, type: 'text/html' }) })),
  { name: 'a web page with the content type of the protocol', expect: 'error', play: response(() => page) },
  { name: 'a line of a megabyte', expect: 'response', binary: 'error', play: response(act => (act.stream ? `: ${'x'.repeat(2 ** 20)}\n\n${act.body}` : `${' '.repeat(2 ** 20)}${act.body}`)) },
  { name: 'a line without an end', expect: { whole: 'error', stream: 'error' }, play: response(act => `${act.stream ? 'data: ' : ''}{"a":"${'x'.repeat(3 * 2 ** 20)}`) },
  { name: 'text without an end', expect: 'error', impatient: true, play: endless(act => (act.stream ? (act.frames[2] ?? '') : ' '.repeat(64))) },
  { name: 'comments without an end', expect: 'error', impatient: true, play: endless(act => (act.stream ? ': still here\n\n' : '\n')) },
  { name: 'its end twice', expect: { whole: 'error', stream: 'response' }, play: response(act => Buffer.concat([act.body, act.stream ? (act.frames.at(-1) ?? '') as Buffer : Buffer.from('}')])) },
  { name: 'frames after the end', expect: { whole: 'either', stream: 'response' }, play: response(act => Buffer.concat([act.body, Buffer.from(act.stream ? ': bye\n\ndata: {"choices":[]}\n\n' : '\n\n')])) },
  { name: 'another message after the end', endless: ['generate-content'], expect: { whole: 'error', stream: 'either' }, play: response(act => Buffer.concat([act.body, act.other])) },
  // Without the start of a message, a message that continues in another one's text looks like one.
  { name: 'half of a message and then another', endless: ['chat-completions', 'generate-content'], expect: 'error', play: response(act => Buffer.concat([act.stream ? Buffer.concat(act.frames.slice(0, act.frames.length / 2)) : act.body.subarray(0, act.body.length / 2), Buffer.from(act.other.toString().replaceAll(/\b(msg|resp)_1\b/g, '$1_2'))])) },
  { name: 'another unrequested response on the connection', expect: 'response', play: async act => { await response(({ body }) => body)(act); await response(({ other }) => other)(act) } },
  { name: 'letters that are no UTF-8', expect: 'either', says: message => message.replace('ö', '\ufffd\ufffd'), play: response(({ body }) => replaced(body, 'ö', Buffer.from([0xff, 0xfe]))) },
  { name: 'comments that are no UTF-8', expect: { whole: 'either', stream: 'response' }, binary: 'error', play: response(({ body }) => Buffer.concat([Buffer.from([0x3a, 0xff, 0xfe, 0x0a, 0x0a]), body])) },
  { name: 'a zero byte in the text', expect: 'either', says: message => message.replace('wö', 'w\u0000ö'), play: response(({ body }) => replaced(body, 'wö', Buffer.from('w\u0000ö'))) },
  { name: 'zero bytes around', expect: 'either', play: response(({ body }) => Buffer.concat([Buffer.from('\0\0\n\n'), body, Buffer.from('\0\0')])) },
  { name: 'a byte order mark', expect: 'response', binary: 'error', passed: 'either', play: response(({ body }) => Buffer.concat([Buffer.from('\ufeff'), body])) },
  { name: 'lines that end with CR', expect: 'response', play: response(text(body => body.replaceAll('\r\n', '\n').replaceAll('\n', '\r'))) },
  { name: 'lines that end with CRLF', expect: 'response', play: response(text(body => body.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n'))) },
  { name: 'lines that end with either', expect: 'response', play: response(text(body => body.replaceAll('\r\n', '\n').replaceAll('\n\n', '\r\n\n'))) },
  { name: 'HTTP/1.0', expect: 'response', play: response(({ body }) => body, { version: '1.0', framing: 'close' }) },
  { name: 'HTTP/1.0, cut', breaks: true, expect: { whole: 'error', stream: 'error' }, play: response(({ body }) => body.subarray(0, body.length / 2), { version: '1.0', framing: 'close' }) },
  { name: 'a body without a head', expect: 'error', play: async act => { await act.send(act.body); finish(act) } },
  // The request did not have `expect`: the HTTP client takes that for a broken server.
  { name: '100 before the response', expect: 'either', play: before('HTTP/1.1 100 Continue\r\n\r\n') },
  { name: '102 and 103 before the response', expect: 'response', play: before('HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n') },
  { name: '101 instead of a response', expect: 'error', play: async act => { await act.send('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'); finish(act) } },
  ...redirects,
  ...[204, 205, 304].map((status): Fault => ({ name: `${status} without a body`, expect: 'error', play: async act => { await act.send(`HTTP/1.1 ${status} So\r\ncontent-length: 0\r\n\r\n`) } })),
  { name: 'a status that there is not', expect: 'error', play: response(({ body }) => body, { status: '999 Odd' }) },
  { name: 'a status without a text', expect: 'response', play: response(({ body }) => body, { status: '200 ' }) },
  { name: 'an error with status 200', expect: 'error', play: response(({ stream }) => (stream ? 'data: {"error":{"message":"No more credit"}}\n\n' : '{"error":{"message":"No more credit"}}')) },
  { name: 'a head of 200 kB', expect: 'error', play: response(({ body }) => body, { headers: [`x-long: ${'x'.repeat(200_000)}`] }) },
  { name: 'a thousand headers', expect: 'either', play: response(({ body }) => body, { headers: Array.from({ length: 1000 }, (_, i) => `x-${i}: y`) }) },
  { name: 'a header that is folded', expect: 'either', play: response(({ body }) => body, { headers: ['x-folded: a\r\n b'] }) },
  { name: 'a header that is none', expect: 'error', play: response(({ body }) => body, { headers: ['no colon here'] }) },
  { name: 'a header that ends another', expect: 'either', play: response(({ body }) => body, { headers: ['retry-after: 1\rset-cookie: x'] }) },
  { name: 'a JSON that says it is text', expect: 'response', binary: 'either', play: response(({ body }) => body, { type: 'text/plain' }) },
  { name: 'no type', expect: 'response', play: response(({ body }) => body, { type: '' }) },
] // biome-ignore format: a table

/**
 * Cut after so many bytes. Nothing of a complete response may be missing; of a stream, only what
 * comes after its end.
 */
export const cutAt = (at: number): Fault => ({
  name: `a cut after byte ${at}`,
  expect: { whole: 'error', stream: 'either' },
  play: async act => {
    await act.send(head(act, act.body.length, { framing: common(act) }))
    const bytes = act.body.subarray(0, Math.min(at, act.body.length - 1))
    if (bytes.length > 0) await act.send(act.stream ? chunk(bytes) : bytes)
    await pause()
    reset(act)
  },
})
