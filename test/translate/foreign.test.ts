import { expect, test } from 'vitest'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { refuseForeign } from '../../src/translate/foreign.ts'

/** A wire that differs from chat-completions in little, as many servers have one: its requests bear signs of that. */
const alike = (shared: true | undefined): Protocol => ({
  ...protocols['chat-completions'],
  name: 'alike',
  detect: () => ({ request: [], response: [], event: [], ...(shared && { shared }) }),
})
const known = Object.values(protocols)
const asked = { messages: [{ role: 'user', content: 'hi' }], tools: [{ type: 'function', function: { name: 'look' } }] }

test('a request that bears signs of another protocol alone is refused, with its path', () => {
  expect(() => refuseForeign(asked, protocols.messages, known)).toThrow('`tools` hold a `function`); its path is /v1/chat/completions')
  expect(() => refuseForeign(asked, alike(undefined), known)).toThrow('its path is /v1/chat/completions')
})

test('signs of another protocol say nothing of a shape that both have', () => {
  expect(() => refuseForeign(asked, alike(true), known)).not.toThrow()
})
