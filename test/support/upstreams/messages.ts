import { chunks, reportedFunction } from '../scripted.ts'
import type { Script, Wire } from './index.ts'

const usage = {
  input_tokens: 8,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 12,
  output_tokens: 9,
  service_tier: 'standard',
}
const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'upstream-model' }

const signature = 'c2lnbmF0dXJl'

const stopOf = ({ ending, calls }: Script) => {
  if (ending === 'length') return 'max_tokens'
  if (ending === 'refusal') return 'refusal'
  if (calls) return 'tool_use'
  return 'end_turn'
}

export const wire: Wire = {
  path: '/v1/messages',
  response(script) {
    const { text, reasoning, calls = [] } = script
    const content = [
      ...(reasoning ? [{ type: 'thinking', thinking: reasoning, signature }] : []),
      ...(text ? [{ type: 'text', text }] : []),
      ...calls.map(({ id, name, args }) => ({
        type: 'tool_use',
        id,
        name,
        input: JSON.parse(args || '{}') as unknown,
      })),
    ]
    return { ...head, content, stop_reason: stopOf(script), stop_sequence: null, usage }
  },
  stream(script) {
    const { text = '', reasoning = '', calls = [], breaks } = script
    const frame = (type: string, rest: object = {}) =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
    const frames = [
      frame('message_start', {
        message: {
          ...head,
          content: [],
          stop_reason: null,
          stop_sequence: null,
          usage: { ...usage, output_tokens: 1 },
        },
      }),
      frame('ping'),
    ]
    let index = 0
    const block = (content_block: object, deltas: object[]) => {
      frames.push(frame('content_block_start', { index, content_block }))
      for (const delta of deltas) frames.push(frame('content_block_delta', { index, delta }))
      if (!breaks) frames.push(frame('content_block_stop', { index }))
      index++
    }
    if (reasoning)
      block({ type: 'thinking', thinking: '', signature: '' }, [
        ...chunks(reasoning).map(thinking => ({ type: 'thinking_delta', thinking })),
        { type: 'signature_delta', signature },
      ])
    if (text)
      block(
        { type: 'text', text: '' },
        chunks(text).map(chunk => ({ type: 'text_delta', text: chunk })),
      )
    for (const { id, name, args } of calls)
      block(
        { type: 'tool_use', id, name, input: {} },
        ['', ...chunks(args)].map(partial_json => ({ type: 'input_json_delta', partial_json })),
      )
    if (breaks === 'cut') return frames
    if (breaks === 'error')
      return [...frames, frame('error', { error: { type: 'api_error', message: 'Broke down' } })]
    return [
      ...frames,
      frame('message_delta', {
        delta: { stop_reason: stopOf(script), stop_sequence: null },
        usage: { output_tokens: 9 },
      }),
      frame('message_stop'),
    ]
  },
  failure: ({ type, message }) => ({
    type: 'error',
    error: { type: type === 'server_error' ? 'api_error' : type, message },
    request_id: 'req_1',
  }),
  toolsOf(body) {
    const { tools = [] } = body as { tools?: { name: string; input_schema?: unknown }[] }
    return tools.map(({ name, input_schema: schema }) => reportedFunction(name, schema))
  },
  signature,
  echoed: ['id', 'signature'],
}
