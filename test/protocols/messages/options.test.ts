import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../../src/index.ts'

const ask = (more: object = {}, ...messages: object[]) => ({ model: 'claude-sonnet-5', messages: [{ role: 'user', content: 'hi' }, ...messages], ...more })
const thought = { role: 'assistant', content: 'so', reasoning_content: 'because' }

describe('what an option or a rule of this wire changes is told', () => {
  test.each<[string, object, object, string]>([
    ['JSON asked for in words', ask({ response_format: { type: 'json_object' } }), { amJsonMode: 'instruct' }, 'output.json-instructed'],
    ['a cache mark that nobody set', ask(), { amAutoCache: true }, 'cache.auto'],
    ['the fast tier as speed', ask({ service_tier: 'fast' }), { fastIsSpeed: true }, 'tier.fast-as-speed'],
    ['thoughts without a signature as text', ask({}, thought, { role: 'user', content: 'go on' }), { amUnsigned: 'text' }, 'reasoning.as-text'],
    ['the name of a participant', { model: 'm', messages: [{ role: 'user', name: 'ann', content: 'hi' }] }, {}, 'message.name'],
    ['a choice among no tools', ask({ tool_choice: 'required' }), {}, 'tool_choice.without-tools'],
  ])('%s', (_, body, options, code) => {
    const { notes } = translateRequest(body, { from: 'chat-completions', to: 'messages', ...options })
    expect(notes.map(note => note.code)).toContain(code)
  })
})
