import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { gateway } from '../../src/hosts/connect.ts'
import { type Script, wireOf } from '../support/upstreams/index.ts'
import { homeIn, install, paste } from './install.ts'

const run = promisify(execFile)
const prompt = 'Search the web: how long are wires?'

/** By client: how it is started, and its arguments for one prompt with a search. */
const asking = {
  'claude-code': ['environment', ['-p', '--allowedTools', 'WebSearch', '--', prompt]],
  codex: ['settings', ['exec', '--skip-git-repo-check', '-c', 'web_search="live"', prompt]],
} as const
type Client = keyof typeof asking
const names = Object.keys(asking) as Client[]

let folder = ''
let failure: string | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-searching-'))
  failure = await install(folder, names)
}, 180_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const page = {
  url: 'https://example.org/wires',
  title: 'About wires',
  text: 'A wire is seven metres long.',
}
const answer = 'Wires are seven metres long: the search has found it.'

async function listen(handler: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server: Server = createServer(handler)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

type Asked = {
  stream?: boolean
  tools?: { function?: { name: string } }[]
  messages: { role: string; content: unknown }[]
}

/**
 * A model of chat-completions, which has functions alone: it calls the one that searches, and
 * answers when it has a result.
 */
function modelThatSearches(asked: Asked[]): RequestListener {
  const wire = wireOf('chat-completions')
  return async (request, response) => {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk
    const body = JSON.parse(text) as Asked
    asked.push(body)
    const name = body.tools
      ?.map(tool => tool.function?.name ?? '')
      .find(one => /^(?:web_search|WebSearch)$/.test(one))
    const calls: Script['calls'] =
      name === undefined || body.messages.some(({ role }) => role === 'tool')
        ? undefined
        : [{ id: 'call_1', name, args: '{"query":"length of wires"}' }]
    const script: Script = { ending: 'stop', ...(calls ? { calls } : { text: answer }) }
    response.writeHead(200, {
      'content-type': body.stream ? 'text/event-stream' : 'application/json',
    })
    response.end(
      body.stream
        ? wire.stream(script, body).join('')
        : JSON.stringify(wire.response(script, body)),
    )
  }
}

test.for(names)('%s searches the web on a model without a search', async (client, { skip }) => {
  skip(failure !== undefined, `the clients cannot be installed: ${failure}`)
  const place = await homeIn(folder)
  const asked: Asked[] = []
  const queries: string[] = []
  const up = await listen(modelThatSearches(asked))
  const handler = gateway(
    {
      auth: 'none',
      channels: [
        { name: 'up', protocols: ['chat-completions'], baseUrl: `${up.url}/v1`, apiKey: 'k' },
      ],
      models: [{ id: 'demo', channels: [{ name: 'up' }] }],
    },
    {
      logger: false,
      serverTools: {
        web_search({ query }) {
          queries.push(query)
          return { results: [page] }
        },
      },
    },
  )
  const served = await listen(handler)
  try {
    const [way, words] = asking[client]
    const script = await paste(client, way, place, { base: served.url, words })
    const { stdout } = await run('bash', ['-c', script], {
      cwd: place.folder,
      env: place.env,
      timeout: 90_000,
      maxBuffer: 1e8,
    })
    expect(stdout).toContain(answer)
    expect(queries).toEqual(['length of wires'])
    // The last answer knows what was found, also where the search was a request of its own.
    expect(JSON.stringify(asked.at(-1)?.messages)).toContain(page.url)
    expect(JSON.stringify(asked.map(({ messages }) => messages))).toContain(page.text)
  } finally {
    await served.close()
    await handler.close(0)
    await up.close()
  }
})
