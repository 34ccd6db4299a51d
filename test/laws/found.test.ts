import { describe, expect, test } from 'vitest'
import { collect } from '../../src/canonical/collect.ts'
import { explode } from '../../src/canonical/explode.ts'
import type { Protocol } from '../../src/protocol.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { decodeStream, encodeStream } from '../../src/testing/streams.ts'
import { cross, type Kind } from '../support/cross.ts'
import { falsehoodOf } from '../support/falsehood.ts'
import { lossOf } from '../support/loss.ts'

/** What new seeds of the properties found once, kept so that every run tests it. */

type Row = {
  what: string
  kind: Kind
  from: ProtocolName
  to: ProtocolName
  wire: unknown
  pick?: number
}
const pairOf = ({ from, to }: Row): { from: Protocol; to: Protocol } => ({
  from: protocols[from],
  to: protocols[to],
})

describe('the same JSON, and nothing is noted', () => {
  test.each<Row>([
    {
      what: 'reasoning that is an id alone, without a store',
      kind: 'request',
      from: 'responses',
      to: 'responses',
      wire: { input: [{ type: 'reasoning', id: 'rs_1' }], store: false },
    },
  ])('$what', row => {
    const crossed = cross(row.kind, row.wire, pairOf(row).from, pairOf(row).to)
    expect(canonicalJson(crossed?.wire)).toBe(canonicalJson(row.wire))
    expect(crossed?.notes).toEqual([])
  })
})

test('keeps nested tool namespaces unchanged, and notes them for other protocols', () => {
  const tools = [
    {
      type: 'namespace',
      name: 'outer',
      description: '',
      tools: [{ type: 'namespace', name: 'inner' }],
    },
  ]
  const wire = { input: 'x', tools }
  expect(cross('request', wire, protocols.responses, protocols.responses)?.wire).toEqual(wire)
  expect(
    cross('request', wire, protocols.responses, protocols.messages)?.notes.map(({ path }) => path),
  ).toContain('/tools/0')
})

const point = { type: 'object', properties: { x: { type: 'number' } } }

describe('notes are true', () => {
  test.each<Row>([
    {
      what: 'a response whose objects are closed: a schema without a media type',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [{ parts: [{ text: 'x' }] }],
        generationConfig: { maxOutputTokens: 9, responseSchema: point },
      },
    },
    {
      what: 'a response whose objects are closed: a schema of the newer language',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [{ parts: [{ text: 'x' }] }],
        generationConfig: {
          maxOutputTokens: 9,
          responseMimeType: 'application/json',
          responseJsonSchema: point,
        },
      },
    },
    {
      what: 'a response whose objects are closed: a schema in a format of its own',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [{ parts: [{ text: 'x' }] }],
        generationConfig: {
          maxOutputTokens: 9,
          responseFormat: { text: { mimeType: 'APPLICATION_JSON', schema: point } },
        },
      },
    },
    {
      what: 'a response whose objects are closed: a schema in a format that is a list',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [{ parts: [{ text: 'x' }] }],
        generationConfig: {
          maxOutputTokens: 9,
          responseFormat: [{ text: { mimeType: 'APPLICATION_JSON', schema: point } }],
        },
      },
    },
    {
      what: 'a response whose objects are closed: a schema in words with underscores',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [{ parts: [{ text: 'x' }] }],
        generation_config: { maxOutputTokens: 9, response_schema: point },
      },
    },
    {
      what: 'an unknown way of thinking, next to a known one',
      kind: 'request',
      from: 'chat-completions',
      to: 'responses',
      wire: { messages: [], thinking: { type: 'novel' }, enable_thinking: false },
      pick: 0,
    },
    {
      what: 'a choice where there is no tool, beside a word on parallel calls',
      kind: 'request',
      from: 'messages',
      to: 'responses',
      wire: {
        max_tokens: 99,
        messages: [],
        tool_choice: { type: 'any', disable_parallel_tool_use: true },
      },
    },
    {
      what: 'an unknown effort, next to a switch that is off',
      kind: 'request',
      from: 'chat-completions',
      to: 'generate-content',
      wire: {
        messages: [{ role: 'user', content: 'x' }],
        reasoning_effort: 'novel',
        enable_thinking: false,
      },
      pick: 1,
    },
    {
      what: 'a synthesized type for an image in a search result',
      kind: 'request',
      from: 'messages',
      to: 'chat-completions',
      wire: {
        max_tokens: 4,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'search_result',
                source: 's',
                title: 't',
                content: [{ type: 'image', source: { type: 'base64', data: 'JVBERi0=' } }],
              },
            ],
          },
        ],
      },
      pick: 1,
    },
    {
      what: 'a key of a document in a search result that bears a mark',
      kind: 'request',
      from: 'messages',
      to: 'responses',
      wire: {
        max_tokens: 40,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'search_result',
                source: 's',
                title: 't',
                content: [
                  { type: 'document', source: { type: 'content', content: 'abc' }, novel: 1 },
                ],
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
        ],
      },
      pick: 1,
    },
    {
      what: 'a key of an unknown namespace',
      kind: 'request',
      from: 'responses',
      to: 'chat-completions',
      wire: {
        input: 'x',
        tools: [
          {
            type: 'namespace',
            name: 'n',
            novel: 1,
            tools: [{ type: 'function', name: 'a', parameters: {}, strict: false }],
          },
        ],
      },
      pick: 0,
    },
    {
      what: 'the name of a result without an id, which belongs to none of the calls',
      kind: 'request',
      from: 'responses',
      to: 'messages',
      wire: {
        input: [
          { type: 'custom_tool_call', call_id: 'c1', name: 'look', input: 'a' },
          { type: 'custom_tool_call_output', name: 'run', output: 'b' },
        ],
      },
      pick: 0,
    },
    {
      what: 'the mark of an empty search result that the assistant shows',
      kind: 'request',
      from: 'messages',
      to: 'responses',
      wire: {
        max_tokens: 40,
        messages: [
          {
            role: 'assistant',
            content: [
              {
                type: 'search_result',
                source: 's',
                title: 't',
                content: [],
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
        ],
      },
      pick: 1,
    },
    {
      what: 'the phase of a message without words',
      kind: 'response',
      from: 'responses',
      to: 'chat-completions',
      wire: {
        id: 'resp_1',
        created_at: 1,
        model: 'm',
        status: 'completed',
        output: [{ type: 'message', role: 'assistant', content: '', phase: 'commentary' }],
      },
      pick: 0,
    },
    {
      what: 'a blank stop sequence among others',
      kind: 'request',
      from: 'chat-completions',
      to: 'messages',
      wire: { messages: [], max_tokens: 4, stop: ['', 'END'] },
      pick: 0,
    },
    {
      what: 'thinking without an amount beside a forced tool',
      kind: 'request',
      from: 'chat-completions',
      to: 'messages',
      wire: {
        messages: [],
        function_call: { name: 'lookup' },
        functions: [{ name: 'lookup' }],
        max_completion_tokens: 0,
        enable_thinking: true,
      },
      pick: 0,
    },
    {
      what: 'the id of a result without its call, which no server takes as it is',
      kind: 'request',
      from: 'responses',
      to: 'messages',
      wire: { input: [{ type: 'function_call_output', call_id: 'with space', output: 'done' }] },
      pick: 0,
    },
  ])('$what', row =>
    expect(falsehoodOf(row.kind, row.wire, row.pick ?? 0, pairOf(row))).toBeUndefined(),
  )
})

describe('nothing is dropped without a note', () => {
  test.each<Row>([
    {
      what: 'an image whose bytes are written with percent signs, which other wires write as base64',
      kind: 'request',
      from: 'chat-completions',
      to: 'messages',
      wire: {
        messages: [
          { role: 'user', content: [{ type: 'image_url', image_url: 'data:image/gif,GIF89a%00' }] },
        ],
      },
    },
    {
      what: 'a budget of what is off',
      kind: 'request',
      from: 'chat-completions',
      to: 'messages',
      wire: { messages: [{ role: 'user' }], reasoning_effort: 'none', thinking_budget: 700 },
      pick: 2,
    },
    {
      what: 'on or off, beside the effort none',
      kind: 'request',
      from: 'chat-completions',
      to: 'responses',
      wire: { messages: [], reasoning_effort: 'none', enable_thinking: true },
    },
    {
      what: 'a choice among tools of which none gets across',
      kind: 'request',
      from: 'chat-completions',
      to: 'responses',
      wire: { messages: [], tools: [{ type: 'novel' }], tool_choice: 'none' },
    },
    {
      what: 'that nothing was a thought',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: { contents: [{ role: 'model', parts: [{ text: 'a' }, { text: '', thought: true }] }] },
    },
    ...(['responses', 'generate-content'] as const).map(to => ({
      what: `text with the type of an image, for ${to}`,
      kind: 'request' as const,
      from: 'messages' as const,
      to,
      wire: {
        max_tokens: 40,
        messages: [
          {
            role: 'user',
            content: [
              { type: 'document', source: { type: 'text', media_type: 'image/jpeg', data: 'abc' } },
            ],
          },
        ],
      },
    })),
    {
      what: 'data that is written as a URL in upper case',
      kind: 'request',
      from: 'messages',
      to: 'responses',
      wire: {
        max_tokens: 40,
        messages: [
          {
            role: 'user',
            content: [
              {
                type: 'document',
                source: { type: 'url', url: 'DATA:application/pdf;base64,JVBERi0=' },
              },
            ],
          },
        ],
      },
    },
    {
      what: 'probabilities of an empty text',
      kind: 'response',
      from: 'chat-completions',
      to: 'responses',
      wire: {
        choices: [
          {
            message: { content: '' },
            logprobs: { content: [{ token: 'a', logprob: -0.5, bytes: [97], top_logprobs: [] }] },
            finish_reason: 'stop',
          },
        ],
      },
    },
    {
      what: 'the first of two recordings in one response',
      kind: 'response',
      from: 'responses',
      to: 'chat-completions',
      wire: {
        id: 'resp_1',
        created_at: 0,
        output: [
          {
            role: 'user',
            content: [
              { type: 'input_audio', input_audio: { data: 'iVBORw0=', format: 'wav' } },
              { type: 'input_audio', input_audio: { data: 'JVBERi0=', format: 'wav' } },
            ],
          },
        ],
      },
    },
    {
      what: 'the function that the older field chooses where there is none',
      kind: 'request',
      from: 'chat-completions',
      to: 'responses',
      wire: { messages: [], function_call: { name: 'look' } },
    },
    {
      what: 'a schema beside the format of plain text',
      kind: 'request',
      from: 'chat-completions',
      to: 'messages',
      wire: {
        messages: [],
        response_format: { type: 'text', json_schema: { schema: { title: 't' } } },
      },
    },
    {
      what: 'the tool that is chosen where there is none',
      kind: 'request',
      from: 'messages',
      to: 'responses',
      wire: {
        max_tokens: 99,
        messages: [],
        tool_choice: { type: 'tool', name: 'look', disable_parallel_tool_use: true },
      },
    },
    {
      what: 'the signature of a result that is among the instructions',
      kind: 'request',
      from: 'generate-content',
      to: 'messages',
      wire: {
        contents: [
          {
            role: 'system',
            parts: [{ thoughtSignature: 'c2lnbmF0dXJl', functionResponse: { name: 'look' } }],
          },
        ],
      },
    },
    {
      what: 'the id, status and phase of an instruction without text',
      kind: 'request',
      from: 'responses',
      to: 'chat-completions',
      wire: {
        input: [
          { role: 'user', content: 'q' },
          {
            type: 'message',
            role: 'system',
            id: 'msg_1',
            status: 'incomplete',
            phase: 'commentary',
            content: [],
          },
        ],
      },
    },
  ])('$what', row => {
    for (let pick = 0; pick < 12; pick++)
      expect(lossOf(row.kind, row.wire, pick, pairOf(row))).toBeUndefined()
  })
})

describe('a response that is streamed and collected is the one that is written as a whole', () => {
  test.each<Row>([
    {
      what: 'the signature of an invalid image',
      kind: 'response',
      from: 'generate-content',
      to: 'responses',
      wire: {
        candidates: [
          {
            content: {
              parts: [
                {
                  inlineData: { mimeType: 'image/png', data: 'no base64' },
                  thoughtSignature: 'c2lnbmF0dXJl',
                },
              ],
            },
            finishReason: 'STOP',
          },
        ],
      },
    },
    {
      what: 'a search result without text before an image',
      kind: 'response',
      from: 'messages',
      to: 'generate-content',
      wire: {
        content: [
          {
            type: 'document',
            source: {
              type: 'content',
              content: [
                { type: 'search_result', source: '', title: '', content: [] },
                {
                  type: 'image',
                  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0=' },
                },
              ],
            },
          },
        ],
        stop_reason: 'end_turn',
      },
    },
  ])('$what', row => {
    const { from, to } = pairOf(row)
    const { value } = from.decodeResponse(row.wire)
    const { response } = collect(
      decodeStream(to, encodeStream(to, explode(value), { fieldNames: from.fieldNames }).wires),
    )
    expect(canonicalJson(to.encodeResponse(response).wire)).toBe(
      canonicalJson(to.encodeResponse(value, { fieldNames: from.fieldNames }).wire),
    )
  })
})

describe('written bodies survive their own codecs', () => {
  test.each<Row>([
    {
      what: 'two calls with one id, and reasoning after them',
      kind: 'response',
      from: 'messages',
      to: 'chat-completions',
      wire: {
        content: [
          { type: 'tool_use', id: 'call_c', name: 'lookup' },
          { type: 'tool_use', id: 'call_c', name: 'run' },
          { type: 'redacted_thinking', data: 'iVBORw0=' },
        ],
        stop_reason: 'tool_use',
      },
    },
    {
      what: 'a text that is cited, behind a refusal',
      kind: 'response',
      from: 'chat-completions',
      to: 'generate-content',
      wire: {
        choices: [
          {
            message: {
              content: [
                { type: 'refusal', refusal: 'no' },
                { type: 'text', text: 'über' },
              ],
              annotations: [
                {
                  type: 'url_citation',
                  url_citation: {
                    start_index: 0,
                    end_index: 1,
                    title: 't',
                    url: 'https://example.org',
                  },
                },
              ],
            },
            finish_reason: 'stop',
          },
        ],
      },
    },
  ])('$what', row => {
    const { from, to } = pairOf(row)
    const there = cross(row.kind, row.wire, from, to)
    const again = there && cross(row.kind, there.wire, to, to)
    expect(canonicalJson(again?.wire)).toBe(canonicalJson(there?.wire))
    expect(again?.notes).toEqual([])
  })
})
