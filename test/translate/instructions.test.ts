import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/index.ts'
import { protocols } from '../../src/protocols.ts'
import { translateRequest } from '../support/untyped.ts'

const targets = [
  'chat-completions',
  'messages',
  'generate-content',
] as const satisfies readonly ProtocolName[]

const item = (role: string, text: string) => ({
  type: 'message',
  role,
  content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
})

/**
 * The roles and texts of a written conversation; instructions outside of it come first, as
 * `system`.
 */
function outline(body: unknown): string[] {
  const { system, systemInstruction, messages, contents } = body as Record<string, unknown>
  const textsOf = (value: unknown): string[] => {
    if (typeof value === 'string') return [value]
    if (Array.isArray(value)) return value.flatMap(textsOf)
    const { content, parts, text } = (value ?? {}) as Record<string, unknown>
    return textsOf(content ?? parts ?? text ?? [])
  }
  const outside = [system ?? systemInstruction].flatMap(value =>
    value === undefined ? [] : [`system: ${textsOf(value).join(' ')}`],
  )
  const turns = (messages ?? contents) as { role: string }[]
  return [
    ...outside,
    ...turns.map(turn => `${turn.role.replace('model', 'assistant')}: ${textsOf(turn).join(' ')}`),
  ]
}

describe.each(targets)('instructions toward %s', to => {
  const translate = (input: object[], options: object = {}) => {
    const { body, notes } = translateRequest(
      { model: 'm', max_output_tokens: 9, input },
      { from: 'responses', to, model: 'm', ...options },
    )
    return {
      turns: outline(body),
      codes: notes.map(({ code }) => code).filter(code => code.startsWith('system.')),
    }
  }

  test('stay where they are at the front, without a note', () => {
    expect(translate([item('system', 's'), item('user', 'q')])).toEqual({
      turns: ['system: s', 'user: q'],
      codes: [],
    })
  })

  test('become text of the next user message inside the conversation', () => {
    expect(
      translate([
        item('user', 'q'),
        item('assistant', 'a'),
        item('system', 's'),
        item('user', 'r'),
      ]),
    ).toEqual({
      turns: ['user: q', 'assistant: a', 'user: <system>s</system> r'],
      codes: ['system.mid-conversation-as-user'],
    })
  })

  test('join the user message before them when none follows', () => {
    expect(translate([item('user', 'q'), item('system', 's')])).toEqual({
      turns: ['user: q <system>s</system>'],
      codes: ['system.mid-conversation-as-user'],
    })
  })

  test('become a user message when the model speaks before and after them', () => {
    expect(
      translate([
        item('user', 'q'),
        item('assistant', 'a'),
        item('system', 's'),
        item('assistant', 'b'),
        item('user', 'r'),
      ]),
    ).toEqual({
      turns: ['user: q', 'assistant: a', 'user: <system>s</system>', 'assistant: b', 'user: r'],
      codes: ['system.mid-conversation-as-user'],
    })
  })

  test('move to the front with `systemPlacement: hoist`', () => {
    const { turns, codes } = translate(
      [item('system', 's'), item('user', 'q'), item('system', 't')],
      {
        [protocols[to].optionsKey]: { systemPlacement: 'hoist' },
      },
    )
    expect(turns[0]?.replace(/\s+/g, ' ')).toBe('system: s t')
    expect(turns.slice(1)).toEqual(['user: q'])
    expect(codes).toEqual(['system.hoisted'])
  })
})

test.each<[ProtocolName, object]>([
  [
    'chat-completions',
    {
      messages: [
        { role: 'developer', content: [{ type: 'text', text: '', x_extra: 1 }] },
        { role: 'user', content: 'a' },
      ],
    },
  ],
  [
    'responses',
    {
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: '', x_extra: 1 }] },
        { role: 'user', content: 'a' },
      ],
    },
  ],
  [
    'messages',
    {
      messages: [
        { role: 'system', content: [{ type: 'text', text: '', x_extra: 1 }] },
        { role: 'user', content: 'a' },
      ],
      max_tokens: 9,
    },
  ],
])('an unknown field of an empty instruction of %s is noted', (from, body) => {
  for (const to of (Object.keys(protocols) as ProtocolName[]).filter(name => name !== from)) {
    const { notes } = translateRequest({ model: 'm', ...body }, { from, to })
    expect(notes.map(({ path }) => path)).toContainEqual(
      expect.stringMatching(/^\/(messages|input)\/0\/content\/0\/x_extra$/),
    )
  }
})
