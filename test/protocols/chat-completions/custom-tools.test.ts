import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateRequest, translateResponse } from '../../../src/index.ts'
import { framesOf } from '../../../src/testing/streams.ts'
import { chat as bodies, items } from '../../support/examples/wires.ts'
import { chunk } from './run.ts'

/**
 * Tools that take free text, for servers of this wire: some support them, some call them as
 * functions, some support only functions.
 */

const chat = 'chat-completions'
const patch = {
  type: 'custom',
  name: 'patch',
  description: 'Edits a file.',
  format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
}
const body = (more: object = {}) => items.request({ tools: [patch, items.tool('look')], ...more })
/** Of a server that supports them. */
const written = { chatCompletions: { customTools: 'write' } }
const ask = (more?: object, options: object = written) => {
  const {
    body: wire,
    notes,
    context,
  } = translateRequest(body(more), { from: 'responses', to: chat, ...options })
  return {
    wire: wire as Record<string, unknown>,
    notes: notes.map(({ code, path }) => `${code} ${path}`),
    context,
  }
}
const say = (...calls: object[]) => ({
  ...bodies.response(
    { role: 'assistant', content: null, tool_calls: calls },
    { finish_reason: 'tool_calls' },
  ),
  model: 'm',
})
const asFunction = (args: string, name = 'patch') => ({
  id: 'c1',
  type: 'function',
  function: { name, arguments: args },
})

const response = (calls: object[], context = ask().context) => {
  const { body: wire, notes } = translateResponse(say(...calls), {
    from: chat,
    to: 'responses',
    context,
    now: 1,
  })
  return {
    output: (wire as { output: unknown[] }).output,
    notes: notes.map(({ code, path }) => `${code} ${path}`),
  }
}
const stream = (deltas: object[], context = ask().context) => {
  const translator = createStreamTranslator({ from: chat, to: 'responses', context, now: 1 })
  const frames = [
    ...deltas.map(delta => chunk(delta)),
    chunk({}, 'tool_calls'),
    chunk({}, null, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1 } }),
  ]
  let text = frames.map(frame => translator.push(`data: ${JSON.stringify(frame)}\n\n`)).join('')
  text += translator.push('data: [DONE]\n\n') + translator.end()
  const events = framesOf(text).map(
    ({ wire }) => wire as { type: string; delta?: string; response?: { output: unknown[] } },
  )
  return {
    output: events.find(({ type }) => type === 'response.completed')?.response?.output,
    deltas: events.flatMap(({ type, delta }) =>
      type === 'response.custom_tool_call_input.delta' ? [delta] : [],
    ),
    notes: translator.notes
      .map(({ code, path }) => `${code} ${path}`)
      .filter(note => !note.startsWith('usage')),
  }
}

const taken = { type: 'custom_tool_call', call_id: 'c1', name: 'patch', input: '*** a\n"b"' }
const wrapped = JSON.stringify({ input: taken.input })

describe('a freeform tool', () => {
  test('is written as a custom tool, and its call comes back as one', () => {
    const { wire, notes } = ask()
    expect(wire['tools']).toMatchObject([
      { type: 'custom', custom: { name: 'patch' } },
      { type: 'function', function: { name: 'look' } },
    ])
    expect(notes).toEqual([])
    expect(
      response([{ id: 'c1', type: 'custom', custom: { name: 'patch', input: taken.input } }]),
    ).toMatchObject({ output: [taken], notes: [] })
  })

  test('is unwrapped with a note when the server calls it as a function', () => {
    expect(response([asFunction(wrapped)])).toMatchObject({
      output: [taken],
      notes: ['freeform.as-function /choices/0/message/tool_calls/0'],
    })
  })

  test('gets the arguments unchanged when the server calls it with other arguments', () => {
    const { output, notes } = response([asFunction('{"patch":"x"}')])
    expect(output).toMatchObject([{ ...taken, input: '{"patch":"x"}' }])
    expect(notes).toEqual(['freeform.unwrap-failed /choices/0/message/tool_calls/0'])
  })

  test('does not change functions next to it', () => {
    expect(response([asFunction('{"input":"x"}', 'look')])).toMatchObject({
      output: [{ type: 'function_call', name: 'look', arguments: '{"input":"x"}' }],
      notes: [],
    })
  })

  test.each([1, 3, 100])(
    'is unwrapped in a stream as it arrives, %i characters at a time',
    size => {
      const chunks = wrapped.match(new RegExp(`[\\s\\S]{1,${size}}`, 'g')) ?? []
      const head = {
        index: 0,
        id: 'c1',
        type: 'function',
        function: { name: 'patch', arguments: '' },
      }
      const { output, deltas, notes } = stream([
        { role: 'assistant', content: null, tool_calls: [head] },
        ...chunks.map(part => ({ tool_calls: [{ index: 0, function: { arguments: part } }] })),
      ])
      expect(output).toMatchObject([taken])
      expect(deltas.join('')).toBe(taken.input)
      if (size < 100) expect(deltas.length).toBeGreaterThan(1)
      expect(notes).toEqual(['freeform.as-function /choices/0/message/tool_calls/0'])
    },
  )

  test('comes back under its own name when this protocol refuses the name', () => {
    const { wire, context } = ask({ tools: [{ ...patch, name: 'my.patch' }] })
    const name = (wire['tools'] as { custom: { name: string } }[])[0]?.custom.name ?? ''
    expect(response([asFunction(wrapped, name)], context).output).toMatchObject([
      { ...taken, name: 'my.patch' },
    ])
    expect(
      response([{ id: 'c1', type: 'custom', custom: { name, input: 'x' } }], context).output,
    ).toMatchObject([{ name: 'my.patch', input: 'x' }])
  })

  test('is distinguished from a namespaced function of the same name', () => {
    const { context } = ask({
      tools: [
        { ...patch, name: 'look' },
        { type: 'namespace', name: 'web', tools: [items.tool('look')] },
      ],
    })
    const call = asFunction('{"input":"x"}', 'web__look')
    const expected = {
      output: [
        { type: 'function_call', namespace: 'web', name: 'look', arguments: '{"input":"x"}' },
      ],
      notes: [],
    }
    expect(response([call], context)).toMatchObject(expected)
    expect(
      stream([{ role: 'assistant', tool_calls: [{ index: 0, ...call }] }], context),
    ).toMatchObject(expected)
  })
})

test.each([
  ['openai', 'gpt-5.6', 'custom'],
  ['azure', 'gpt-7', 'custom'],
  ['openai', 'gpt-4.1', 'function'],
  ['deepseek', 'deepseek-v4-flash', 'function'],
  ['vllm', 'm', 'function'],
  ['litellm', 'm', 'function'],
] as const)('%s gets a freeform tool for %s as %s', (vendor, model, type) => {
  const { wire } = ask({ model }, { vendor })
  expect((wire['tools'] as { type: string }[])[0]?.type).toBe(type)
})

describe('by default', () => {
  const options = {}
  const message = items.says({ role: 'user', content: 'hi' }, taken, {
    type: 'custom_tool_call_output',
    call_id: 'c1',
    output: 'done',
  })

  test('writes a freeform tool, its calls and its choice as a function with one string', () => {
    const { wire, notes } = ask(
      { ...message, tool_choice: { type: 'custom', name: 'patch' } },
      options,
    )
    expect(wire['tools']).toMatchObject([
      {
        type: 'function',
        function: {
          name: 'patch',
          description: 'Edits a file.',
          parameters: { required: ['input'], properties: { input: { type: 'string' } } },
        },
      },
      {},
    ])
    expect(JSON.stringify(wire['tools'])).toContain('lark grammar')
    expect(wire['messages']).toMatchObject([
      {},
      {
        tool_calls: [
          { id: 'c1', type: 'function', function: { name: 'patch', arguments: wrapped } },
        ],
      },
      { role: 'tool' },
    ])
    expect(wire['tool_choice']).toEqual({ type: 'function', function: { name: 'patch' } })
    expect(notes).toEqual(['freeform.wrapped /tools/0', 'freeform.wrapped /input/1'])
  })

  test('writes a choice among several tools as a choice of functions', () => {
    const { wire } = ask(
      {
        tool_choice: {
          type: 'allowed_tools',
          mode: 'required',
          tools: [{ type: 'custom', name: 'patch' }],
        },
      },
      options,
    )
    expect(wire['tool_choice']).toMatchObject({
      allowed_tools: { tools: [{ type: 'function', function: { name: 'patch' } }] },
    })
  })

  test('restores a call without a note', () => {
    const { context } = ask({}, options)
    expect(response([asFunction(wrapped)], context)).toMatchObject({ output: [taken], notes: [] })
    expect(
      stream([{ role: 'assistant', tool_calls: [{ index: 0, ...asFunction(wrapped) }] }], context),
    ).toMatchObject({ output: [taken], notes: [] })
  })
})
