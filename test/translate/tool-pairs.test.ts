import { describe, expect, test } from 'vitest'
import type { TranslateOptions } from '../../src/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { translateRequest } from '../support/untyped.ts'

/** The same conversations in the words of each protocol. */
const message = {
  'chat-completions': {
    wrap: (messages: object[]) => ({ model: 'm', messages }),
    question: { role: 'user', content: 'q' },
    calls: (...ids: string[]) => ({
      role: 'assistant',
      content: null,
      tool_calls: ids.map(id => ({
        id,
        type: 'function',
        function: { name: 'look', arguments: '{}' },
      })),
    }),
    result: (id: string, text: string) => ({ role: 'tool', tool_call_id: id, content: text }),
  },
  responses: {
    wrap: (input: object[]) => ({ model: 'm', input: input.flat() }),
    question: { role: 'user', content: 'q' },
    calls: (...ids: string[]) =>
      ids.map(call_id => ({ type: 'function_call', call_id, name: 'look', arguments: '{}' })),
    result: (call_id: string, output: string) => ({
      type: 'function_call_output',
      call_id,
      output,
    }),
  },
  messages: {
    wrap: (messages: object[]) => ({ model: 'm', max_tokens: 9, messages }),
    question: { role: 'user', content: 'q' },
    calls: (...ids: string[]) => ({
      role: 'assistant',
      content: ids.map(id => ({ type: 'tool_use', id, name: 'look', input: {} })),
    }),
    result: (id: string, content: string) => ({
      role: 'user',
      content: [{ type: 'tool_result', tool_use_id: id, content }],
    }),
  },
  'generate-content': {
    wrap: (contents: object[]) => ({ contents }),
    question: { role: 'user', parts: [{ text: 'q' }] },
    calls: (...ids: string[]) => ({
      role: 'model',
      parts: ids.map(id => ({ functionCall: { id, name: 'look', args: {} } })),
    }),
    result: (id: string, output: string) => ({
      role: 'user',
      parts: [{ functionResponse: { id, name: 'look', response: { output } } }],
    }),
  },
} satisfies Record<Covered, object>

const pairs = covered.flatMap(from => covered.filter(to => to !== from).map(to => ({ from, to })))

/**
 * Calls and results of a written request, in their order: `call a`, `result a`; of text its words.
 */
function outline(body: unknown, to: Covered): string[] {
  const found: string[] = []
  const look = (value: unknown, key = ''): void => {
    if (typeof value === 'string') {
      if (['content', 'text', 'output', 'error'].includes(key)) found.push(value)
      return
    }
    if (typeof value !== 'object' || value === null) return
    const node = value as Record<string, unknown>
    const called =
      node['type'] === 'function_call'
        ? node['call_id']
        : (node['functionCall'] as { id?: string } | undefined)?.id
    const responded =
      node['tool_call_id'] ??
      node['tool_use_id'] ??
      (node['type'] === 'function_call_output' ? node['call_id'] : undefined)
    const isCall = node['type'] === 'tool_use' || node['type'] === 'function'
    if (called !== undefined || isCall) found.push(`call ${String(called ?? node['id'])}`)
    if (responded !== undefined) found.push(`result ${String(responded)}`)
    if (key === 'functionResponse') found.push(`result ${String(node['id'])}`)
    for (const inside in node) look(node[inside], inside)
  }
  const { messages, input, contents } = body as Record<string, unknown>
  look(messages ?? input ?? contents)
  expect([to, strictOf(to).checkRequest(body)]).toEqual([to, []])
  return found
}

const repairs: ReadonlySet<string> = new Set([
  'tool-result.synthesized',
  'tool-result.orphan-as-text',
  'tool-result.duplicate',
  'tool-result.moved',
  'tool-call.id',
])

/** Targets where a result may stand anywhere behind its call. */
const isLoose = (to: Covered) => to === 'responses'
const interrupted = 'This tool call was interrupted and has no result.'

describe.each(pairs)('$from → $to', ({ from, to }) => {
  const { wrap, question, calls, result } = message[from]
  const translate = (turns: object[], options: Partial<TranslateOptions> = {}) => {
    const { body, notes } = translateRequest(wrap(turns), { from, to, model: 'm', ...options })
    return {
      body,
      notes: notes
        .filter(({ code }) => repairs.has(code))
        .map(({ kind, code }) => `${kind} ${code}`),
    }
  }

  test('adds an interrupted result to a call without one', () => {
    const { body, notes } = translate([question, calls('a'), question])
    expect(outline(body, to)).toEqual(['q', 'call a', 'result a', interrupted, 'q'])
    expect(notes).toEqual(['synthesized tool-result.synthesized'])
  })

  test('adds an interrupted result to the last call of a conversation', () => {
    const { body, notes } = translate([question, calls('a')])
    expect(outline(body, to)).toEqual(['q', 'call a', 'result a', interrupted])
    expect(notes).toEqual(['synthesized tool-result.synthesized'])
  })

  test('adds results only to calls without one', () => {
    const { body, notes } = translate([question, calls('a', 'b'), result('b', 'done'), question])
    const results = outline(body, to)
    expect(results.slice(0, 3)).toEqual(['q', 'call a', 'call b'])
    expect(results.slice(3)).toEqual(['result a', interrupted, 'result b', 'done', 'q'])
    expect(notes).toEqual(['synthesized tool-result.synthesized'])
  })

  test('writes a result without a call as user text', () => {
    const { body, notes } = translate([question, result('gone', 'done'), question])
    expect(outline(body, to)).toEqual(['q', 'done', 'q'])
    expect(JSON.stringify(body)).not.toMatch(/gone|"role":"(?!user)/)
    expect(notes).toEqual(['approximated tool-result.orphan-as-text'])
  })

  test('leaves a call with its result unchanged', () => {
    const { body, notes } = translate([question, calls('a'), result('a', 'done'), question])
    expect(outline(body, to)).toEqual(['q', 'call a', 'result a', 'done', 'q'])
    expect(notes).toEqual([])
  })

  test('keeps only the last of several results of a call', () => {
    const { body, notes } = translate([
      question,
      calls('a'),
      result('a', 'old'),
      result('a', 'new'),
      question,
    ])
    expect(outline(body, to)).toEqual(['q', 'call a', 'result a', 'new', 'q'])
    expect(notes).toEqual(['dropped tool-result.duplicate'])
  })

  test('a result is after its call, where the target requires it', () => {
    const { body, notes } = translate([question, calls('a'), question, result('a', 'done')])
    expect(outline(body, to)).toEqual(
      isLoose(to)
        ? ['q', 'call a', 'q', 'result a', 'done']
        : ['q', 'call a', 'result a', 'done', 'q'],
    )
    expect(notes).toEqual(isLoose(to) ? [] : ['approximated tool-result.moved'])
  })

  test('results are in the order of their calls, where the target requires it', () => {
    const { body, notes } = translate([
      question,
      calls('a', 'b'),
      result('b', 'two'),
      result('a', 'one'),
    ])
    const [one, two] = [
      ['result a', 'one'],
      ['result b', 'two'],
    ]
    expect(outline(body, to)).toEqual([
      'q',
      'call a',
      'call b',
      ...(isLoose(to) ? [...two, ...one] : [...one, ...two]),
    ])
    expect(notes).toEqual([])
  })

  test('assigns a reused id to the later call', () => {
    const { body } = translate([
      question,
      calls('a'),
      result('a', 'one'),
      calls('a'),
      result('a', 'two'),
    ])
    const again = to === 'messages' || to === 'generate-content' ? 'a_2' : 'a'
    expect(outline(body, to)).toEqual([
      'q',
      'call a',
      'result a',
      'one',
      `call ${again}`,
      `result ${again}`,
      'two',
    ])
  })

  test('a call and its result have the same id, which the target accepts', () => {
    const id = 'odd id '.repeat(20)
    const { body, notes } = translate([question, calls(id), result(id, 'done')])
    const [, called = '', responded] = outline(body, to)
    expect(responded).toBe(called.replace('call', 'result'))
    const isKept = to === 'generate-content'
    expect(called === `call ${id}`).toBe(isKept)
    expect(notes).toEqual(isKept ? [] : ['approximated tool-call.id'])
  })

  test('`keep` writes both as they are', () => {
    const { body, notes } = translate([question, calls('a'), question, result('gone', 'done')], {
      tools: { repair: 'keep' },
    })
    expect(JSON.stringify(body)).toContain('gone')
    expect(JSON.stringify(body)).not.toContain(interrupted)
    expect(notes).toEqual([])
  })
})

test.each(covered)('%s: repairs nothing between equal protocols', name => {
  const { wrap, question, calls } = message[name]
  const body = wrap([question, calls('a'), question])
  expect(translateRequest(body, { from: name, to: name })).toMatchObject({ body, notes: [] })
})

test('an invented result fails where the protocol can say so', () => {
  const { wrap, question, calls } = message['chat-completions']
  const body = wrap([question, calls('a'), question])
  const toward = (to: Covered) => translateRequest(body, { from: 'chat-completions', to }).body
  expect(toward('messages')).toMatchObject({
    messages: [
      {},
      {},
      {
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: interrupted, is_error: true },
          {},
        ],
      },
    ],
  })
  expect(toward('generate-content')).toMatchObject({
    contents: [{}, {}, { parts: [{ functionResponse: { response: { error: interrupted } } }] }, {}],
  })
})

const beside = { thoughtSignature: 'c2ln', partMetadata: { a: 1 }, novel: 1 }

describe.each<Covered>(['chat-completions', 'responses', 'messages'])(
  'siblings of a result that moves into text are noted for %s',
  to => {
    const { question, calls } = message['generate-content']
    const result = { functionResponse: { id: 'c', name: 'look', response: { output: 'r' } } }
    test.each<[string, object[], string]>([
      [
        'a result without a call',
        [{ role: 'user', parts: [{ text: 'q' }, { ...result, ...beside }] }],
        '/contents/0/parts/1',
      ],
      [
        'a content of nothing else',
        [question, { role: 'user', parts: [{ ...result, ...beside }] }],
        '/contents/1/parts/0',
      ],
      [
        'a content of nothing but an older result',
        [
          question,
          calls('c'),
          { role: 'user', parts: [{ ...result, ...beside }] },
          { role: 'user', parts: [result] },
        ],
        '/contents/2/parts/0',
      ],
      [
        'an older result',
        [question, calls('c'), { role: 'user', parts: [{ ...result, ...beside }, result] }],
        '/contents/2/parts/0',
      ],
    ])('%s', (_, contents, place) => {
      const [content = ''] = place.split('/parts')
      const odd = contents.map(one => ({ ...one, vendor: 1 }))
      const { notes } = translateRequest(
        { contents: odd },
        { from: 'generate-content', to, model: 'm' },
      )
      const reported = notes.map(({ path }) => path)
      for (const key of Object.keys(beside)) expect(reported).toContain(`${place}/${key}`)
      expect(reported).toContain(`${content}/vendor`)
    })
  },
)

test('a result that becomes text puts no reasoning into the user message', () => {
  const content = [
    { type: 'thinking', thinking: 'T' },
    { type: 'text', text: 'r' },
  ]
  const lonely = { model: 'm', messages: [{ role: 'tool', tool_call_id: 'c', content }] }
  const { body, notes } = translateRequest(lonely, {
    from: 'chat-completions',
    to: 'generate-content',
  })
  expect(body).toMatchObject({ contents: [{ role: 'user', parts: [{ text: 'r' }] }] })
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual([
    'tool-result.orphan-as-text /messages/0',
    'part.unsupported /messages/0/content/0',
  ])
  expect(strictOf('generate-content').checkRequest(body)).toEqual([])
})
