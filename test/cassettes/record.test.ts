import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFolder, nameOf } from '../../src/cassettes/folder.ts'
import { type Cassette, createRecorder, replay } from '../../src/cassettes/index.ts'
import { textOfBody } from '../../src/cassettes/read.ts'
import { framings } from '../../src/cassettes/write.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { only } from '../../src/transports/bodies.ts'
import {
  answering,
  asked,
  configFor,
  exchangeOf,
  filesOf,
  freshFolder,
  postOf,
  recorded,
  textsOf,
} from './support.ts'

describe.each(protocolNames)('a client of %s', from => {
  test.each(protocolNames)('and an upstream of %s are recorded, whole', async to => {
    const { cassette, bytes } = await exchangeOf(from, to, { stream: false })
    const { request, attempts, response, record, route } = cassette
    expect(request).toMatchObject({ protocol: from, method: 'POST' })
    expect(JSON.parse(request.body.text ?? '')).toEqual(asked(from, false).body)
    expect(route.candidates).toMatchObject([{ channel: 'up', protocol: to }])
    expect(attempts).toMatchObject([
      { channel: 'up', protocol: to, method: 'POST', response: { status: 200 } },
    ])
    expect(attempts[0]?.url).toMatch(/^https:\/\/upstream\.test\//)
    expect(response?.body.text).toBe(bytes.toString())
    expect(record?.['usage']).toMatchObject({ input: 12_000 })
  })

  test.each(protocolNames)('and an upstream of %s are recorded as a stream', async to => {
    const { cassette, bytes } = await exchangeOf(from, to, { stream: true })
    const { attempts, response } = cassette
    const upstream = attempts[0]?.response?.body
    expect(upstream?.frames?.length).toBeGreaterThan(20)
    expect(upstream?.isCut).toBeUndefined()
    const { framing } = protocols[from]
    const text = framing
      ? String(framing.decode()(bytes)).replaceAll(/^id: frame.*\n/gm, '')
      : bytes
    expect(response && textOfBody(response.body)).toBe(text.toString())
    const times = response?.body.frames?.map(({ atMs }) => atMs) ?? []
    expect(times).toEqual(times.toSorted((one, other) => one - other))
  })

  test('sees a stream cut as cut', async () => {
    const { cassette } = await exchangeOf(from, 'messages', { stream: true, cut: 8 })
    expect(cassette.attempts[0]?.response?.body).toMatchObject({ isCut: true })
    expect(cassette.record).toMatchObject({ failure: 'upstream_network' })
  })
})

test('the binary frames of all protocols are known', () => {
  expect(framings).toEqual(Object.values(protocols).flatMap(({ framing }) => framing ?? []))
})

const planted = {
  client: 'client-key-0123456789abcdef',
  channel: 'channel-key-0123456789abcdef',
  header: 'header-secret-0123456789abcdef',
  short: 'tiny-key',
  cookie: 'session=0123456789abcdef',
  vendor: 'sk-proj-0123456789abcdefghij',
  github: 'ghp_0123456789abcdefghijABCDEFGHIJ012345',
  jwt: 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N',
  pem: '-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3\n-----END RSA PRIVATE KEY-----',
  field: 'correct horse battery staple',
  nested: 'hunter2 hunter2',
  query: 'query-secret-123456',
  google: 'AIzaSyA0123456789abcdefghijklmnopqrs',
}

/** In texts that agents read and write. */
const inTexts = {
  perplexity: 'pplx-0123456789abcdefghijABCDEFGHIJ',
  cerebras: 'csk-0123456789abcdefghijklmnopq',
  bedrock: 'ABSKQmVkcm9ja0FQSUtleS0wMTIzNDU2Nzg5',
  npm: 'npm_0123456789abcdefghijABCDEFGHIJ012345',
  variable: 'value-of-a-variable',
  basic: 'dXNlcjpwYXNzd29yZA==',
  database: 'swordfish-9',
  camel: 'token in camel case',
  quoted: 'quo"te-and-rest',
  deep: 'three levels deep',
  form: 'field-of-a-form-1234',
}

const planting = {
  auth: undefined,
  keys: [
    { name: 'one', key: planted.client },
    { name: 'two', key: planted.short },
  ],
  channels: [
    {
      name: 'up',
      protocols: ['chat-completions' as const],
      baseUrl: 'https://upstream.test/v1',
      apiKey: planted.channel,
      headers: { 'x-company-token': planted.header },
    },
  ],
}

const said = [
  `my keys: ${planted.vendor} ${planted.github} ${planted.jwt} ${planted.short}`,
  planted.pem,
  planted.channel,
  planted.header,
  planted.client,
].join(' and ')

const sent = {
  model: 'm',
  messages: [
    { role: 'user', content: said },
    {
      role: 'assistant',
      tool_calls: [
        {
          id: 'c1',
          type: 'function',
          function: { name: 'log_in', arguments: JSON.stringify({ password: planted.nested }) },
        },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'ok' },
  ],
  metadata: { api_key: planted.field },
}

const expectNoSecrets = (text: string) => {
  expect(text).toContain('***')
  for (const [name, secret] of Object.entries(planted))
    for (const spelled of [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)])
      expect(text.includes(spelled), name).toBe(false)
}

describe('no secret is in a cassette', () => {
  const init = postOf(sent, {
    authorization: `Bearer ${planted.client}`,
    cookie: planted.cookie,
    'x-goog-api-key': planted.google,
    'x-team-secret': planted.header,
  })
  const path = `/v1/chat/completions?key=${planted.query}&note=${planted.vendor}`
  const answers = {
    'a whole response': {
      status: 200,
      body: {
        id: 'c1',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: said } },
        ],
      },
    },
    'an error': {
      status: 401,
      body: { error: { message: `wrong key ${planted.channel}, ${said}`, type: 'auth' } },
    },
  }

  test.each(Object.entries(answers))('of %s', async (_, { status, body }) => {
    const { folder, cassettes } = await recorded(planting as never, [{ path, init }], {
      hooks: {
        transport: {
          send: async () => ({
            status,
            headers: { 'content-type': 'application/json', 'set-cookie': planted.cookie },
            body: only(JSON.stringify(body)),
          }),
        },
      },
    })
    expect(cassettes).toHaveLength(1)
    expectNoSecrets(textsOf(folder))
  })

  test('of a stream, where the upstream repeats them', async () => {
    const chunk = (content: string) =>
      `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`
    const { folder, cassettes } = await recorded(
      planting as never,
      [
        {
          path,
          init: postOf({ ...sent, stream: true }, { authorization: `Bearer ${planted.client}` }),
        },
      ],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 200,
              headers: { 'content-type': 'text/event-stream' },
              body: only(`${chunk(said)}${chunk('end')}data: [DONE]\n\n`),
            }),
          },
        },
      },
    )
    expect(cassettes[0]?.response?.body.frames?.length).toBeGreaterThan(1)
    expectNoSecrets(textsOf(folder))
  })

  test('of a request that no upstream gets, and of one that is not let in nothing is kept', async () => {
    const { folder, cassettes } = await recorded(
      planting as never,
      [
        { path, init: postOf({ ...sent, messages: 5 }, { 'x-api-key': planted.client }) },
        { path, init: postOf(sent, { authorization: `Bearer ${planted.vendor}` }) },
      ],
      { hooks: { transport: answering('chat-completions', { stream: false }) } },
    )
    expect(cassettes.length).toBeLessThanOrEqual(1)
    expectNoSecrets(textsOf(folder))
  })

  test('of binary frames', async () => {
    const { path: converse, body } = asked('converse', true)
    const frame = (key: string, value: object) => `data: ${JSON.stringify({ [key]: value })}\n\n`
    const { folder, cassettes } = await recorded(
      { ...planting, channels: [{ ...planting.channels[0], protocols: ['converse'] }] } as never,
      [{ path: converse, init: postOf(body, { authorization: `Bearer ${planted.client}` }) }],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 200,
              headers: { 'content-type': 'text/event-stream' },
              body: only(
                frame('messageStart', { role: 'assistant' }) +
                  frame('contentBlockDelta', { contentBlockIndex: 0, delta: { text: said } }) +
                  frame('messageStop', { stopReason: 'end_turn' }),
              ),
            }),
          },
        },
      },
    )
    expect(cassettes[0]?.response?.body.frames?.length).toBeGreaterThan(1)
    expectNoSecrets(textsOf(folder))
    expect(textsOf(folder)).not.toContain('frame:')
  })
})

test('no secret is in a cassette of what agents read and write', async () => {
  const { variable, basic, database, camel, quoted, deep, form, ...keys } = inTexts
  const nested = JSON.stringify({ more: JSON.stringify({ client_secret: deep }) })
  const text = [
    ...Object.values(keys),
    `MY_API_KEY=${variable}`,
    `curl -H 'Authorization: Basic ${basic}'`,
    `postgres://admin:${database}@db.test/users`,
    JSON.stringify({ accessToken: camel, password: quoted }),
    JSON.stringify({ arguments: nested }),
  ].join('\n')
  const { path, body } = asked('messages', false)
  const init = postOf(
    { ...body, system: text, metadata: { accessToken: camel, password: quoted } },
    { apikey: `Key ${form}`, 'x-authtoken': form },
  )
  const multipart = Buffer.concat([
    Buffer.from(`--b\r\ncontent-disposition: form-data; name="a"\r\n\r\n${text}\r\n`),
    Buffer.alloc(64, 0xff),
    Buffer.from('\r\n--b--\r\n'),
  ])
  const config = configFor('messages', { keys: [{ name: 'one', key: form }] } as never)
  const passing = { ...config, channels: [{ ...config.channels[0], passThrough: ['/v1/audio/*'] }] }
  const { folder, cassettes } = await recorded(
    { ...passing, auth: undefined } as never,
    [
      {
        path: `${path}?sig=${form}`,
        init: { ...init, headers: { ...init.headers, 'x-api-key': form } },
      },
      {
        path: '/v1/audio/transcriptions',
        init: {
          method: 'POST',
          body: multipart,
          headers: { 'content-type': 'multipart/form-data; boundary=b', 'x-api-key': form },
        },
      },
    ],
    { hooks: { transport: answering('messages', { stream: false }) }, options: { media: true } },
  )
  expect(cassettes).toHaveLength(2)
  const bytes = Buffer.from(cassettes[1]?.request.body.base64 ?? '', 'base64').toString('latin1')
  expect(bytes).toContain('form-data')
  const all = `${textsOf(folder)}\n${bytes}`
  for (const [name, secret] of Object.entries(inTexts))
    for (const spelled of [secret, JSON.stringify(secret).slice(1, -1), secret.slice(-8)])
      expect(all.includes(spelled), name).toBe(false)
})

describe.each(protocolNames)('no secret in pieces is in a cassette of %s', protocol => {
  /** As models write: a few letters at a time. */
  const pieces = (text: string) => text.match(/[\s\S]{1,7}/g) ?? []
  const chunk = (delta: object, finish: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  const call = (more: object) => chunk({ tool_calls: [{ index: 0, ...more }] })
  const input = JSON.stringify({
    password: planted.nested,
    text: JSON.stringify({ api_key: planted.field, key: planted.vendor }),
  })
  const written = [
    chunk({ role: 'assistant', content: '' }),
    ...pieces(said).map(content => chunk({ content })),
    call({ id: 'c1', type: 'function', function: { name: 'log_in', arguments: '' } }),
    ...pieces(input).map(text => call({ function: { arguments: text } })),
    chunk({}, 'tool_calls'),
    'data: [DONE]\n\n',
  ].join('')

  const transcript = async (
    from: (typeof protocolNames)[number],
    to: (typeof protocolNames)[number],
    bytes: Uint8Array | string,
  ) => {
    const { path, body } = asked(from, true)
    const headers = { authorization: `Bearer ${planted.client}` }
    const type = protocols[to].framing?.contentType ?? 'text/event-stream'
    return recorded(
      { ...planting, channels: [{ ...planting.channels[0], protocols: [to] }] } as never,
      [{ path, init: postOf(body, headers) }],
      {
        hooks: {
          transport: {
            send: async () => ({
              status: 200,
              headers: { 'content-type': type },
              body: only(bytes as never),
            }),
          },
        },
      },
    )
  }

  /** What streams say in each of their fields, put together. */
  const allIn = (cassettes: readonly Cassette[]) => {
    const fields = new Map<string, string>()
    for (const { attempts, response } of cassettes)
      for (const body of [attempts[0]?.response?.body, response?.body])
        for (const { text } of body?.frames ?? [])
          for (const [, name = '', value = ''] of text.matchAll(/"(\w+)":"((?:[^"\\]|\\.)*)"/g))
            fields.set(name, (fields.get(name) ?? '') + value)
    return [...fields.values()].join('\n')
  }

  const expectNone = (cassettes: readonly Cassette[], folder: string) => {
    expectNoSecrets(textsOf(folder))
    const all = allIn(cassettes)
    expect(all).toContain('my keys: ')
    expectNoSecrets(all)
  }

  test('that the client or the upstream gets', async () => {
    const { cassettes, folder, got } = await transcript(protocol, 'chat-completions', written)
    expectNone(cassettes, folder)
    const back = await transcript('chat-completions', protocol, got[0]?.bytes ?? '')
    expectNone(back.cassettes, back.folder)
    // Nothing but the secrets has changed.
    expect((await replay(cassettes[0] as Cassette)).differences).toEqual([])
  })
})

describe('media', () => {
  const data = Buffer.alloc(3000, 'pixels').toString('base64')
  const body = {
    model: 'm',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } },
          { type: 'input_audio', input_audio: { data, format: 'wav' } },
        ],
      },
    ],
  }
  const hooks = { transport: answering('messages', { stream: false }) }
  const requests = [{ path: '/v1/chat/completions', init: postOf(body) }]

  test('is left out of what client and upstream sent', async () => {
    const { folder, cassettes } = await recorded(configFor('messages'), requests, { hooks })
    expect(textsOf(folder)).not.toContain(data.slice(0, 100))
    expect(cassettes[0]?.attempts[0]?.body.text).toContain('"media_type":"image/png"')
  })

  test.each([
    ['slashes with escapes', (json: string) => json.replaceAll('/', '\\/')],
    ['lines', (json: string) => json.replaceAll(/(\w{76})/g, '$1\\n')],
    [
      'JSON in a string',
      (json: string) => JSON.stringify({ model: 'm', messages: [{ role: 'user', content: json }] }),
    ],
  ])('is left out of base64 in %s', async (_, written) => {
    const jpeg = `/9j/${Buffer.alloc(3000, 'a/pixel?').toString('base64')}`
    const json = written(JSON.stringify(body).replaceAll(data, jpeg))
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: json }
    const asked = [{ path: '/v1/chat/completions', init }]
    const { folder, cassettes } = await recorded(configFor('messages'), asked, { hooks })
    expect(cassettes).toHaveLength(1)
    expect(textsOf(folder)).not.toContain(jpeg.slice(-60, -4))
  })

  test('is kept where it is asked for', async () => {
    const options = { media: true }
    const { folder } = await recorded(configFor('messages'), requests, { hooks, options })
    expect(textsOf(folder).split(data).length).toBe(4)
  })

  test('in bytes is kept as base64, or counted', async () => {
    const config = configFor('chat-completions')
    const passing = {
      ...config,
      channels: [{ ...config.channels[0], passThrough: ['/v1/audio/*'] }],
    } as never
    const init = {
      method: 'POST',
      body: Buffer.alloc(900, 0xff),
      headers: { 'content-type': 'audio/wav' },
    }
    const ask = (media: boolean) =>
      recorded(passing, [{ path: '/v1/audio/transcriptions', init }], {
        hooks: { transport: answering('chat-completions', { stream: false }) },
        options: { media },
      })
    expect((await ask(false)).cassettes[0]).toMatchObject({
      operation: 'pass',
      request: { body: { redacted: 900 } },
    })
    expect((await ask(true)).cassettes[0]?.request.body.base64).toHaveLength(1200)
  })
})

describe('a folder', () => {
  const requests = [{ path: '/v1/messages', init: postOf(asked('messages', false).body) }]
  const hooks = { transport: answering('messages', { stream: false }) }

  test('and its files are for their owner alone', async () => {
    const { folder } = await recorded(configFor('messages'), requests, {
      hooks,
      folder: join(freshFolder(), 'new'),
    })
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    for (const file of filesOf(folder)) expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  test('makes room for new files, and touches no others', async () => {
    const folder = freshFolder()
    writeFileSync(join(folder, 'mine.json'), 'x'.repeat(100_000))
    const recorder = createRecorder(folder, { folderLimitBytes: 20_000 })
    const gateway = fetchGateway(configFor('messages'), {
      logger: false,
      ...hooks,
      ...recorder.hooks,
    })
    for (let i = 0; i < 10; i++)
      await (await gateway('http://gateway.test/v1/messages', requests[0]?.init)).text()
    await recorder.flush()
    const own = readdirSync(folder).filter(name => name !== 'mine.json')
    const size = own.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
    expect(own.length).toBeGreaterThan(0)
    expect(size).toBeLessThanOrEqual(20_000)
    expect(existsSync(join(folder, 'mine.json'))).toBe(true)
  })

  test('holds what it may, though several processes write into it', () => {
    const folder = freshFolder()
    const text = 'x'.repeat(1_000)
    const all = Array.from({ length: 4 }, () => createFolder(folder, 100_000))
    for (let i = 0; i < 1_000; i++) {
      const time = new Date(1_800_000_000_000 + i).toISOString()
      all[i % 4]?.(nameOf({ time, id: `req_${i}` }), text)
    }
    const size = filesOf(folder).reduce((sum, file) => sum + statSync(file).size, 0)
    expect(size).toBeGreaterThan(50_000)
    expect(size).toBeLessThan(135_000)
  })

  test('shortens long bodies', async () => {
    const { cassettes } = await recorded(configFor('messages'), requests, {
      hooks,
      options: { fileLimitBytes: 1_000 },
    })
    expect(cassettes[0]?.response?.body.leftOut).toBeGreaterThan(100)
  })

  test('leaves exchanges out while writing does not keep up, and says how many', async () => {
    const folder = freshFolder()
    const warnings: object[] = []
    const logger = { warn: (details: object) => void warnings.push(details) }
    const recorder = createRecorder(folder, { queueLimitBytes: 20_000, logger })
    const gateway = fetchGateway(configFor('messages'), {
      logger: false,
      ...hooks,
      ...recorder.hooks,
    })
    // All begin before one is written.
    for (let i = 0; i < 30; i++)
      await (await gateway('http://gateway.test/v1/messages', requests[0]?.init)).text()
    await recorder.flush()
    const { length: written } = filesOf(folder)
    expect(written).toBeGreaterThan(0)
    const leftOut = warnings.map(details => (details as { exchanges: number }).exchanges)
    expect(leftOut[0]).toBe(1)
    expect(written + leftOut.reduce((sum, count) => sum + count, 0)).toBe(30)
    // There is room again.
    await (await gateway('http://gateway.test/v1/messages', requests[0]?.init)).text()
    await recorder.flush()
    expect(filesOf(folder)).toHaveLength(written + 1)
  })

  test('that cannot be written is told once, and no answer waits for it', async () => {
    const file = join(freshFolder(), 'file')
    writeFileSync(file, '')
    chmodSync(file, 0o400)
    const warnings: string[] = []
    const logger = { warn: (_: object, message: string) => void warnings.push(message) }
    const recorder = createRecorder(join(file, 'folder'), { logger })
    const gateway = fetchGateway(configFor('messages'), {
      logger: false,
      ...hooks,
      ...recorder.hooks,
    })
    for (let i = 0; i < 3; i++) {
      const response = await gateway('http://gateway.test/v1/messages', requests[0]?.init)
      expect(response.status).toBe(200)
    }
    await recorder.flush()
    expect(warnings).toEqual(['cassettes cannot be written'])
  })
})
