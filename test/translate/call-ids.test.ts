import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { ToolCallPart } from '../../src/canonical/message.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { decodeStream, encodeStream, framesOf } from '../../src/testing/streams.ts'
import { translateResponse } from '../support/untyped.ts'

const call = (id: string, input: string): ToolCallPart => ({
  type: 'tool-call',
  kind: 'function',
  id,
  name: 'look',
  input,
})

/** As each protocol sends two calls without an id. */
const bodies: Partial<Record<ProtocolName, object>> = {
  'chat-completions': {
    id: 'r',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [
      {
        index: 0,
        finish_reason: 'tool_calls',
        message: {
          role: 'assistant',
          content: null,
          tool_calls: ['{"a":1}', '{"a":2}'].map(text => ({
            id: '',
            type: 'function',
            function: { name: 'look', arguments: text },
          })),
        },
      },
    ],
  },
  responses: {
    id: 'r',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: ['{"a":1}', '{"a":2}'].map((text, i) => ({
      id: `fc_${i}`,
      type: 'function_call',
      call_id: '',
      name: 'look',
      arguments: text,
      status: 'completed',
    })),
  },
  messages: {
    id: 'r',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [{ a: 1 }, { a: 2 }].map(input => ({ type: 'tool_use', id: '', name: 'look', input })),
    stop_reason: 'tool_use',
    usage: { input_tokens: 1, output_tokens: 1 },
  },
  converse: {
    output: {
      message: {
        role: 'assistant',
        content: [{ a: 1 }, { a: 2 }].map(input => ({
          toolUse: { toolUseId: '', name: 'look', input },
        })),
      },
    },
    stopReason: 'tool_use',
    usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
  },
  'generate-content': {
    responseId: 'r',
    candidates: [
      {
        content: {
          role: 'model',
          parts: [{ a: 1 }, { a: 2 }].map(args => ({
            functionCall: { id: '', name: 'look', args },
          })),
        },
        finishReason: 'STOP',
      },
    ],
  },
}

const idsIn = ({ candidates }: CanonicalResponse) =>
  candidates.flatMap(({ messages }) =>
    messages.flatMap(({ parts }) =>
      parts.flatMap(part => (part.type === 'tool-call' ? part.id : [])),
    ),
  )

describe.each(pairs)('two calls without an id, $name', ({ from, to }) => {
  const names = { from: from.name as ProtocolName, to: to.name as ProtocolName }
  const body = bodies[names.from]

  test('get an id each, complete and as a stream', () => {
    const whole = translateResponse(body, names).body
    const ids = idsIn(to.decodeResponse(whole).value)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
    expect(ids.every(Boolean)).toBe(true)
    const finish = { reason: 'tool_calls' } as const
    const message = {
      role: 'assistant',
      origin: 'message',
      parts: [call('firstcall', '{"a":1}'), call('secondcall', '{"a":2}')],
    } as const
    const value = { id: 'r', candidates: [{ index: 0, messages: [message], finish }] }
    // Encoders write no empty id.
    const stream = encodeStream(protocols[names.from], explode(value as never)).text.replaceAll(
      /firstcall|secondcall/g,
      '',
    )
    const translator = createStreamTranslator(names)
    const text = translator.push(stream) + translator.end()
    const wires = framesOf(text).map(({ wire }) => wire)
    const streamed = idsIn(collect(decodeStream(to, wires)).response)
    expect(new Set(streamed).size).toBe(2)
    expect(streamed.every(Boolean)).toBe(true)
  })
})
