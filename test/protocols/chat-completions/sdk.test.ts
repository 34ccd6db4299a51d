import OpenAI from 'openai'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { explode } from '../../../src/canonical/explode.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { FinishReason } from '../../../src/canonical/response.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { decodeStream, encodeStream } from './run.ts'

/** The official client reading a stream. */
function accumulate(text: string) {
  const fetch = async () => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
  const client = new OpenAI({
    apiKey: 'none',
    baseURL: 'http://localhost/v1',
    maxRetries: 0,
    fetch,
  })
  const stream = client.chat.completions.stream({
    model: 'm',
    messages: [],
    n: 4,
    stream_options: { include_usage: true },
  })
  const done: string[] = []
  stream.on('tool_calls.function.arguments.done', ({ arguments: input }) => done.push(input))
  return { final: stream.finalChatCompletion(), done }
}

function response(parts: Part[], reason: FinishReason = 'stop'): CanonicalEvent[] {
  return explode({
    id: 'r1',
    model: 'm',
    createdAt: 7,
    candidates: [
      { index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish: { reason } },
    ],
    usage: { input: 12, output: 8, cacheRead: 4, reasoning: 3 },
  })
}

const call = (id: string, input: string, name = 'lookup'): Part => ({
  type: 'tool-call',
  id,
  name,
  kind: 'function',
  input,
})

describe('the official client receives', () => {
  test('text and usage', async () => {
    const { final } = accumulate(encodeStream(response([{ type: 'text', text: 'Hello' }])).text)
    expect(await final).toMatchObject({
      id: 'r1',
      created: 7,
      choices: [
        { index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } },
      ],
      usage: {
        prompt_tokens: 12,
        completion_tokens: 8,
        total_tokens: 20,
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      },
    })
  })

  test('a call that comes first, without a text', async () => {
    const { text, frames } = encodeStream(response([call('call_a', '{"q":"x"}')], 'tool_calls'))
    expect(frames[0]).toMatchObject({
      choices: [
        {
          delta: {
            role: 'assistant',
            content: null,
            tool_calls: [{ index: 0, id: 'call_a', type: 'function' }],
          },
        },
      ],
    })
    const { message, finish_reason } = (await accumulate(text).final)
      .choices[0] as OpenAI.Chat.ChatCompletion.Choice
    expect(finish_reason).toBe('tool_calls')
    expect(message).toMatchObject({
      content: null,
      tool_calls: [
        { id: 'call_a', type: 'function', function: { name: 'lookup', arguments: '{"q":"x"}' } },
      ],
    })
  })

  test('a call without arguments as one with an empty object', async () => {
    const { text, notes } = encodeStream(response([call('call_a', '')], 'tool_calls'))
    expect(notes.map(({ code }) => code)).toEqual(['tool-call.empty-input'])
    expect((await accumulate(text).final).choices[0]?.message.tool_calls).toMatchObject([
      { function: { arguments: '{}' } },
    ])
  })

  test('interleaved calls one after the other, each done once and whole', async () => {
    const start = (part: number): CanonicalEvent => ({
      type: 'part.start',
      candidate: 0,
      message: 0,
      part,
      head: call(`call_${part}`, ''),
    })
    const input = (part: number, text: string): CanonicalEvent => ({
      type: 'part.delta',
      candidate: 0,
      part,
      delta: { kind: 'input', text },
    })
    const end = (part: number): CanonicalEvent => ({ type: 'part.end', candidate: 0, part })
    const { text } = encodeStream([
      { type: 'start', id: 'r1', model: 'm' },
      { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
      start(0),
      start(1),
      input(0, '{"x"'),
      input(1, '{"y":2'),
      input(0, ':1}'),
      input(1, '}'),
      end(0),
      end(1),
      { type: 'message.end', candidate: 0, message: 0 },
      { type: 'finish', candidate: 0, finish: { reason: 'tool_calls' } },
      { type: 'end', clean: true },
    ])
    const { final, done } = accumulate(text)
    expect((await final).choices[0]?.message.tool_calls).toMatchObject([
      { function: { arguments: '{"x":1}' } },
      { function: { arguments: '{"y":2}' } },
    ])
    expect(done).toEqual(['{"x":1}', '{"y":2}'])
  })

  test('several candidates', async () => {
    const candidate = (index: number) => ({
      index,
      messages: [
        {
          role: 'assistant' as const,
          origin: 'message' as const,
          parts: [{ type: 'text' as const, text: `${index}` }],
        },
      ],
      finish: { reason: 'stop' as const },
    })
    const { final } = accumulate(
      encodeStream(explode({ id: 'r', model: 'm', candidates: [candidate(0), candidate(1)] })).text,
    )
    expect((await final).choices.map(({ message }) => message.content)).toEqual(['0', '1'])
  })

  test('reasoning details whole, and gives them back so that the signature survives', async () => {
    const reasoning: Part = {
      type: 'reasoning',
      segments: [{ kind: 'summary', text: 'abc' }],
      signature: { value: 'S1', issuer: 'messages', model: 'm', form: 'thinking' },
    }
    const { text, frames } = encodeStream(response([reasoning, call('t1', '{}')], 'tool_calls'))
    const deltas = frames.flatMap(
      frame =>
        (frame as { choices?: { delta: object }[] }).choices?.map(({ delta }) =>
          Object.keys(delta).join(),
        ) ?? [],
    )
    expect(deltas).toEqual([
      'role,content',
      'reasoning_content',
      'tool_calls',
      'tool_calls',
      'reasoning_details',
      '',
    ])
    const { message } = (await accumulate(text).final)
      .choices[0] as OpenAI.Chat.ChatCompletion.Choice
    const { value } = chatCompletions.decodeRequest({
      model: 'm',
      messages: [message, { role: 'tool', tool_call_id: 't1', content: 'ok' }],
    })
    expect(value.messages[0]?.parts).toMatchObject([
      reasoning,
      { type: 'tool-call', id: 't1', input: '{}' },
    ])
  })

  test('the order of signed parts, and sends it back', async () => {
    const thinking = (text: string, value: string): Part => ({
      type: 'reasoning',
      segments: [{ kind: 'summary', text }],
      signature: { value, issuer: 'messages', form: 'thinking' },
    })
    const parts = [
      thinking('a', 'S1'),
      { type: 'text', text: 'Let me see.' },
      thinking('b', 'S2'),
      call('t1', '{}'),
    ] as Part[]
    const { message } = (await accumulate(encodeStream(response(parts, 'tool_calls')).text).final)
      .choices[0] as OpenAI.Chat.ChatCompletion.Choice
    const { value, notes } = chatCompletions.decodeRequest({ model: 'm', messages: [message] })
    expect(notes).toEqual([])
    expect(value.messages[0]?.parts).toMatchObject(parts)
    const whole = chatCompletions.encodeResponse({
      id: 'r',
      model: 'm',
      createdAt: 1,
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant', origin: 'message', parts }],
          finish: { reason: 'tool_calls' },
        },
      ],
    })
    const echoed = (whole.wire as OpenAI.Chat.ChatCompletion).choices[0]?.message
    expect(
      chatCompletions.decodeRequest({ messages: [echoed] }).value.messages[0]?.parts,
    ).toMatchObject(parts)
  })

  test('an error as an error, also when the source stopped early', async () => {
    const whole = response([{ type: 'text', text: 'Hello' }])
    await expect(accumulate(encodeStream(whole.slice(0, 4)).text).final).rejects.toThrow(
      'upstream stream ended early',
    )
    const failed: CanonicalEvent[] = [
      ...whole.slice(0, 4),
      { type: 'error', error: { status: 529, kind: 'overloaded', message: 'Overloaded' } },
      { type: 'end', clean: false },
    ]
    await expect(accumulate(encodeStream(failed).text).final).rejects.toThrow('Overloaded')
  })

  test('calls that a server sent without index, type, role or finish reason', async () => {
    const frames = [
      {
        id: 'x',
        model: 'm',
        choices: [
          {
            index: 0,
            delta: {
              tool_calls: [
                { id: 'a1', function: { name: 'f', arguments: '{"a":1}' } },
                { id: 'a2', function: { name: 'f', arguments: { b: 2 } } },
              ],
            },
          },
        ],
      },
      { id: 'x', model: 'm', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      '[DONE]',
    ]
    const { message, finish_reason } = (
      await accumulate(encodeStream(decodeStream(frames).events).text).final
    ).choices[0] as OpenAI.Chat.ChatCompletion.Choice
    expect(message.tool_calls).toMatchObject([
      { id: 'a1', function: { arguments: '{"a":1}' } },
      { id: 'a2', function: { arguments: '{"b":2}' } },
    ])
    expect(finish_reason).toBe('stop')
  })
})
