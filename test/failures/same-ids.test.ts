import { describe, expect, test } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { translateRequest } from '../support/untyped.ts'

type Call = { id: string; input: string }
type Answer = { id: string; output: string }

/** A conversation with turns of calls, and the answers behind each turn. */
const asking: Record<
  'chat-completions' | 'responses' | 'messages',
  (turns: [Call[], Answer[]][]) => object
> = {
  'chat-completions': turns => ({
    model: 'm',
    messages: [
      { role: 'user', content: 'hi' },
      ...turns.flatMap(([calls, answers]) => [
        {
          role: 'assistant',
          content: null,
          tool_calls: calls.map(({ id, input }) => ({
            id,
            type: 'function',
            function: { name: 'find', arguments: input },
          })),
        },
        ...answers.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output })),
      ]),
    ],
  }),
  responses: turns => ({
    model: 'm',
    input: [
      { role: 'user', content: 'hi' },
      ...turns.flatMap(([calls, answers]) => [
        ...calls.map(({ id, input }) => ({
          type: 'function_call',
          call_id: id,
          name: 'find',
          arguments: input,
        })),
        ...answers.map(({ id, output }) => ({
          type: 'function_call_output',
          call_id: id,
          output,
        })),
      ]),
    ],
  }),
  messages: turns => ({
    model: 'm',
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'hi' },
      ...turns.flatMap(([calls, answers]) => [
        {
          role: 'assistant',
          content: calls.map(({ id, input }) => ({
            type: 'tool_use',
            id,
            name: 'find',
            input: JSON.parse(input),
          })),
        },
        {
          role: 'user',
          content: answers.map(({ id, output }) => ({
            type: 'tool_result',
            tool_use_id: id,
            content: output,
          })),
        },
      ]),
    ],
  }),
}

const pairs = (['chat-completions', 'responses', 'messages'] as const).flatMap(from =>
  covered.filter(to => to !== from).map(to => ({ from, to })),
)

describe.each(pairs)('calls with one id $from → $to', ({ from, to }) => {
  const written = (turns: [Call[], Answer[]][]) => {
    const { body } = translateRequest(asking[from](turns), { from, to: to as Covered, model: 'm' })
    expect(strictOf(to).checkRequest(body)).toEqual([])
    const parts = protocols[to].decodeRequest(body).value.messages.flatMap(one => one.parts)
    const calls = parts.flatMap(part => (part.type === 'tool-call' ? [part] : []))
    const results = parts.flatMap(part => (part.type === 'tool-result' ? [part] : []))
    return { calls, results }
  }
  const one = { id: 'c1', input: '{"q":1}' }
  const other = { id: 'c1', input: '{"q":2}' }

  test('in one turn get an id each, and keep their results', () => {
    const { calls, results } = written([
      [
        [one, other],
        [
          { id: 'c1', output: 'first' },
          { id: 'c1', output: 'second' },
        ],
      ],
    ])
    expect(calls.map(({ input }) => JSON.parse(input))).toEqual([{ q: 1 }, { q: 2 }])
    expect(new Set(calls.map(({ id }) => id)).size).toBe(2)
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
    expect(JSON.stringify(results)).toMatch(/first.*second/)
  })

  test('in two turns are told apart where the target needs it', () => {
    const { calls, results } = written([
      [[one], [{ id: 'c1', output: 'first' }]],
      [[other], [{ id: 'c1', output: 'second' }]],
    ])
    expect(calls).toHaveLength(2)
    expect(results.map(({ callId }) => callId)).toEqual(calls.map(({ id }) => id))
  })
})
