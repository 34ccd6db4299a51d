import { describe, expect, test } from 'vitest'
import type { ReasoningSpec, Sampling } from '../../../src/canonical/request.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { codes } from './run.ts'

const { 'chat-completions': chat, messages, responses } = protocols
const ask = (rest: object) => ({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...rest })
const decode = (rest: object) => chat.decodeRequest(ask(rest))
const notesOf = (notes: readonly { code: string; path: string }[]) =>
  notes.map(({ code, path }) => `${code} ${path}`)
/** As any other protocol reads it: nothing here is this protocol's own. */
const foreign = (rest: object) => ({ messages: [], ...rest })

describe('reasoning effort in dialects of chat-completions', () => {
  test.each<[string, object, ReasoningSpec | undefined]>([
    ['the protocol itself', { reasoning_effort: 'low' }, { effort: 'low' }],
    ['OpenRouter, by effort', { reasoning: { effort: 'high' } }, { effort: 'high' }],
    ['OpenRouter, by tokens', { reasoning: { max_tokens: 2000 } }, { budgetTokens: 2000 }],
    ['OpenRouter, switched on', { reasoning: { enabled: true } }, { mode: 'enabled' }],
    ['OpenRouter, switched off', { reasoning: { enabled: false } }, { mode: 'disabled' }],
    [
      'OpenRouter, hidden',
      { reasoning: { effort: 'low', exclude: true } },
      { effort: 'low', display: 'omitted' },
    ],
    ['OpenRouter, shown', { reasoning: { exclude: false } }, { display: 'summarized' }],
    ['OpenRouter, older', { include_reasoning: false }, { display: 'omitted' }],
    ['GLM, Kimi, DeepSeek', { thinking: { type: 'disabled' } }, { mode: 'disabled' }],
    [
      "Anthropic's compatible endpoint",
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      { mode: 'enabled', budgetTokens: 2000 },
    ],
    [
      'Qwen',
      { enable_thinking: true, thinking_budget: 500 },
      { mode: 'enabled', budgetTokens: 500 },
    ],
    ['vLLM and SGLang', { chat_template_kwargs: { enable_thinking: false } }, { mode: 'disabled' }],
    [
      'the same word twice',
      { reasoning_effort: 'low', reasoning: { effort: 'low' } },
      { effort: 'low' },
    ],
    ['nothing at all', { reasoning: {}, thinking: 'yes', enable_thinking: 1 }, undefined],
  ])('%s', (_, wire, spec) => {
    const { value, notes } = decode(wire)
    expect(value.reasoning).toEqual(spec)
    expect(notes).toEqual([])
    const again = chat.encodeRequest(value)
    expect(again.wire).toEqual(ask(wire))
    expect(again.notes).toEqual([])
  })

  test.each<[string, object, string]>([
    [
      'two efforts: the own field wins',
      { reasoning_effort: 'low', reasoning: { effort: 'high' } },
      'field.unknown /reasoning/effort',
    ],
    ['an unknown key', { reasoning: { effort: 'low', x: 1 } }, 'field.unknown /reasoning/x'],
    [
      'a budget for what is off',
      { enable_thinking: false, thinking_budget: 500 },
      'field.unknown /thinking_budget',
    ],
    [
      'an effort beside a switch that is off: the own field wins',
      { reasoning_effort: 'low', enable_thinking: false },
      'field.unknown /enable_thinking',
    ],
    [
      'a switch that is on beside the effort none: the own field wins',
      { reasoning_effort: 'none', enable_thinking: true },
      'field.unknown /enable_thinking',
    ],
    [
      'another one',
      { reasoning_effort: 'none', reasoning: { enabled: true } },
      'field.unknown /reasoning/enabled',
    ],
    [
      'the effort none beside its own switch: the mode wins',
      { reasoning: { enabled: true, effort: 'none' } },
      'field.unknown /reasoning/effort',
    ],
    ['a control of another type', { thinking: 'yes' }, 'field.unknown /thinking'],
    [
      'other parameters of a template',
      { chat_template_kwargs: { enable_thinking: true, locale: 'de' } },
      'field.unknown /chat_template_kwargs',
    ],
  ])('%s is noted', (_, wire, note) => {
    const { value } = decode(wire)
    for (const other of [messages, responses])
      expect(
        notesOf(
          other.encodeRequest(
            { ...value, model: 'claude-opus-5-5' },
            { fieldNames: chat.fieldNames },
          ).notes,
        ),
      ).toContain(note)
  })

  test('writes a budget for a protocol that has budgets', () => {
    const { value } = decode({ reasoning: { max_tokens: 2000 } })
    const { wire } = messages.encodeRequest(value, { thinking: 'enabled' })
    expect(wire).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2000 } })
  })

  test("a reasoning spec that was edited is written in the protocol's own field", () => {
    const { value } = decode({ reasoning: { effort: 'high' } })
    expect(chat.encodeRequest({ ...value, reasoning: { effort: 'low' } }).wire).toEqual(
      ask({ reasoning_effort: 'low' }),
    )
  })

  test('a mode that became an effort is noted at the path of the mode', () => {
    const { notes } = chat.encodeRequest(
      foreign({ reasoning: { mode: 'between_tools' } }) as never,
      { fieldNames: messages.fieldNames },
    )
    expect(notesOf(notes)).toEqual(['reasoning.mode-as-effort /thinking/type'])
  })

  test('notes a reasoning effort at its path when reasoning is off', () => {
    const ask = {
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
      thinking: { type: 'disabled' },
      output_config: { effort: 'high' },
    }
    const { value } = messages.decodeRequest(ask)
    for (const other of [chat, responses])
      expect(
        notesOf(other.encodeRequest(value, { fieldNames: messages.fieldNames }).notes),
      ).toContain('reasoning.off /output_config/effort')
  })
})

describe('sampling fields of some servers', () => {
  const dialect = { top_k: 40, min_p: 0.1, repetition_penalty: 1.1 }

  test('is read, and written again by the same protocol', () => {
    const { value } = decode(dialect)
    expect(value.sampling).toEqual<Sampling>({ topK: 40, minP: 0.1, repetitionPenalty: 1.1 })
    expect(chat.encodeRequest(value)).toMatchObject({ wire: ask(dialect), notes: [] })
  })

  test('is written when the target has the field, and noted otherwise', () => {
    const { value } = decode(dialect)
    const toMessages = messages.encodeRequest(value, { fieldNames: chat.fieldNames })
    expect(toMessages.wire).toMatchObject({ top_k: 40 })
    expect(notesOf(toMessages.notes)).toEqual(
      expect.arrayContaining(['field.unsupported /min_p', 'field.unsupported /repetition_penalty']),
    )
    const paths = responses
      .encodeRequest(value, { fieldNames: chat.fieldNames })
      .notes.map(({ path }) => path)
    expect(paths).toEqual(expect.arrayContaining(['/top_k', '/min_p', '/repetition_penalty']))
  })

  test('is written for other protocols on request', () => {
    const from = foreign({ sampling: { topK: 40, minP: 0.1, repetitionPenalty: 1.1 } })
    expect(chat.encodeRequest(from as never).wire).toEqual({ messages: [] })
    expect(chat.encodeRequest(from as never, { topK: 'write' })).toMatchObject({
      wire: { messages: [], ...dialect },
      notes: [],
    })
  })
})

test.each<[string, object, object]>([
  [
    'Together, Fireworks, llama.cpp: a schema beside json_object',
    { type: 'json_object', schema: { type: 'object' } },
    { type: 'schema', schema: { type: 'object' } },
  ],
  ['json_object alone', { type: 'json_object' }, { type: 'json' }],
  [
    'a grammar',
    { type: 'grammar', grammar: 'root ::= "a"' },
    {
      type: 'opaque',
      protocol: 'chat-completions',
      raw: { type: 'grammar', grammar: 'root ::= "a"' },
    },
  ],
])('the format of a response: %s', (_, wire, format) => {
  const { value } = decode({ response_format: wire })
  expect(value.output).toEqual({ format })
  expect(chat.encodeRequest(value)).toMatchObject({
    wire: ask({ response_format: wire }),
    notes: [],
  })
})

test('other fields of the free format of a tool are written back, and noted where they have no place', () => {
  const wire = ask({
    tools: [
      {
        type: 'custom',
        custom: { name: 'sh', format: { type: 'text', grammar: { syntax: 'lark' } } },
      },
    ],
  })
  const { value } = chat.decodeRequest(wire)
  expect(chat.encodeRequest(value)).toMatchObject({ wire, notes: [] })
  const { notes } = responses.encodeRequest(value, { fieldNames: chat.fieldNames })
  expect(notesOf(notes)).toContain('field.unknown /tools/0/custom/format/grammar/syntax')
})

test('joins functions and tools into one list, with a note', () => {
  const both = {
    tools: [{ type: 'function', function: { name: 'a' } }],
    functions: [{ name: 'b' }],
  }
  const { value, notes } = decode(both)
  expect(value.tools).toMatchObject([{ name: 'a' }, { name: 'b' }])
  expect(notesOf(notes)).toEqual(['tools.two-lists /functions'])
  expect(codes(decode({ ...both, tools: [] }).notes)).toEqual([])
})
