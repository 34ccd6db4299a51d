import { describe, expect, test } from 'vitest'
import { toolCallsOf } from '../../../src/canonical/read.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'

const answer = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
})

describe('a legacy function call', () => {
  test('with a name is a tool call', () => {
    const { value } = chatCompletions.decodeResponse(answer({ content: null, function_call: { name: 'f', arguments: '{}' } }))
    expect(toolCallsOf(value)).toMatchObject([{ name: 'f', input: '{}' }])
  })

  test('without a name, which some servers put beside every text, is none; the same protocol still writes it', () => {
    const wire = answer({ content: 'hi', function_call: { name: '', arguments: '' } })
    const { value } = chatCompletions.decodeResponse(wire)
    expect(toolCallsOf(value)).toEqual([])
    expect(value.candidates[0]?.finish?.reason).toBe('stop')
    expect(chatCompletions.encodeResponse(value)).toMatchObject({ wire, notes: [] })
  })
})
