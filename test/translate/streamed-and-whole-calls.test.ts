import { expect, test } from 'vitest'
import {
  collectStream,
  createStreamTranslator,
  normalizeResponse,
  translateResponse,
} from '../../src/index.ts'

const head = { id: 'c1', created: 1, model: 'm' }
const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
const done = 'data: [DONE]\n\n'

const partsOf = async (frames: string[], to: 'messages' | 'generate-content') => {
  const translator = createStreamTranslator({ from: 'chat-completions', to })
  const out = frames.map(frame => translator.push(frame)).join('') + translator.end()
  const { body } = await collectStream([out], { protocol: to })
  return {
    parts: normalizeResponse(body, { protocol: to }).candidates[0]?.messages[0]?.parts ?? [],
    codes: translator.notes.map(({ code }) => code),
  }
}

test.each(['messages', 'generate-content'] as const)(
  'a call with two JSON objects keeps the first one, streamed and whole, toward %s',
  async to => {
    const two = '{"a":"}"} {"b":2}'
    const opening = { id: 'call_1', type: 'function' }
    const call = (args: string, isFirst = true) => ({
      ...(isFirst && opening),
      function: { ...(isFirst && { name: 'run' }), arguments: args },
    })
    const message = { role: 'assistant', content: null, tool_calls: [call(two)] }
    const response: object = {
      ...head,
      object: 'chat.completion',
      choices: [{ index: 0, message, finish_reason: 'tool_calls' }],
    }
    const whole = translateResponse(response, { from: 'chat-completions', to })
    const [part] =
      normalizeResponse(whole.body, { protocol: to }).candidates[0]?.messages[0]?.parts ?? []
    expect(part).toMatchObject({ type: 'tool-call', input: '{"a":"}"}' })
    expect(whole.notes.map(({ code }) => code)).toContain('stream.trailing-arguments')
    for (const chunks of [[two], [...two]]) {
      const calls = chunks.map((slice, i) =>
        chunk({ tool_calls: [{ index: 0, ...call(slice, i === 0) }] }),
      )
      const { parts, codes } = await partsOf([...calls, chunk({}, 'tool_calls'), done], to)
      expect(parts).toMatchObject([{ type: 'tool-call', input: '{"a":"}"}' }])
      expect(codes).toContain('stream.trailing-arguments')
    }
  },
)

test('a signed thought that a proxy repeats is one block, streamed and whole', async () => {
  const block = { type: 'thinking', thinking: 'hm', signature: 'U0lHTkVE' }
  const repeated = {
    thinking_blocks: [block],
    provider_specific_fields: { thinking_blocks: [block] },
  }
  const message = {
    role: 'assistant',
    content: 'yes',
    reasoning_content: 'hm',
    thinking_blocks: [block, block],
  }
  const response = {
    ...head,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
  }
  const { body } = translateResponse(response, { from: 'chat-completions', to: 'messages' })
  const reasoning = (body as { content: { type: string }[] }).content.filter(
    ({ type }) => type === 'thinking',
  )
  expect(reasoning).toMatchObject([{ thinking: 'hm' }])
  for (const first of [
    { reasoning_content: 'hm' },
    { thinking_blocks: [{ type: 'thinking', thinking: 'hm' }] },
  ]) {
    const { parts } = await partsOf(
      [
        chunk(first),
        chunk({ thinking_blocks: [{ ...block, thinking: '' }] }),
        chunk(repeated),
        chunk({ content: 'yes' }),
        chunk(repeated, 'stop'),
        done,
      ],
      'messages',
    )
    expect(parts.filter(({ type }) => type === 'reasoning')).toHaveLength(1)
    expect(parts).toMatchObject([
      { type: 'reasoning', segments: [{ text: 'hm' }] },
      { type: 'text', text: 'yes' },
    ])
  }
})
