import { chunks, reportedFunction, reportedText } from '../scripted.ts'
import type { Script, Wire } from './index.ts'

const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 12, cache_write_tokens: 0 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
}
const head = {
  id: 'resp_1',
  object: 'response',
  created_at: 1_750_000_000,
  model: 'upstream-model',
  error: null,
  parallel_tool_calls: true,
  tools: [],
  tool_choice: 'auto',
  metadata: {},
}

type ReceivedRequest = {
  tools?: object[]
  text?: { format?: { type: string } }
  reasoning?: object
} & { [key: string]: unknown }

/**
 * What a complete response repeats of its request, with null or the default for what the request
 * leaves out. Nothing without a request.
 */
function repeated(received: unknown): object {
  if (received === undefined) return {}
  const {
    tools = [],
    text,
    reasoning,
    model: _model,
    input: _input,
    stream: _stream,
    include: _include,
    stream_options: _options,
    ...rest
  } = received as ReceivedRequest
  const format = text?.format ?? { type: 'text' }
  return {
    completed_at: null,
    incomplete_details: null,
    instructions: null,
    previous_response_id: null,
    max_output_tokens: null,
    max_tool_calls: null,
    temperature: 1,
    top_p: 1,
    presence_penalty: 0,
    frequency_penalty: 0,
    top_logprobs: 0,
    truncation: 'disabled',
    store: true,
    background: false,
    service_tier: 'default',
    safety_identifier: null,
    prompt_cache_key: null,
    ...rest,
    tools: tools.map(tool => ({ description: null, parameters: null, strict: null, ...tool })),
    text: {
      ...text,
      format:
        format.type === 'json_schema' ? { description: null, strict: false, ...format } : format,
    },
    reasoning: { effort: null, summary: null, ...reasoning },
  }
}

const signature = 'ZW5jcnlwdGVk'

type Item = { id: string; type: string; status?: string; [key: string]: unknown }

function itemsOf({ text, reasoning, calls = [], ending, turn = 1 }: Script): Item[] {
  const status = ending === 'length' ? 'incomplete' : 'completed'
  const part =
    ending === 'refusal'
      ? { type: 'refusal', refusal: text }
      : { type: 'output_text', text, annotations: [], logprobs: [] }
  return [
    ...(reasoning
      ? [
          {
            id: `rs_${turn}`,
            type: 'reasoning',
            summary: [{ type: 'summary_text', text: reasoning }],
            encrypted_content: signature,
          },
        ]
      : []),
    ...(text
      ? [{ id: `msg_${turn}`, type: 'message', role: 'assistant', status, content: [part] }]
      : []),
    ...calls.map(({ id, name, args }) => ({
      id: `fc_${id}`,
      type: 'function_call',
      status,
      call_id: id,
      name,
      arguments: args || '{}',
    })),
  ]
}

const endOf = ({ ending }: Script) =>
  ending === 'length'
    ? { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }
    : { status: 'completed', incomplete_details: null }

export const wire: Wire = {
  path: '/v1/responses',
  response: (script, received) => ({
    ...head,
    ...repeated(received),
    ...endOf(script),
    output: itemsOf(script),
    usage,
  }),
  stream(script, received) {
    const { breaks } = script
    const begun = { ...head, ...repeated(received) }
    const frames: string[] = []
    const send = (type: string, rest: object) =>
      frames.push(
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: frames.length, ...rest })}\n\n`,
      )
    send('response.created', {
      response: { ...begun, status: 'in_progress', output: [], usage: null },
    })
    send('response.in_progress', {
      response: { ...begun, status: 'in_progress', output: [], usage: null },
    })
    itemsOf(script).forEach((item, output_index) => {
      const at = { item_id: item.id, output_index }
      if (item.type === 'reasoning') {
        send('response.output_item.added', {
          output_index,
          item: { id: item.id, type: 'reasoning', summary: [] },
        })
        const place = { ...at, summary_index: 0 }
        const text = script.reasoning ?? ''
        send('response.reasoning_summary_part.added', {
          ...place,
          part: { type: 'summary_text', text: '' },
        })
        for (const delta of chunks(text))
          send('response.reasoning_summary_text.delta', { ...place, delta })
        send('response.reasoning_summary_text.done', { ...place, text })
        send('response.reasoning_summary_part.done', {
          ...place,
          part: { type: 'summary_text', text },
        })
      } else if (item.type === 'message') {
        send('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', content: [] },
        })
        const place = { ...at, content_index: 0 }
        const text = script.text ?? ''
        const kind = script.ending === 'refusal' ? 'refusal' : 'output_text'
        const whole =
          kind === 'refusal'
            ? { type: kind, refusal: text }
            : { type: kind, text, annotations: [], logprobs: [] }
        send('response.content_part.added', {
          ...place,
          part: kind === 'refusal' ? { type: kind, refusal: '' } : { ...whole, text: '' },
        })
        for (const delta of chunks(text))
          send(`response.${kind}.delta`, {
            ...place,
            delta,
            ...(kind === 'output_text' && { logprobs: [] }),
          })
        if (breaks) return
        send(`response.${kind}.done`, {
          ...place,
          [kind === 'refusal' ? 'refusal' : 'text']: text,
          ...(kind === 'output_text' && { logprobs: [] }),
        })
        send('response.content_part.done', { ...place, part: whole })
      } else {
        send('response.output_item.added', {
          output_index,
          item: { ...item, status: 'in_progress', arguments: '' },
        })
        for (const delta of chunks(String(item['arguments'])))
          send('response.function_call_arguments.delta', { ...at, delta })
        send('response.function_call_arguments.done', { ...at, arguments: item['arguments'] })
      }
      send('response.output_item.done', { output_index, item })
    })
    if (breaks === 'error') {
      send('error', {
        error: { type: 'server_error', code: 'server_error', message: 'Broke down', param: null },
      })
      send('response.failed', {
        response: {
          ...begun,
          status: 'failed',
          error: { code: 'server_error', message: 'Broke down' },
          output: [],
          usage: null,
        },
      })
    }
    if (breaks) return frames
    const end = endOf(script)
    send(end.status === 'incomplete' ? 'response.incomplete' : 'response.completed', {
      response: { ...begun, ...end, output: itemsOf(script), usage },
    })
    return frames
  },
  failure: ({ type, message }) => ({ error: { message, type, param: null, code: null } }),
  toolsOf(body) {
    const { tools = [] } = body as {
      tools?: { type: string; name?: string; parameters?: unknown }[]
    }
    return tools.flatMap(({ type, name, parameters }) =>
      name === undefined
        ? []
        : [type === 'custom' ? reportedText(name) : reportedFunction(name, parameters)],
    )
  },
  signature,
  echoed: ['id', 'call_id', 'encrypted_content'],
}
