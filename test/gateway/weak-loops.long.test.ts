import { describe, expect, test } from 'vitest'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { protocols } from '../../src/protocols/index.ts'
import type { Transport } from '../../src/transports/transport.ts'
import { renderings } from '../bridge/rendered.ts'
import { type Agent, hold, next } from '../support/matrix/agents.ts'
import { likeAgents } from '../support/matrix/likeness.ts'
import { textFor } from '../support/matrix/play.ts'
import { recordedAgents } from '../support/matrix/recorded.ts'

/**
 * Loops of recorded programs, where there are recordings, and of some in their likeness. The server
 * knows no tools, no pictures and no formats, and its model writes calls in one of the known forms.
 */

const agents = [...recordedAgents(), ...likeAgents].filter(
  ({ protocol }) => protocol !== 'converse',
)

type Json = Record<string, unknown>
type Message = { role: string; content?: unknown; tool_calls?: unknown }

const unknown = ['tools', 'tool_choice', 'parallel_tool_calls', 'response_format', 'functions']

/** Why the server refuses a request. Undefined: it does not. */
function refusal(body: Json): string | undefined {
  const field = unknown.find(name => body[name] !== undefined)
  if (field) return `unknown field ${field}`
  for (const { role, content, tool_calls: calls } of body['messages'] as Message[]) {
    if (role === 'tool' || calls !== undefined) return `no tools: ${role}`
    if (Array.isArray(content) && content.some(part => (part as Json)['type'] !== 'text'))
      return 'content other than text'
  }
  return undefined
}

const done = 'It has three lines.'

/** What the model writes: a call in its first two turns, as the instructions describe tools. */
function said(body: Json, turn: number, render: (calls: never) => string): string {
  if (turn > 2) return done
  const told = JSON.stringify(body['messages'])
  const [, name = ''] = /<tools>\\n\{\\"name\\":\s*\\"([^"\\]+)\\"/.exec(told) ?? []
  return render([{ name, arguments: { path: `file ${turn}` } }] as never)
}

function weak(render: (calls: never) => string, refused: string[]): Transport {
  let turn = 0
  return {
    async send({ body }) {
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      const json = JSON.parse(text) as Json
      const why = refusal(json)
      if (why) {
        refused.push(why)
        return answered(400, 'application/json', JSON.stringify({ error: { message: why } }))
      }
      turn++
      const content = said(json, turn, render)
      const head = { id: `c${turn}`, created: 1, model: 'm' }
      const usage = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12 }
      if (json['stream'] !== true) {
        const message = { role: 'assistant', content }
        const choices = [{ index: 0, message, finish_reason: 'stop' }]
        const whole = { ...head, object: 'chat.completion', choices, usage }
        return answered(200, 'application/json', JSON.stringify(whole))
      }
      const chunk = (delta: object, finish: string | null = null) =>
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
      const frames = [
        chunk({ role: 'assistant', content: '' }),
        ...(content.match(/[\s\S]{1,3}/gu) ?? []).map(part => chunk({ content: part })),
        chunk({}, 'stop'),
        `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
        'data: [DONE]\n\n',
      ]
      return answered(200, 'text/event-stream', frames.join(''))
    },
  }
}

const answered = (status: number, type: string, text: string) => ({
  status,
  headers: { 'content-type': type },
  body: (async function* () {
    yield new TextEncoder().encode(text)
  })(),
})

/** What went wrong. Empty: the loop has reached its end. */
async function play(agent: Agent, render: (calls: never) => string): Promise<string[]> {
  const refused: string[] = []
  const gateway = fetchGateway(
    {
      auth: 'none',
      channels: [{ name: 'weak', protocols: ['chat-completions'], baseUrl: 'http://weak.test' }],
      models: [
        {
          id: 'm',
          channels: [{ name: 'weak' }],
          capabilities: {
            input: ['text'],
            tools: 'prompt',
            structuredOutput: 'prompt',
            leaksToolCalls: true,
          },
        },
      ],
      defaults: { retries: 0 },
    },
    { transport: weak(render, refused), logger: false },
  )
  const target = protocols[agent.protocol].address.target({
    operation: 'generate',
    model: 'm',
    stream: agent.stream,
  })
  const isInPath = target?.includes('/m:') ?? false
  let body = (isInPath ? agent.body : { ...agent.body, model: 'm' }) as never
  try {
    for (let turn = 1; turn <= 3; turn++) {
      const response = await gateway(`http://gateway.test${target}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': agent.agent },
        body: JSON.stringify(body),
      })
      const text = await textFor(agent.protocol, response)
      if (response.status !== 200)
        return [`turn ${turn}: ${response.status} ${[...refused, text].join(' ').slice(0, 300)}`]
      const held = await hold(agent, text)
      if (turn === 3) return held.text.includes(done) ? [] : [`no end but ${held.text}`]
      if (held.calls.length !== 1) return [`turn ${turn}: ${held.calls.length} calls, ${held.text}`]
      body = next(agent, body, held) as never
    }
  } finally {
    await gateway.close(0)
  }
  return []
}

describe.each(Object.entries(renderings))('a model that writes calls as %s', (_, { render }) => {
  test('every program works through three turns', async () => {
    expect(agents.length).toBeGreaterThan(3)
    const faults: string[] = []
    for (const agent of agents)
      for (const fault of await play(agent, render as never)) faults.push(`${agent.name}: ${fault}`)
    expect(faults).toEqual([])
  })
})
