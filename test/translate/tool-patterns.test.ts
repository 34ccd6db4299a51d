import { describe, expect, test } from 'vitest'
import { compiles } from '../../src/kit/tools/patterns.ts'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import type { VendorName } from '../../src/vendors/index.ts'
import { declaredIn, requests, type Schema } from '../support/tool-requests.ts'
import { translateRequest } from '../support/untyped.ts'

/** A tool of Claude Code has it since its version 2.1.265. */
const field = '^(?!__.*__$)[^\\p{Cc}\\p{Cf}\\p{Zl}\\p{Zp}"\\\\./[\\]]{1,200}$'

function written(
  from: ProtocolName,
  to: ProtocolName,
  inner: Schema,
  given: { vendor?: VendorName; model?: string } = {},
) {
  const schema = { type: 'object', properties: { a: inner, b: { pattern: '^[a-z]+$' } } }
  const { body, notes } = translateRequest(
    { ...requests[from]([{ name: 'find', schema }]), model: given.model ?? 'm' },
    { from, to, ...given },
  )
  const [tool] = declaredIn(to, body)
  const { a, b } = (tool?.schema['properties'] ?? {}) as Record<string, Schema>
  return { a, b, codes: notes.map(({ code }) => code).filter(code => code.startsWith('schema.')) }
}

type Target = [to: ProtocolName, vendor: VendorName | undefined, model: string]

const python: Target[] = [
  ['chat-completions', undefined, 'm'],
  ['chat-completions', 'openai', 'gpt-5.6-sol'],
  ['chat-completions', 'azure', 'my-deployment'],
  ['chat-completions', 'deepseek', 'deepseek-v4-flash'],
  ['chat-completions', 'mistral', 'mistral-large-4'],
  ['responses', 'openai', 'gpt-7'],
  ['responses', undefined, 'm'],
  ['messages', 'zai', 'glm-5.3'],
  ['messages', 'deepseek', 'deepseek-v4-flash'],
  ['chat-completions', 'llama-cpp', 'm'],
]

describe.each(python)('a pattern toward %s of %s, model %s', (to, vendor, model) => {
  const given = { model, ...(vendor && { vendor }) }
  const callers = protocolNames.filter(from => vendor !== undefined || from !== to)

  test.each(callers)('from %s moves into the description if Python has none', from => {
    const { a, b, codes } = written(from, to, { type: 'string', pattern: field }, given)
    expect(a).toEqual({
      type: 'string',
      description: `(pattern: ${JSON.stringify(field)})`,
    })
    expect(b).toEqual({ pattern: '^[a-z]+$' })
    expect(codes).toEqual(['schema.keywords'])
  })
})

test.each<Target>([
  ['messages', 'anthropic', 'claude-opus-5'],
  ['messages', undefined, 'm'],
  ['converse', 'bedrock', 'us.anthropic.claude-opus-4-5-v1:0'],
  ['generate-content', 'gemini', 'gemini-3.8-flash'],
])('a pattern stays toward %s of %s', (to, vendor, model) => {
  const { a, codes } = written(
    'chat-completions',
    to,
    { type: 'string', pattern: field },
    { model, ...(vendor && { vendor }) },
  )
  expect(a).toEqual({ type: 'string', pattern: field })
  expect(codes).toEqual([])
})

test.each<Target>([
  ['messages', 'anthropic', 'claude-opus-5'],
  ['converse', 'bedrock', 'us.anthropic.claude-opus-4-5-v1:0'],
  ['generate-content', 'gemini', 'gemini-3.8-flash'],
])('a pattern that no rules allow moves toward %s of %s', (to, vendor, model) => {
  for (const from of protocolNames) {
    const given = { vendor: vendor ?? 'openai', model }
    const { a, codes } = written(from, to, { type: 'string', pattern: '^[\\w-.]+$' }, given)
    expect(a, from).toEqual({ type: 'string', description: '(pattern: "^[\\\\w-.]+$")' })
    expect(codes, from).toEqual(['schema.keywords'])
  }
})

test('an unknown server of the same protocol gets what its client sends', () => {
  const { a } = written('chat-completions', 'chat-completions', { pattern: field })
  expect(a).toEqual({ pattern: field })
})

test('names of properties by pattern move likewise', () => {
  const { a } = written('messages', 'responses', { patternProperties: { '^\\p{L}+$': {} } })
  expect(a).toEqual({ description: '(patternProperties: {"^\\\\p{L}+$":{}})' })
})

test.each(['chat-completions', 'responses'] as const)(
  'the schema of a response to %s has no such pattern either',
  to => {
    const schema = { type: 'object', properties: { a: { type: 'string', pattern: '\\p{L}' } } }
    const { body, notes } = translateRequest(
      {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'x' }],
        output_config: { format: { type: 'json_schema', schema } },
      },
      { from: 'messages', to },
    )
    expect(JSON.stringify(body)).not.toContain('"pattern"')
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
      'schema.keywords /output_config/format/schema',
    )
  },
)

test.each(['llama-cpp', 'lm-studio'] as const)('%s gets only anchored patterns', vendor => {
  for (const [pattern, isTaken] of [
    ['^[0-9]+$', true],
    ['^(?:a|b)$', true],
    ['[0-9]+', false],
    ['^a', false],
    ['^(?=a).*$', false],
  ] as const)
    for (const from of protocolNames) {
      const { a } = written(from, 'chat-completions', { pattern }, { vendor })
      expect('pattern' in (a ?? {}), `${from} ${pattern}`).toBe(isTaken)
    }
})

test.each<[string, boolean]>([
  ['^a\\d\\w\\s\\b\\/\\-\\.\\u00e9\\x41$', true],
  ['(?!a)b', true],
  ['(?<=ab)c', true],
  ['(?i)abc', true],
  ['(?P<a>b)', true],
  ['\\\\p{L}', true],
  ['[\\]a]', true],
  ['\\p{L}', false],
  ['\\\\\\p{L}', false],
  ['\\P{L}', false],
  ['\\u{1F600}', false],
  ['\\cA', false],
  ['(?<a>b)\\k<a>', false],
  ['(?<=a+)c', false],
  ['[]', false],
  ['[^]', false],
  ['[a', false],
  ['(a', false],
  // A class is no end of a range.
  ['^[\\w-.]+@[a-z]+$', false],
  ['[a-\\d]', false],
  ['[^\\s-z]', false],
  ['[\\w-]+', true],
  ['[-\\w.]+', true],
  ['[a-z-\\d]', true],
  ['[\\w\\-.]', true],
  ['^\\d{4}-\\d{2}$', true],
  ['\\[\\w-.\\]', true],
  ['a{,5}', true],
])('Python compiles %s: %s', (pattern, expected) => {
  expect(compiles(pattern, 'python')).toBe(expected)
})

test.each<[string, boolean]>([
  ['^a\\d[\\[\\]]\\.[^a-z]{1,9}$', true],
  ['(?i)(?:a|b)', true],
  ['(?P<a>b)', true],
  ['\\\\1', true],
  ['[a-z]-[0-9]', true],
  ['^[a[\\]|@]+$', false],
  ['[a-z&&b]', false],
  ['(?!a)b', false],
  ['(?=a)b', false],
  ['(?<=ab)c', false],
  ['(a)\\1', false],
  ['(?P<a>b)(?P=a)', false],
  ['\\p{L}', false],
  ['[\\w-.]', false],
  // Braces count, or are escaped.
  ['a{2}b{2,}c{2,3}', true],
  ['\\{a\\}', true],
  ['[{}]+', true],
  ['^{a}$', false],
  ['\\$\\{{a}', false],
  ['a{,5}', false],
  ['x{2', false],
  ['a\\Z', false],
  ['\\0', false],
  ['[\\b]', false],
  ['a\\b', true],
  ['\\é', false],
  // What is repeated so often is too large when it is compiled.
  ['^.{1,2000}$', false],
  ['^.{1,1000}$', true],
  ['^\\w{1,256}$', true],
])('an engine without backtracking compiles %s: %s', (pattern, expected) => {
  expect(compiles(pattern, 'linear')).toBe(expected)
})

test.each(['chat-completions', 'messages', 'responses'] as const)(
  'DeepSeek gets no pattern with brackets in brackets, or one that looks ahead, over %s',
  to => {
    for (const from of protocolNames)
      for (const pattern of ['^[a[\\]]+$', '^(?=.*@).+$']) {
        const { a, b, codes } = written(
          from,
          to,
          { type: 'string', pattern },
          { vendor: 'deepseek' },
        )
        expect(a).toEqual({ type: 'string', description: `(pattern: ${JSON.stringify(pattern)})` })
        expect(b).toEqual({ pattern: '^[a-z]+$' })
        expect(codes).toEqual(['schema.keywords'])
      }
  },
)

test('a long pattern is read in linear time', () => {
  const from = performance.now()
  for (const part of ['(?<=', '\\', '\\p', '[', '(?<', '(?:'])
    for (const by of ['python', 'linear'] as const) compiles(part.repeat(100_000), by)
  expect(performance.now() - from).toBeLessThan(5000)
})
