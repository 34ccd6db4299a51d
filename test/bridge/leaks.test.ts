import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Tools } from '../../src/bridge/leaks/calls.ts'
import { endScan, type Piece, scan, startScan } from '../../src/bridge/leaks/scan.ts'
import { type Called, renderings } from './rendered.ts'

const schema = {
  type: 'object',
  properties: {
    city: { type: 'string' },
    days: { type: 'integer' },
    ratio: { type: 'number' },
    dry: { type: 'boolean' },
    tags: { type: 'array' },
    more: { type: 'object' },
  },
}
const tools: Tools = {
  names: ['get', 'get_weather', 'Read', 'mcp__files-v2__read.all'],
  schemas: {
    get: null,
    get_weather: schema,
    Read: schema,
    'mcp__files-v2__read.all': schema,
  },
}

/** The pieces of a text in chunks, neighbouring texts as one, and the most that was held back. */
function found(chunks: readonly string[]): { pieces: unknown[]; held: number } {
  const pieces: ({ text: string } | { call: unknown })[] = []
  let said = 0
  let given = 0
  let held = 0
  const add = (piece: Piece) => {
    const last = pieces.at(-1)
    if ('text' in piece) said += piece.text.length
    if (last && 'text' in last && 'text' in piece) last.text += piece.text
    else pieces.push('text' in piece ? { ...piece } : { call: called(piece.call) })
  }
  // Between any two chunks the state is plain data.
  let state = startScan()
  for (const chunk of chunks) {
    state = structuredClone(state)
    scan(state, chunk, tools, add)
    given += chunk.length
    held = Math.max(held, given - said)
  }
  endScan(state, tools, add)
  return { pieces, held }
}

const called = ({ name, input }: { name: string; input: string }) => ({
  name,
  arguments: JSON.parse(input),
})

function cut(text: string, places: readonly number[] | 'everywhere'): string[] {
  if (places === 'everywhere') return [...text]
  const ends = [...new Set(places.map(place => place % (text.length + 1)))].sort((a, b) => a - b)
  return [...ends, text.length].map((end, i) => text.slice(ends[i - 1] ?? 0, end))
}

const places = fc.oneof(
  fc.array(fc.nat(5000), { maxLength: 40 }),
  fc.constant('everywhere' as const),
)
const word = fc.stringMatching(/^[\w .,;:!?'(){}é🙂-]{0,24}$/u)
const anyText = fc.oneof(
  word,
  fc.constantFrom('</tool_call>', 'a "b" \\ c', '<tool_call>{"name":"get"', '```json', 'x\ny'),
  fc.string({ maxLength: 20 }),
)
const valuesWith = (text: fc.Arbitrary<string>) =>
  fc.record(
    {
      city: text,
      days: fc.integer(),
      ratio: fc.double({ noNaN: true, noDefaultInfinity: true }).map(one => one || 0),
      dry: fc.boolean(),
      tags: fc.array(fc.oneof(word, fc.integer()), { maxLength: 3 }),
      more: fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), word, { maxKeys: 3 }),
    },
    { requiredKeys: [] },
  )
const callsWith = (text: fc.Arbitrary<string>) =>
  fc.array(
    fc.record({
      name: fc.constantFrom('get_weather', 'Read', 'mcp__files-v2__read.all'),
      arguments: valuesWith(text),
    }),
    { minLength: 1, maxLength: 3 },
  )

describe.each(Object.entries(renderings))('%s', (_name, { render, text, plain }) => {
  test('brings back the calls and the texts around them', () => {
    const calls = callsWith(plain ? word.map(one => one.trim()) : anyText)
    const around = fc.stringMatching(/^([a-zA-Z][a-zA-Z .]{0,20}[a-zA-Z.]:?\n?)?$/)
    fc.assert(
      fc.property(around, calls, around, places, (before, made, behind, at) => {
        const after = text && behind.trim() !== '' ? behind : ''
        const first = before === '' || text || before.endsWith('\n') ? before : `${before}\n`
        // Bare JSON counts only at the start.
        const lead = _name === 'bare' ? '' : first
        const { pieces } = found(cut(`${lead}${render(made)}${after}`, at))
        expect(pieces).toEqual([
          ...(lead === '' ? [] : [{ text: lead }]),
          ...made.map(call => ({ call: plainCall(call) })),
          ...(after === '' ? [] : [{ text: after }]),
        ])
      }),
      { numRuns: 60 },
    )
  })

  test('leaves calls of tools that are not offered as text', () => {
    const made: Called[] = [{ name: 'other', arguments: { city: 'Rome', days: 2 } }]
    const source = `see ${render(made)} there`
    expect(found([...source]).pieces).toEqual([{ text: source }])
  })
})

const plainCall = ({ name, arguments: given }: Called) => ({
  name,
  arguments: JSON.parse(JSON.stringify(given)),
})

const scraps = [
  '<tool_call>',
  '</tool_call>',
  '{"name": "',
  '"arguments": {',
  '<function=',
  '<parameter=a>',
  '<invoke name="',
  '[TOOL_CALLS]',
  '[ARGS]',
  '<｜tool▁call▁begin｜>',
  '<|tool_call_begin|>functions.',
  '```json\n',
  '```',
  '<arg_key>',
  '\n  ',
  '<div class="x">',
  'if (a < b) return [c]',
  '`code`',
  'naïve 🙂',
  'unknown_tool',
]

test('passes on text that calls no offered tool, at once but for the beginning of a call', () => {
  const longestMark = 200
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constantFrom(...scraps), fc.string({ maxLength: 8 })), {
        maxLength: 30,
      }),
      places,
      (parts, at) => {
        const text = parts.join('')
        fc.pre(!/get|Read|\{\s*"(arguments|parameters)"/.test(text))
        const { pieces, held } = found(cut(text, at))
        expect(pieces).toEqual(text === '' ? [] : [{ text }])
        expect(held).toBeLessThanOrEqual(longestMark)
      },
    ),
    { numRuns: 400 },
  )
})

test('never holds back text without the beginning of a mark', () => {
  fc.assert(
    fc.property(fc.stringMatching(/^[a-z][^<[`]{0,60}$/), places, (text, at) => {
      for (const chunk of [cut(text, at)]) expect(found(chunk).held).toBe(0)
    }),
  )
})

const oneCall = (input: string, name = 'get') => [{ call: { name, arguments: JSON.parse(input) } }]

test.each([
  ['JSON behind text', 'So: {"name": "get", "parameters": {}}'],
  ['bare JSON before text', '{"name": "get", "parameters": {}} is how to call it'],
  ['bare JSON with other members', '{"name": "get", "age": 4}'],
  ['a fence before text', '```json\n{"name": "get", "arguments": {}}\n```\nis how to call it'],
  ['the beginning of a mark', 'a <tool_call>{"name": "ge'],
  ['bare JSON without an end', '{"name": "get", "parameters": {"a": "b'],
])('takes for text: %s', (_what, text) => {
  expect(found([...text]).pieces).toEqual([{ text }])
})

test.each([
  [
    'ASCII marks',
    '<|tool_calls_begin|><|tool_call_begin|>get<|tool_sep|>{}<|tool_call_end|><|tool_calls_end|>',
    '{}',
  ],
  [
    'arguments as a text of JSON',
    '<|tool_call_begin|>get:0<|tool_call_argument_begin|>"{\\"a\\": 1}"<|tool_call_end|>',
    '{"a":1}',
  ],
  ['no arguments in a bare call', '{"name": "get"}', '{}'],
  ['no arguments between tags', '<tool_call>get</tool_call>', '{}'],
  [
    'single quotes',
    '<tool_call>{"name": "get", "arguments": {\'a\': True,}}</tool_call>',
    '{"a":true}',
  ],
  [
    'a string without its end',
    '<tool_call>{"name": "get", "arguments": {"a": "x}</tool_call>',
    '{"a":"x"}',
  ],
  ['no closing brace', '<tool_call>{"name": "get", "arguments": {"a": 1}</tool_call>', '{"a":1}'],
  ['white space before it', '\n\n<function=get>\n</function>', '{}'],
])('reads %s', (_what, text, input) => {
  expect(found([text]).pieces).toEqual(oneCall(input))
  expect(found([...text]).pieces).toEqual(oneCall(input))
})

test('keeps the numbers of arguments as they are written', () => {
  const calls: unknown[] = []
  const text =
    '<tool_call>{"name": "get", "arguments": {"a": 12345678901234567890, "b": 1.0}}</tool_call>'
  scan(startScan(), text, tools, piece => calls.push(piece))
  expect(calls).toEqual([{ call: { name: 'get', input: '{"a": 12345678901234567890, "b": 1.0}' } }])
})

test.each([
  ['JSON', '<tool_call>{"name": "get", "arguments": {"a": "x', '{"a": "x', '{"a":"x"}'],
  [
    'pairs',
    '<function=get><parameter=a>1</parameter><parameter=b>tw',
    '{"a":1,"b":"tw',
    '{"a":1,"b":"tw"}',
  ],
  ['only a name', '<tool_call>{"name": "get", ', '', '{}'],
])('says how far a call came whose text ends inside of it: %s', (_what, text, input, completed) => {
  const pieces: Piece[] = []
  const state = startScan()
  scan(state, text, tools, piece => pieces.push(piece))
  endScan(state, tools, piece => pieces.push(piece))
  expect(pieces).toEqual([{ call: { name: 'get', input, completed } }])
})

test.each([
  '<',
  '<tool_call>',
  '<tool_call> ',
  '<function=get></function>',
  '<function=get><parameter=a></function>',
  '<tool_call>{"name":"get","arguments":{"a":"</tool_call>',
  '{"name":"get"} ',
  '```',
])('takes linear time for many of %s', scrap => {
  const once = (count: number) => {
    const before = process.cpuUsage()
    const state = startScan()
    scan(state, `${scrap.repeat(count)}x`, tools, () => {})
    endScan(state, tools, () => {})
    return process.cpuUsage(before).user / 1000
  }
  // The time of this process alone, and the best of several: other processes must not decide.
  const spent = (count: number) => Math.min(...[1, 2, 3].map(() => once(count)))
  once(2_000)
  // A quadratic scan would take 64 times as long.
  expect(spent(16_000)).toBeLessThan(30 * Math.max(spent(2_000), 5))
})
