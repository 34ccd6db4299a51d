import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isObject } from '../../src/kit/json/json.ts'
import { wireglotIn } from '../cli/support.ts'
import { type Script, wireOf } from '../support/upstreams/index.ts'
import { homeIn, install } from './install.ts'

const prompt = 'Make the file done.txt'

/** By client: the arguments for one prompt whose tools ask nobody. */
const asking = {
  'claude-code': ['-p', '--allowedTools', 'Bash', '--', prompt],
  codex: ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', prompt],
  opencode: ['run', prompt],
} as const
type Client = keyof typeof asking
const names = Object.keys(asking) as Client[]

let folder = ''
let failure: string | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-resumed-'))
  failure = await install(folder, names)
}, 180_000)

afterAll(() => rm(folder, { recursive: true, force: true }))

const before = 'I am going to make the file now, as you have asked me to.'
const after = 'The file is there: everything is done, and nothing is left to do.'
const command = 'echo done >> done.txt'

type Asked = {
  stream?: boolean
  tools?: { function: { name: string; parameters: { properties?: Record<string, unknown> } } }[]
  messages: { role: string; content: unknown }[]
}

/** The shell of the client, with a call as it wants it. */
function callOf({ tools = [] }: Asked): Script['calls'] {
  for (const { function: tool } of tools) {
    if (!/^(?:bash|shell|shell_command|exec_command)$/i.test(tool.name)) continue
    const { properties = {} } = tool.parameters
    const field = ['command', 'cmd'].find(name => Object.hasOwn(properties, name))
    if (!field) continue
    const schema = properties[field]
    const isList = isObject(schema) && schema['type'] === 'array'
    const given: Record<string, unknown> = { [field]: isList ? ['sh', '-c', command] : command }
    if (Object.hasOwn(properties, 'description')) given['description'] = 'Makes the file'
    return [{ id: 'call_1', name: tool.name, args: JSON.stringify(given) }]
  }
  return undefined
}

/**
 * A model that calls the shell, and says something before and after. Each second stream breaks in
 * its middle; the one after it begins anew.
 */
async function breakingModel() {
  const wire = wireOf('chat-completions')
  const seen = { streams: 0, broken: 0, continued: 0 }
  const server: Server = createServer(async (request, response) => {
    const asked = JSON.parse(await bodyOf(request)) as Asked
    const hasWorked = asked.messages.some(({ role }) => role === 'tool')
    const calls = hasWorked ? undefined : callOf(asked)
    const script: Script = { text: calls ? before : after, ending: 'stop', ...(calls && { calls }) }
    if (!asked.stream) {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(wire.response(script, asked)))
      return
    }
    if (/The connection broke in the middle/.test(JSON.stringify(asked.messages.at(-1))))
      seen.continued++
    const breaks = seen.streams++ % 2 === 1
    const frames = wire.stream(script, asked)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    if (!breaks) {
      response.end(frames.join(''))
      return
    }
    seen.broken++
    response.write(frames.slice(0, Math.ceil(frames.length / 2)).join(''), () =>
      response.socket?.resetAndDestroy(),
    )
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    seen,
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections()
      return new Promise(resolve => server.close(resolve))
    },
  }
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}

test.for(names)(
  '%s finishes its work though each second stream breaks',
  async (client, { skip }) => {
    skip(failure !== undefined, `the clients cannot be installed: ${failure}`)
    const place = await homeIn(folder)
    const { seen, url, close } = await breakingModel()
    const config = {
      channels: [
        { name: 'up', protocols: ['chat-completions'], baseUrl: url, apiKey: 'key-of-the-test' },
      ],
      models: [{ id: 'agent', resume: true, channels: [{ name: 'up' }] }],
      defaults: { retries: 0 },
    }
    await writeFile(join(place.folder, 'wireglot.config.json'), JSON.stringify(config))
    try {
      // Two conversations: whatever was first in one is second in the other.
      for (const nth of [1, 2]) {
        const { code, out, err } = await wireglotIn(place, ['run', client, '--', ...asking[client]])
        expect(out, err).toContain(after)
        expect(out.split(after).length, 'nothing is said twice').toBe(2)
        expect(code).toBe(0)
        expect(existsSync(join(place.folder, 'done.txt')), `${nth}: the tool has run`).toBe(true)
      }
      expect(seen.broken).toBeGreaterThan(0)
      expect(seen.streams).toBeGreaterThan(3)
      expect(seen.continued).toBe(seen.broken)
    } finally {
      await close()
    }
  },
)
