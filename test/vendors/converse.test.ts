import { describe, expect, test } from 'vitest'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { after } from '../gateway/support.ts'
import { clientOf } from '../support/clients/index.ts'
import { likeAgents } from '../support/matrix/likeness.ts'
import { play, type Seen, simulated, textFor, ways } from '../support/matrix/play.ts'
import { sampled } from '../support/sampled.ts'
import {
  errorFrame,
  eventFrame,
  exceptionFrame,
  readFrames,
} from '../support/vendors/base/frames.ts'
import type { Endpoint, Json } from '../support/vendors/base/turn.ts'
import { bedrock } from '../support/vendors/bedrock.ts'
import { vertex } from '../support/vendors/vertex.ts'

const key = 'key-0123456789'
const claude = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const nova = 'us.amazon.nova-pro-v1:0'

// The service refuses the ids of calls that it has itself given to models of Mistral. Requests of
// its own clients pass unchanged.
const isRefusedThere = (model: string, protocol: ProtocolName) =>
  model.startsWith('mistral.') && protocol === 'converse'

const bedrockWays = ways.filter(({ vendor }) => vendor === 'bedrock')

describe('agents work through three turns', () => {
  test.each(sampled(bedrockWays, 7).map(way => ({ ...way, name: way.model })))(
    'with $name of Bedrock by the API that serves it',
    async way => {
      const faults: string[] = []
      for (const agent of likeAgents.filter(({ protocol }) => !isRefusedThere(way.model, protocol)))
        for (const fault of await play(agent, way)) faults.push(`${agent.name}: ${fault}`)
      expect(faults).toEqual([])
    },
  )

  test.each(sampled(bedrockWays, 7).map(way => ({ ...way, name: way.model })))(
    'with $name of Bedrock by Converse',
    async way => {
      const faults: string[] = []
      for (const agent of likeAgents.filter(({ protocol }) => !isRefusedThere(way.model, protocol)))
        for (const fault of await play(agent, { ...way, only: 'converse' }))
          faults.push(`${agent.name}: ${fault}`)
      expect(faults).toEqual([])
    },
  )
})

const claudes = ['anthropic.claude-opus-5', 'anthropic.claude-opus-4-7', claude]

test.each(
  sampled([
    'zai.glm-4.7',
    'minimax.minimax-m2',
    'google.gemma-3-27b-it',
    'deepseek.v3.2',
    'cohere.command-r-plus-v1:0',
    'ai21.jamba-1-5-large-v1:0',
  ]),
)('agents work through three turns with %s of Bedrock by Converse', async model => {
  const faults: string[] = []
  for (const agent of likeAgents)
    for (const fault of await play(agent, { vendor: 'bedrock', model, only: 'converse' }))
      faults.push(`${agent.name}: ${fault}`)
  expect(faults).toEqual([])
})

test.each(sampled(claudes))(
  'agents work through three turns with %s of Bedrock by InvokeModel',
  async model => {
    const faults: string[] = []
    for (const agent of likeAgents.filter(({ protocol }) => protocol !== 'converse'))
      for (const fault of await play(agent, { vendor: 'bedrock', model, api: 'invoke-model' }))
        faults.push(`${agent.name}: ${fault}`)
    expect(faults).toEqual([])
  },
)

/** The newer models take none. */
describe.each([{}, { api: 'invoke-model' as const }, { only: 'converse' as const }])(
  'a schema for the response, with %j',
  way => {
    const schema = {
      type: 'object',
      properties: { found: { type: 'boolean' } },
      required: ['found'],
      additionalProperties: false,
    }
    const formats: Partial<Record<ProtocolName, object>> = {
      messages: { output_config: { format: { type: 'json_schema', schema } } },
      responses: { text: { format: { type: 'json_schema', name: 'found', strict: true, schema } } },
      'chat-completions': {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'found', strict: true, schema },
        },
      },
      'generate-content': {
        generationConfig: { responseMimeType: 'application/json', responseJsonSchema: schema },
      },
    }
    test.each(claudes.slice(0, 2))('does not make %s refuse the request', async model => {
      for (const agent of likeAgents) {
        const format = formats[agent.protocol]
        if (format)
          expect(
            await play(
              { ...agent, body: { ...agent.body, ...format } },
              { vendor: 'bedrock', model, ...way },
            ),
            agent.name,
          ).toEqual([])
      }
    })
  },
)

const quiet = { logger: { info() {}, warn() {}, error() {} } }

/** A gateway whose upstream is the simulator; `change`: what goes wrong with the frames. */
function gatewayFor({
  change,
  apiKey = key,
  endpoints = bedrock.endpoints,
}: {
  change?: Parameters<typeof simulated>[2]
  apiKey?: string
  endpoints?: readonly Endpoint[]
} = {}) {
  const seen: Seen[] = []
  const gateway = fetchGateway(
    {
      auth: 'none',
      channels: [{ vendor: 'bedrock', region: 'us-east-1', protocols: ['converse'], apiKey }],
      defaults: { retries: 0 },
    },
    { ...quiet, transport: simulated(endpoints, seen, change) },
  )
  after(() => gateway.close(0))
  return { gateway, seen }
}

async function ask(
  gateway: ReturnType<typeof fetchGateway>,
  client: ProtocolName,
  { model = nova, stream = false } = {},
): Promise<Response> {
  const { modelId: _, ...body } = clientOf(client).open({ model, ask: 'Hello' })
  const path = protocols[client].address.target({ operation: 'generate', model, stream }) ?? ''
  const json = JSON.stringify(
    'model' in body
      ? { ...body, ...(client === 'messages' && { max_tokens: 100 }), ...(stream && { stream }) }
      : body,
  )
  return gateway(`http://gateway.test${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: json,
  })
}

describe.each(protocolNames)('a client of %s', client => {
  test.each([nova, claude, 'us.deepseek.r1-v1:0', 'cohere.command-r-v1:0'])(
    'gets a text of %s, whole and streamed',
    async model => {
      for (const stream of [false, true]) {
        const { gateway } = gatewayFor()
        const response = await ask(gateway, client, { model, stream })
        const text = await textFor(client, response)
        const { readStream, readResponse } = clientOf(client)
        const received = stream ? await readStream(text) : await readResponse(JSON.parse(text))
        expect(received.text).toBe('All is known now.')
        // The client of chat-completions keeps the last chunk only, and has not requested usage.
        if (!stream || client !== 'chat-completions')
          expect(received.counts).toMatchObject({ input: 1200, output: 90 })
      }
    },
  )

  test.each<[status: number, refusal: { type: string; message: string }, kind: string]>([
    [
      400,
      {
        type: 'ValidationException',
        message: 'The text field in the ContentBlock object is blank.',
      },
      'invalid_request',
    ],
    [
      400,
      { type: 'ValidationException', message: 'Input is too long for requested model.' },
      'context_length',
    ],
    [
      403,
      {
        type: 'AccessDeniedException',
        message: "You don't have access to the model with the specified model ID.",
      },
      'permission',
    ],
    [
      404,
      {
        type: 'ResourceNotFoundException',
        message: 'This model version has reached the end of its life.',
      },
      'not_found',
    ],
    [408, { type: 'ModelTimeoutException', message: 'The model timed out.' }, 'timeout'],
    [
      424,
      {
        type: 'ModelErrorException',
        message: 'The system encountered an unexpected error during processing.',
      },
      'internal',
    ],
    [
      429,
      { type: 'ThrottlingException', message: 'Too many tokens, please wait before trying again.' },
      'rate_limit',
    ],
    [500, { type: 'InternalServerException', message: 'The server failed.' }, 'internal'],
    [503, { type: 'ServiceUnavailableException', message: 'The service is busy.' }, 'unavailable'],
  ])('gets a refusal with status %i as an error: %j', async (status, refusal, kind) => {
    const { gateway } = gatewayFor({
      endpoints: bedrock.endpoints.map(
        (endpoint): Endpoint => ({ ...endpoint, refuse: () => ({ status, ...refusal }) }),
      ),
    })
    const response = await ask(gateway, client, { stream: true })
    const body: unknown = await response.json()
    const { value } = protocols[client].decodeError({
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
    })
    expect(JSON.stringify(body)).toContain(JSON.stringify(refusal.message).slice(1, -1))
    const upstream = protocols.converse.decodeError({
      status,
      headers: { 'x-amzn-errortype': refusal.type },
      body: { message: refusal.message },
    }).value
    expect(upstream.kind).toBe(kind)
    // Each protocol has the kind, or the nearest that it has.
    const { wire } = protocols[client].encodeError(upstream)
    expect(value.kind).toBe(protocols[client].decodeError(wire).value.kind)
  })

  const isDelta = (frame: string | Uint8Array) =>
    readFrames(frame as Uint8Array)[0]?.headers[':event-type'] === 'contentBlockDelta'
  test.each<
    [string, (frames: (string | Uint8Array)[], deltas: number) => (string | Uint8Array)[], RegExp?]
  >([
    ...[
      'internalServerException',
      'modelStreamErrorException',
      'validationException',
      'throttlingException',
      'serviceUnavailableException',
    ].map(
      (
        name,
      ): [
        string,
        (frames: (string | Uint8Array)[], deltas: number) => (string | Uint8Array)[],
        RegExp,
      ] => [
        `an exception ${name}`,
        (frames, deltas) => [...frames.slice(0, deltas), exceptionFrame(name, 'Too hot')],
        /Too hot/,
      ],
    ),
    [
      'an exception without a known name',
      (frames, deltas) => [
        ...frames.slice(0, deltas),
        exceptionFrame('overheatedException', 'Too hot'),
      ],
      /Too hot/,
    ],
    [
      'an error',
      (frames, deltas) => [...frames.slice(0, deltas), errorFrame('InternalFailure', 'Too hot')],
      /Too hot/,
    ],
    [
      'an exception before the first event',
      () => [exceptionFrame('throttlingException', 'Too hot')],
      /Too hot/,
    ],
    ['an end between frames', (frames, deltas) => frames.slice(0, deltas)],
    [
      'an end within a frame',
      (frames, deltas) => [
        ...frames.slice(0, deltas),
        (frames[deltas] as Uint8Array).subarray(0, 40),
      ],
    ],
    [
      'a damaged frame',
      (frames, deltas) =>
        frames.map((frame, nth) =>
          nth === deltas
            ? (frame as Uint8Array).map((byte, at) => (at === 60 ? byte ^ 1 : byte))
            : frame,
        ),
    ],
  ])('takes a stream with %s for an error', async (_, change, message = /./) => {
    const { gateway, seen } = gatewayFor({
      change: frames => change(frames, frames.findIndex(isDelta) + 1),
    })
    const response = await ask(gateway, client, { stream: true })
    const read = async () => {
      const text = await textFor(client, response).catch((error: unknown) =>
        Promise.reject(new Error(`broken: ${String(error)}`)),
      )
      if (response.status !== 200) throw new Error(text)
      return clientOf(client).readStream(text)
    }
    await expect(read()).rejects.toThrow(message)
    expect(seen).toHaveLength(1)
  })

  test('reads events that are unknown, and blocks that are opened by an empty start', async () => {
    const change = (frames: (string | Uint8Array)[]) =>
      frames.flatMap((frame, nth) =>
        nth === 1
          ? [
              eventFrame('ping', {}),
              eventFrame('contentBlockStart', { contentBlockIndex: 0, start: {} }),
              frame,
            ]
          : [frame],
      )
    const { gateway } = gatewayFor({ change })
    const text = await textFor(client, await ask(gateway, client, { stream: true }))
    // The official client of the service skips unknown events, too.
    expect((await clientOf(client).readStream(text)).text).toBe('All is known now.')
  })

  test('gets an error when the key of the channel is wrong', async () => {
    const { gateway } = gatewayFor({ apiKey: 'another-key-0123' })
    const response = await ask(gateway, client)
    expect(response.status).toBeGreaterThanOrEqual(400)
    expect(await response.text()).not.toContain('another-key-0123')
  })
})

describe('the simulator of Converse refuses', () => {
  const [converse] = bedrock.endpoints.filter(({ protocol }) => protocol === 'converse')
  const user = (...content: object[]) => ({ role: 'user', content })
  const assistant = (...content: object[]) => ({ role: 'assistant', content })
  const tool = { toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }
  const call = { toolUse: { toolUseId: 'tooluse_1', name: 'read', input: {} } }
  const result = { toolResult: { toolUseId: 'tooluse_1', content: [{ text: 'yes' }] } }
  const text = { text: 'Hi' }
  const looped = {
    messages: [user(text), assistant(call), user(result, text)],
    toolConfig: { tools: [tool] },
  }
  const point = { cachePoint: { type: 'default' } }

  test.each<[string, string, Json, RegExp]>([
    ['an unknown model', 'acme.model-1', { messages: [user(text)] }, /identifier is invalid/],
    ['a model in the body', nova, { model: nova, messages: [user(text)] }, /model/],
    [
      'two messages of one role',
      nova,
      { messages: [user(text), user(text)] },
      /two messages of one role/,
    ],
    [
      'a conversation that begins with the assistant',
      nova,
      { messages: [assistant(text), user(text)] },
      /start with a user message/,
    ],
    ['an empty message', nova, { messages: [{ role: 'user', content: [] }] }, /content/],
    ['blank text', nova, { messages: [user({ text: ' \n' })] }, /text/],
    [
      'a block with two members',
      nova,
      { messages: [user({ text: 'Hi', type: 'text' })] },
      /more than one member/,
    ],
    ['tools in the history alone', nova, { messages: looped.messages }, /toolConfig/],
    [
      'a call without a result',
      nova,
      { ...looped, messages: [user(text), assistant(call), user(text)] },
      /no result/,
    ],
    ['a result without a call', nova, { ...looped, messages: [user(result)] }, /no call/],
    ['results next to text', 'us.meta.llama4-maverick-17b-instruct-v1:0', looped, /one turn/],
    [
      'a forced call',
      'us.meta.llama4-maverick-17b-instruct-v1:0',
      { messages: [user(text)], toolConfig: { tools: [tool], toolChoice: { any: {} } } },
      /toolChoice\.any/,
    ],
    [
      'fields of another model',
      nova,
      { messages: [user(text)], additionalModelRequestFields: { thinking: { type: 'adaptive' } } },
      /extraneous key \[thinking\]/,
    ],
    [
      'an unknown beta',
      claude,
      {
        messages: [user(text)],
        additionalModelRequestFields: { anthropic_beta: ['oauth-2025-04-20'] },
      },
      /invalid beta flag/,
    ],
    [
      'a cache point behind tools',
      nova,
      { messages: [user(text)], toolConfig: { tools: [tool, point] } },
      /prompt caching/,
    ],
    ['a cache point behind nothing', claude, { messages: [user(point, text)] }, /marks nothing/],
    [
      'a foreign signature',
      claude,
      {
        messages: [
          user(text),
          assistant(
            { reasoningContent: { reasoningText: { text: 'So.', signature: 'Zm9yZWlnbg==' } } },
            text,
          ),
          user(text),
        ],
      },
      /Invalid `signature`/,
    ],
    [
      'reasoning',
      nova,
      {
        messages: [
          user(text),
          assistant({ reasoningContent: { reasoningText: { text: 'So.' } } }, text),
          user(text),
        ],
      },
      /reasoningContent/,
    ],
    [
      'ids of calls that are not of nine letters',
      'mistral.mistral-large-3-675b-instruct',
      { ...looped, messages: [user(text), assistant(call), user(result)] },
      /length of 9/,
    ],
    [
      'a document with a dot in its name',
      nova,
      {
        messages: [
          user(text, { document: { format: 'txt', name: 'a.txt', source: { text: 'x' } } }),
        ],
      },
      /name/,
    ],
    [
      'strict tools',
      'us.anthropic.claude-opus-5',
      {
        messages: [user(text)],
        toolConfig: { tools: [{ toolSpec: { ...tool.toolSpec, strict: true } }] },
      },
      /strict/,
    ],
    [
      'a temperature above 1',
      nova,
      { messages: [user(text)], inferenceConfig: { temperature: 1.5 } },
      /temperature/,
    ],
    [
      'more than four stop sequences',
      nova,
      { messages: [user(text)], inferenceConfig: { stopSequences: ['a', 'b', 'c', 'd', 'e'] } },
      /maximum item count/,
    ],
  ])('%s', (_, model, body, message) => {
    expect(converse?.refuse(body, model)?.message ?? '').toMatch(message)
  })

  test('a model in the path that is more than one segment', () => {
    const base = 'https://bedrock-runtime.us-east-1.amazonaws.com'
    expect(
      converse?.match(
        new URL(`${base}/model/arn:aws:bedrock:us-east-1:1:inference-profile/${nova}/converse`),
      ),
    ).toBeUndefined()
    expect(
      converse?.match(new URL(`${base}/model/${encodeURIComponent(nova)}/converse-stream`)),
    ).toEqual({ model: nova, stream: true })
  })
})

test('a tool choice that a model refuses is left out, with a note', async () => {
  const model = 'us.meta.llama4-maverick-17b-instruct-v1:0'
  const toolConfig = {
    tools: [{ toolSpec: { name: 'read', inputSchema: { json: { type: 'object' } } } }],
    toolChoice: { any: {} },
  }
  const { gateway, seen } = gatewayFor()
  const body = JSON.stringify({
    messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
    toolConfig,
  })
  const send = () =>
    gateway(`http://gateway.test/model/${encodeURIComponent(model)}/converse`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  const [first, second] = [await send(), await send()]
  expect([first.status, second.status]).toEqual([200, 200])
  expect(first.headers.get('wireglot-notes')).toContain('"path":"/toolConfig/toolChoice/any"')
  expect(
    seen.map(({ body, refusal }) => [
      'toolChoice' in (body['toolConfig'] as object),
      refusal !== undefined,
    ]),
  ).toEqual([
    [true, true],
    [false, false],
    [false, false],
  ])
})

describe('Claude takes no URL of an image', () => {
  const messages = [
    {
      role: 'user',
      content: [{ type: 'image', source: { type: 'url', url: 'https://h.example/a.png' } }],
    },
  ]
  test.each<[string, object, readonly Endpoint[]]>([
    [
      'InvokeModel',
      { vendor: 'bedrock', api: 'invoke-model', region: 'us-east-1' },
      bedrock.endpoints,
    ],
    ['Vertex AI', { vendor: 'vertex', region: 'us-central1', project: 'p' }, vertex.endpoints],
  ])('is refused with %s', async (_, channel, endpoints) => {
    const gateway = fetchGateway(
      { auth: 'none', channels: [{ ...channel, apiKey: key }], defaults: { retries: 0 } },
      { ...quiet, transport: simulated(endpoints, []) },
    )
    after(() => gateway.close(0))
    const body = JSON.stringify({ model: 'claude-opus-5', max_tokens: 100, messages })
    const response = await gateway('http://gateway.test/v1/messages', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      type: 'error',
      error: { type: 'invalid_request_error', message: expect.stringContaining('URL sources') },
    })
  })
})
