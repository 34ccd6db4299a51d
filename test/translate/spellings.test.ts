import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/index.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { valueAt } from '../support/cross.ts'

const received = (over: object) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'x' }],
  ...over,
})

describe('a note names a field by the spelling that the body has', () => {
  test.each<[path: string, from: ProtocolName, to: ProtocolName, body: object]>([
    ['/max_tokens', 'chat-completions', 'responses', received({ max_tokens: 3 })],
    [
      '/max_completion_tokens',
      'chat-completions',
      'responses',
      received({ max_completion_tokens: 3, max_tokens: 5 }),
    ],
    ['/function_call', 'chat-completions', 'messages', received({ function_call: { name: 'f' } })],
    ['/thinking_budget', 'chat-completions', 'responses', received({ thinking_budget: 2000 })],
    [
      '/reasoning/effort',
      'chat-completions',
      'messages',
      received({ model: 'claude-sonnet-4-5', reasoning: { effort: 'high' }, max_tokens: 9000 }),
    ],
    [
      '/reasoning/generate_summary',
      'responses',
      'chat-completions',
      { model: 'm', input: 'x', reasoning: { generate_summary: 'auto' } },
    ],
  ])('%s of %s for %s', (path, from, to, body) => {
    const { notes } = translateRequest(body, { from, to })
    expect(notes.map(note => note.path)).toContain(path)
    for (const note of notes)
      if (note.kind !== 'synthesized') expect(valueAt(body, note.path), note.path).toBeDefined()
  })
})
