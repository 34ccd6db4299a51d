import { spawn } from 'node:child_process'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, test, vi } from 'vitest'
import { explodeResponse } from '../../src/index.ts'
import { relay } from './stream.ts'

const reply = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi!' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 3 },
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const address = server.address()
  await new Promise(resolve => server.close(resolve))
  return typeof address === 'object' && address ? address.port : 0
}

describe('the README’s examples', () => {
  test('translate.ts prints what it says', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    await import('./translate.ts')
    const printed = log.mock.calls.map(args => args.map(arg => (typeof arg === 'string' ? arg : JSON.stringify(arg))).join(' '))
    log.mockRestore()
    expect(printed[0]).toContain('"max_tokens":32000')
    expect(printed.some(line => line.startsWith('dropped /seed'))).toBe(true)
    expect(printed.some(line => line.startsWith('synthesized /max_tokens'))).toBe(true)
    expect(printed.at(-1)).toContain('"content":"Hi!"')
  })

  test('stream.ts relays a stream', async () => {
    let out = ''
    async function* upstream() {
      yield new TextEncoder().encode(explodeResponse(reply, { protocol: 'messages' }))
    }
    await relay(upstream(), text => {
      out += text
    })
    expect(out).toContain('"content":"Hi!"')
    expect(out.trimEnd().endsWith('data: [DONE]')).toBe(true)
  })

  test('express.ts serves', async () => {
    const port = await freePort()
    const child = spawn(process.execPath, ['--import', 'tsx', fileURLToPath(new URL('./express.ts', import.meta.url))], {
      env: { ...process.env, PORT: String(port), ANTHROPIC_API_KEY: 'unused' },
      stdio: 'ignore',
    })
    try {
      const answer = await vi.waitFor(
        async () =>
          fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello there' }] }),
          }),
        { timeout: 15_000, interval: 200 },
      )
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: expect.stringContaining('Hello there') }, finish_reason: 'stop' }] })
    } finally {
      child.kill()
    }
  })
})
