import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { hostsOf, listen, until } from './support.ts'

/** Keys that may use certain models only reach no other model on a path of `passThrough`. */

type Got = { type: string; bytes: Buffer }

async function receiving() {
  const got: Got[] = []
  const url = await listen(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    got.push({ type: request.headers['content-type'] ?? '', bytes: Buffer.concat(chunks) })
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  return { url, got }
}

const config = (url: string) => ({
  keys: [
    { name: 'some', key: 'some-secret', group: 'team' },
    { name: 'all', key: 'all-secret' },
  ],
  groups: { team: { models: ['allowed'] } },
  channels: [
    {
      name: 'up',
      protocols: ['chat-completions' as const],
      baseUrl: `${url}/v1`,
      passThrough: ['/v1/audio/*'],
    },
  ],
  models: [
    { id: 'allowed', channels: [{ name: 'up' }] },
    { id: 'forbidden', channels: [{ name: 'up' }] },
  ],
  defaults: { retries: 0 },
})

const path = '/v1/audio/transcriptions'
const multipart = (...parts: string[]) =>
  `--frontier\r\n${parts.join('\r\n--frontier\r\n')}\r\n--frontier--\r\n`
const field = (name: string, value: string, more = '') =>
  `Content-Disposition: form-data; name="${name}"${more}\r\n\r\n${value}`
const form = 'multipart/form-data; boundary=frontier'
const allowed = field('model', 'allowed')

/** What servers have read another model in, and the gateway none or the allowed one. */
const tricks: [what: string, type: string, body: string][] = [
  ['an empty file name', form, multipart(field('model', 'forbidden', '; filename=""'))],
  ['a file name', form, multipart(field('model', 'forbidden', '; filename="x"'))],
  ['line feeds alone', form, multipart(field('model', 'forbidden')).replaceAll('\r\n', '\n')],
  [
    '`name*=`',
    form,
    multipart(`Content-Disposition: form-data; name*=utf-8''model\r\n\r\nforbidden`),
  ],
  [
    'a folded header',
    form,
    multipart(`Content-Disposition: form-data;\r\n name="model"\r\n\r\nforbidden`),
  ],
  ['a long head', form, multipart(`X: ${'x'.repeat(5_000)}\r\n${field('model', 'forbidden')}`)],
  [
    'two dispositions',
    form,
    multipart(`Content-Disposition: form-data; name="a"\r\n${field('model', 'forbidden')}`),
  ],
  ['no field for a model', form, multipart(field('prompt', 'x'))],
  ['another case', form, multipart(field('Model', 'forbidden'))],
  ['a second model', form, multipart(allowed, field('model', 'forbidden'))],
  ['a list of models', form, multipart(allowed, field('model[]', 'forbidden'))],
  ['an escaped name', form, multipart(allowed, field('mo\\del', 'forbidden'))],
  [
    'another boundary',
    `${form}; boundary=border`,
    multipart(field('model', 'forbidden')).replaceAll('frontier', 'border'),
  ],
  ['a form of the URL', 'application/x-www-form-urlencoded', 'model=allowed&model=forbidden'],
  ['a form of the URL without a model', 'application/x-www-form-urlencoded', 'prompt=x'],
  ['JSON as text', 'text/plain', '{"model":"forbidden"}'],
  ['JSON without a type that says it', 'application/octet-stream', '{"model":"forbidden"}'],
  ['JSON with two models', 'application/json', '{"model":"allowed","model":"forbidden"}'],
  ['JSON with two cases', 'application/json', '{"model":"allowed","MODEL":"forbidden"}'],
  ['JSON with an escape', 'application/json', '{"model":"allowed","mod\\u0065l":"forbidden"}'],
  ['JSON without a model', 'application/json', '{"input":"x"}'],
  ['a JSON list', 'application/json', '[{"model":"forbidden"}]'],
  ['nothing', 'application/json', '{}'],
]

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const sending = (type: string, body: BodyInit, key = 'some-secret'): RequestInit => ({
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': type },
    body,
  })

  test.each(tricks)('refuses %s for a key of certain models', async (_what, type, body) => {
    const { url, got } = await receiving()
    const ask = await start(config(url))
    const { status } = await ask(path, sending(type, body))
    expect([400, 403, 404]).toContain(status)
    expect(got).toEqual([])
  })

  test('refuses a model in the query for a key of certain models', async () => {
    const { url, got } = await receiving()
    const ask = await start(config(url))
    const json = sending('application/json', '{"model":"allowed"}')
    expect((await ask(`${path}?Model=forbidden`, json)).status).toBe(403)
    const { headers } = json
    expect((await ask(`${path}?model=forbidden`, headers ? { headers } : {})).status).toBe(403)
    expect(got).toEqual([])
  })

  test('writes a form anew for a key of certain models, with all its fields and files', async () => {
    const { url, got } = await receiving()
    const ask = await start(config(url))
    const file = Buffer.from(
      '\0\n--b\nContent-Disposition: form-data; name="model"\n\nforbidden\n--b--',
    )
    const sent = new FormData()
    sent.append('model', 'allowed')
    sent.append('include[]', 'a')
    sent.append('include[]', 'b\r\nc')
    sent.append('file', new File([file], 'a"; name="model', { type: 'audio/wav' }))
    const { headers } = sending('', '')
    const { 'content-type': _type, ...keyed } = headers as Record<string, string>
    expect((await ask(path, { method: 'POST', headers: keyed, body: sent })).status).toBe(200)
    const [{ type, bytes } = { type: '', bytes: Buffer.alloc(0) }] = got
    const read = await new Response(new Uint8Array(bytes), {
      headers: { 'content-type': type },
    }).formData()
    expect([...read.keys()]).toEqual(['model', 'include[]', 'include[]', 'file'])
    expect([read.get('model'), read.getAll('include[]')]).toEqual(['allowed', ['a', 'b\r\nc']])
    const received = read.get('file') as File
    expect(received.type).toBe('audio/wav')
    expect(Buffer.from(await received.arrayBuffer()).equals(file)).toBe(true)
  })

  test('sends one type of JSON for a key of certain models, whatever its parameters', async () => {
    const { url, got } = await receiving()
    const ask = await start(config(url))
    const body = '{"model":"allowed","x":"&model=forbidden&"}'
    for (const type of ['application/json; charset=utf-7', 'application/vnd.x+json'])
      expect((await ask(path, sending(type, body))).status).toBe(200)
    const urlEncoded = 'application/x-www-form-urlencoded'
    expect((await ask(path, sending(urlEncoded, 'model=allowed&a=b+c'))).status).toBe(200)
    expect(got.map(({ type, bytes }) => [type, String(bytes)])).toEqual([
      ['application/json', body],
      ['application/json', body],
      [urlEncoded, 'model=allowed&a=b+c'],
    ])
  })

  test('passes the bytes of other keys, and records the model where it is seen', async () => {
    const { url, got } = await receiving()
    const records: UsageRecord[] = []
    const ask = await start(config(url), { onUsage: record => void records.push(record) })
    const bodies = [
      [form, multipart(field('prompt', 'x'), field('model', 'forbidden'))],
      ['application/x-www-form-urlencoded', 'prompt=x&model=forbidden'],
      ['text/plain', '{"model":"forbidden"}'],
      [form, 'no form'],
    ] as const
    for (const [type, body] of bodies)
      expect((await ask(path, sending(type, body, 'all-secret'))).status).toBe(200)
    expect(got.map(({ type, bytes }) => [type, String(bytes)])).toEqual(bodies)
    await until(() => records.length === bodies.length)
    expect(records.map(({ requestedModel }) => requestedModel)).toEqual([
      'forbidden',
      'forbidden',
      '/v1/audio/*',
      '/v1/audio/*',
    ])
  })

  test('refuses forms that take long to read', async () => {
    const { url, got } = await receiving()
    const ask = await start(config(url))
    const boundary = `${'b'.repeat(70)}c`
    const long = sending(`multipart/form-data; boundary=${boundary}`, 'x', 'all-secret')
    expect((await ask(path, long)).status).toBe(400)
    const many = multipart(...Array.from({ length: 1_001 }, () => field('a', '')))
    expect((await ask(path, sending(form, many, 'all-secret'))).status).toBe(400)
    expect(got).toEqual([])
  })
})
