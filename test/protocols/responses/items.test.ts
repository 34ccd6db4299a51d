import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { JsonObject } from '../../../src/kit/json/json.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { withPointers } from '../../support/pointers.ts'
import { decode, encode, lastResponse } from './support.ts'

const done = { status: 'completed' }

/**
 * Every kind of item that the reference lists, and one that it does not, in the output of a
 * response.
 */
const items: [string, JsonObject][] = [
  [
    'a search of files',
    { type: 'file_search_call', id: 'x', queries: ['q'], results: null, ...done },
  ],
  [
    'a search of the web',
    {
      type: 'web_search_call',
      id: 'x',
      action: { type: 'search', queries: ['q'], sources: [] },
      ...done,
    },
  ],
  [
    'an action on a screen',
    {
      type: 'computer_call',
      id: 'x',
      call_id: 'c',
      actions: [{ type: 'screenshot' }],
      pending_safety_checks: [],
      ...done,
    },
  ],
  [
    'what it gave',
    {
      type: 'computer_call_output',
      id: 'x',
      call_id: 'c',
      output: { type: 'computer_screenshot', file_id: 'f' },
      ...done,
    },
  ],
  [
    'a call of a function',
    {
      type: 'function_call',
      id: 'x',
      call_id: 'c',
      name: 'f',
      namespace: 'n',
      arguments: '{"a":1}',
      async: true,
      ...done,
    },
  ],
  [
    'a call by a program',
    {
      type: 'function_call',
      id: 'x',
      call_id: 'c',
      name: 'f',
      arguments: '',
      caller: { type: 'program', caller_id: 'p' },
      ...done,
    },
  ],
  [
    'what a function gave',
    { type: 'function_call_output', id: 'x', call_id: 'c', output: 'r', ...done },
  ],
  [
    'a call of a custom tool',
    { type: 'custom_tool_call', id: 'x', call_id: 'c', name: 'f', input: '*** raw' },
  ],
  [
    'what it gave, in parts',
    {
      type: 'custom_tool_call_output',
      id: 'x',
      call_id: 'c',
      output: [
        { type: 'input_text', text: 'r' },
        { type: 'input_text', text: 's' },
      ],
      ...done,
    },
  ],
  [
    'a search for tools',
    {
      type: 'tool_search_call',
      id: 'x',
      call_id: 'c',
      arguments: {},
      execution: 'client',
      ...done,
    },
  ],
  [
    'tools that were found',
    { type: 'tool_search_output', id: 'x', call_id: 'c', tools: [], execution: 'server', ...done },
  ],
  [
    'tools that are added',
    {
      type: 'additional_tools',
      id: 'x',
      role: 'developer',
      tools: [{ type: 'function', name: 'f', parameters: null, strict: false }],
    },
  ],
  [
    'another configuration',
    { type: 'configuration_update', id: 'x', reasoning: { effort: 'low' } },
  ],
  [
    'an unreadable summary',
    { type: 'compaction', id: 'x', encrypted_content: 'E', created_by: 'me' },
  ],
  [
    'an image',
    { type: 'image_generation_call', id: 'x', result: 'QQ==', revised_prompt: 'p', ...done },
  ],
  [
    'a run of code',
    {
      type: 'code_interpreter_call',
      id: 'x',
      code: 'x',
      container_id: 'k',
      outputs: [{ type: 'logs', logs: 'l' }],
      ...done,
    },
  ],
  [
    'a local command',
    {
      type: 'local_shell_call',
      id: 'x',
      call_id: 'c',
      action: { type: 'exec', command: ['ls'], env: {} },
      ...done,
    },
  ],
  ['what it gave', { type: 'local_shell_call_output', id: 'x', output: 'r' }],
  [
    'commands of a shell',
    {
      type: 'shell_call',
      id: 'x',
      call_id: 'c',
      action: { commands: ['ls'] },
      environment: { type: 'local' },
      ...done,
    },
  ],
  [
    'what they gave',
    {
      type: 'shell_call_output',
      id: 'x',
      call_id: 'c',
      output: [{ stdout: 's', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      ...done,
    },
  ],
  [
    'a patch',
    {
      type: 'apply_patch_call',
      id: 'x',
      call_id: 'c',
      operation: { type: 'delete_file', path: 'a' },
      ...done,
    },
  ],
  [
    'what it did',
    { type: 'apply_patch_call_output', id: 'x', call_id: 'c', status: 'failed', output: 'no' },
  ],
  [
    'tools of a server',
    { type: 'mcp_list_tools', id: 'x', server_label: 's', tools: [], error: null },
  ],
  [
    'a use of one',
    {
      type: 'mcp_call',
      id: 'x',
      server_label: 's',
      name: 'n',
      arguments: '{}',
      output: null,
      error: { type: 'http_error', code: 5 },
    },
  ],
  [
    'a question for leave',
    { type: 'mcp_approval_request', id: 'x', server_label: 's', name: 'n', arguments: '{}' },
  ],
  [
    'the response',
    {
      type: 'mcp_approval_response',
      id: 'x',
      approval_request_id: 'm',
      approve: true,
      reason: null,
    },
  ],
  ['a program', { type: 'program', id: 'x', call_id: 'c', code: 'x', fingerprint: 'F' }],
  ['what it gave', { type: 'program_output', id: 'x', call_id: 'c', result: 'r', ...done }],
  ['a kind of a vendor', { type: 'slug:thing', id: 'x', ...done, odd: 1 }],
  [
    'reasoning, in short and in full',
    {
      type: 'reasoning',
      id: 'x',
      summary: [{ type: 'summary_text', text: 'a' }],
      content: [{ type: 'reasoning_text', text: 'raw' }],
      encrypted_content: 'E',
      ...done,
    },
  ],
  ['hidden reasoning', { type: 'reasoning', id: 'x', summary: [], encrypted_content: 'E' }],
  [
    'a text with every kind of annotation, and a refusal',
    {
      type: 'message',
      id: 'x',
      role: 'assistant',
      phase: 'commentary',
      ...done,
      content: [
        {
          type: 'output_text',
          text: 'né𝄞',
          annotations: [
            {
              type: 'url_citation',
              start_index: 0,
              end_index: 3,
              title: 't',
              url: 'https://a.org',
            },
            { type: 'file_citation', file_id: 'f', filename: 'n', index: 0 },
            {
              type: 'container_file_citation',
              container_id: 'k',
              file_id: 'f',
              filename: 'n',
              start_index: 0,
              end_index: 1,
            },
            { type: 'file_path', file_id: 'f', index: 0 },
            { type: 'new_kind', odd: 1 },
          ],
          logprobs: [
            {
              token: 'né',
              logprob: -1,
              bytes: [110, 195, 169],
              top_logprobs: [{ token: 'no', logprob: -2, bytes: [110, 111] }],
            },
          ],
        },
        { type: 'refusal', refusal: 'no' },
      ],
    },
  ],
  [
    'a message with content of a request, and of an unknown kind',
    {
      type: 'message',
      id: 'x',
      role: 'assistant',
      ...done,
      content: [
        { type: 'input_image', image_url: 'https://a.org/b.png', detail: 'auto' },
        { type: 'output_text', text: 'b', annotations: [], logprobs: [] },
        { type: 'input_file', file_id: 'f' },
        { type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } },
        { type: 'new_kind', x: 1 },
        { type: 'output_text', text: '', annotations: [], logprobs: [], odd: 1 },
      ],
    },
  ],
]

const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
}

describe.each(items)('%s', (_name, item) => {
  test('is restored in a request', () => {
    const wire = { model: 'm', input: [{ role: 'user', content: 'q' }, item] }
    const { wire: written, notes } = responses.encodeRequest(responses.decodeRequest(wire).value)
    expect(written).toEqual(wire)
    expect(notes).toEqual([])
  })

  test('is restored in a response', () => {
    const wire = { ...response, output: [item] }
    const { wire: written, notes } = responses.encodeResponse(responses.decodeResponse(wire).value)
    expect(written).toEqual(wire)
    expect(notes).toEqual([])
  })

  test('means the same in a stream, and is complete in the last snapshot', () => {
    const wire = { ...response, output: [item] }
    const whole = responses.decodeResponse(wire).value
    const { out } = encode(explode(whole))
    expect(lastResponse(out)).toMatchObject(wire)
    const events = decode(out).out
    expect(checkGrammar(events)).toEqual([])
    const parts = (of: typeof whole) =>
      withPointers(of.candidates).flatMap(({ messages }) =>
        messages.map(one => ({ id: one.id, status: one.status ?? 'completed', parts: one.parts })),
      )
    expect(parts(collect(events).response)).toEqual(parts(whole))
    expect(collect(events).response.candidates[0]?.finish).toEqual(whole.candidates[0]?.finish)
  })
})
