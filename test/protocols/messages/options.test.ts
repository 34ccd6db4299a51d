import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../../src/index.ts'
import { messages } from '../../../src/protocols/messages/index.ts'

const ask = (more: object = {}, ...messages: object[]) => ({
  model: 'claude-sonnet-5',
  messages: [{ role: 'user', content: 'hi' }, ...messages],
  ...more,
})

describe('the billing line of a client', () => {
  const line = 'x-anthropic-billing-header: cc_version=1; cch=71fea;'
  const read = (system: unknown, options: object = { billingLine: 'drop' }) => {
    const { value, notes } = messages.decodeRequest(
      { model: 'm', max_tokens: 5, system, messages: [{ role: 'user', content: 'x' }] } as never,
      options,
    )
    const [first] = value.messages
    return {
      texts:
        first?.role === 'system' ? first.parts.map(part => part.type === 'text' && part.text) : [],
      notes: notes.map(({ code, path }) => `${code} ${path}`),
    }
  }

  test.each<[string, unknown, string[], string]>([
    [
      'a block of its own',
      [
        { type: 'text', text: line },
        { type: 'text', text: 'Be terse.' },
      ],
      ['Be terse.'],
      '/system/0',
    ],
    [
      'the first line of a block',
      [{ type: 'text', text: `${line}\n\nBe terse.` }],
      ['Be terse.'],
      '/system/0',
    ],
    ['the first line of a text', `${line}\nBe terse.`, ['Be terse.'], '/system'],
    ['all there is', line, [], '/system'],
    [
      'a later block',
      [
        { type: 'text', text: 'Be terse.' },
        { type: 'text', text: line },
      ],
      ['Be terse.'],
      '/system/1',
    ],
  ])('is left out with a note: %s', (_, system, texts, path) => {
    expect(read(system)).toEqual({ texts, notes: [`system.billing-line ${path}`] })
  })

  test('stays unless requested otherwise, and where another text mentions it', () => {
    expect(read(line, {})).toEqual({ texts: [line], notes: [] })
    expect(read(`Be terse.\n${line}`)).toEqual({ texts: [`Be terse.\n${line}`], notes: [] })
  })
})

describe('changes by an option or a rule of this wire are noted', () => {
  test.each<[string, object, object, string]>([
    [
      'JSON requested in text',
      ask({ response_format: { type: 'json_object' } }),
      { jsonMode: 'instruct' },
      'output.json-instructed',
    ],
    ['a cache mark that was not set', ask(), { autoCache: true }, 'cache.auto'],
    [
      'the name of a participant',
      { model: 'm', messages: [{ role: 'user', name: 'ann', content: 'hi' }] },
      {},
      'message.name',
    ],
    ['a choice among no tools', ask({ tool_choice: 'required' }), {}, 'tool-choice.without-tools'],
  ])('%s', (_, body, options, code) => {
    const { notes } = translateRequest(body, {
      from: 'chat-completions',
      to: 'messages',
      messages: options,
    })
    expect(notes.map(note => note.code)).toContain(code)
  })
})
