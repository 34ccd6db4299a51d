import { expect, test } from 'vitest'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { countsOf, drive, tableOf } from './drive.ts'

/** What is used of the package; it is loaded by name, so that a checkout without it can skip. */
type Asked = { messages: { role: string }[] }
type Mock = {
  url: string
  on(match: { predicate(asked: Asked): boolean }, respond: (asked: Asked) => object): void
  start(): Promise<unknown>
  stop(): Promise<unknown>
}

const name = '@copilotkit/aimock'
const found = (await import(name).catch(() => undefined)) as
  | { LLMock: new (options: object) => Mock }
  | undefined

function respond({ messages }: Asked): object {
  const said = JSON.stringify(messages)
  if (messages.at(-1)?.role === 'tool') return { content: 'Rain in Paris, sun in Rome.' }
  if (said.includes('Call the tool'))
    return { toolCalls: [{ name: 'get_weather', arguments: '{"city":"Paris"}' }] }
  return { content: said.includes('as JSON') ? '{"city":"Paris"}' : 'Hello!' }
}

test
  .skipIf(!found)
  .each<ProtocolName>(['chat-completions', 'responses', 'messages', 'generate-content'])(
  `clients of all protocols work with ${name} over %s, or the package is not installed`,
  async protocol => {
    const { LLMock } = found ?? expect.fail('not installed')
    const mock = new LLMock({ port: 0 })
    mock.on({ predicate: () => true }, respond)
    await mock.start()
    try {
      const rows = await drive({ base: mock.url, speaks: [protocol], model: 'gpt-4o', key: 'mock' })
      expect(rows).toHaveLength(28)
      expect(countsOf(rows).FAIL, tableOf(rows)).toBe(0)
    } finally {
      await mock.stop()
    }
  },
)
