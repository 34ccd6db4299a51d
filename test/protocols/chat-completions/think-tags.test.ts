import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { chunk, codes, decodeStream } from './run.ts'

const { decodeRequest, decodeResponse } = chatCompletions
const extractThinkTags = true
const response = (content: string) => ({
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})
const short = (
  parts: readonly { type: string; text?: string; segments?: { text: string }[] }[] = [],
) =>
  parts.map(
    ({ type, text, segments }) =>
      `${type}:${text ?? segments?.map(segment => segment.text).join('|')}`,
  )
const whole = (content: string) =>
  short(
    decodeResponse(response(content), { extractThinkTags }).value.candidates[0]?.messages[0]
      ?.parts as never,
  )
const streamed = (chunks: string[]) => {
  const { events } = decodeStream(
    [...chunks.map(content => chunk({ content })), chunk({}, 'stop'), '[DONE]'],
    { extractThinkTags },
  )
  return short(collect(events).response.candidates[0]?.messages[0]?.parts as never)
}

describe('reasoning between tags in the text of a response', () => {
  test.each<[string, string, string[]]>([
    ['is before the text', '<think>hm</think>yes', ['reasoning:hm', 'text:yes']],
    ['is between texts', 'a<think>hm</think>b', ['text:a', 'reasoning:hm', 'text:b']],
    ['is called a thought', '<thought>hm</thought>yes', ['reasoning:hm', 'text:yes']],
    ['was never ended', '<think>hm', ['reasoning:hm']],
    ['holds no word', '<think></think>yes', ['text:yes']],
    ['is no reasoning: half a tag', 'a<thi', ['text:a<thi']],
    ['is no reasoning: another tag', '<b>a</b>', ['text:<b>a</b>']],
  ])('%s', (_, content, parts) => {
    expect(whole(content)).toEqual(parts)
    expect(streamed([content])).toEqual(parts)
    expect(streamed([...content])).toEqual(parts)
  })

  test.each<[string, string, string[]]>([
    ['where there is any', '<think>a</think>b<think>c</think>d', ['reasoning.think-tags']],
    ['where the tags hold nothing', '<think></think>yes', ['reasoning.think-tags']],
    ['not where there is none', 'a < b', []],
  ])('is noted once, %s, whole and streamed', (_, content, noted) => {
    expect(codes(decodeResponse(response(content), { extractThinkTags }).notes)).toEqual(noted)
    for (const chunks of [[content], [...content]]) {
      const frames = [...chunks.map(content => chunk({ content })), chunk({}, 'stop'), '[DONE]']
      expect(codes(decodeStream(frames, { extractThinkTags }).notes)).toEqual(noted)
    }
  })

  test('is text unless requested otherwise, and always in a message of the user', () => {
    const content = '<think>hm</think>yes'
    expect(
      short(decodeResponse(response(content)).value.candidates[0]?.messages[0]?.parts as never),
    ).toEqual([`text:${content}`])
    const { value } = decodeRequest(
      { messages: [{ role: 'assistant', content }] },
      { extractThinkTags },
    )
    expect(short(value.messages[0]?.parts as never)).toEqual([`text:${content}`])
  })

  test('treats an incomplete tag before a call as text', () => {
    const call = { tool_calls: [{ index: 0, id: 'a', function: { name: 'f', arguments: '{}' } }] }
    const { events } = decodeStream(
      [chunk({ content: 'a<' }), chunk(call), chunk({}, 'tool_calls'), '[DONE]'],
      { extractThinkTags },
    )
    expect(collect(events).response.candidates[0]?.messages[0]?.parts).toMatchObject([
      { text: 'a<' },
      { type: 'tool-call' },
    ])
  })
})
