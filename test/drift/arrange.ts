import { isObject, type JsonObject } from '../../src/kit/json/json.ts'
import type { Kind } from './judge.ts'
import type { Site } from './walk.ts'

/**
 * `question`: another turn of the user. `toolsIn`: the object that holds the tools, if it is not
 * the body.
 */
type List = {
  key: string
  call(item: JsonObject): JsonObject | undefined
  tool: JsonObject
  question: JsonObject
  toolsIn?: string
}

const question = { role: 'user', content: 'a' }

/**
 * Where requests of a protocol have their conversation, the call that a tool result belongs to, and
 * a tool to choose.
 */
const conversations: Record<string, List> = {
  'chat-completions': {
    key: 'messages',
    call: ({ role, tool_call_id: id }) =>
      role === 'tool'
        ? {
            role: 'assistant',
            content: null,
            tool_calls: [{ type: 'function', id, function: { name: 'f', arguments: '{}' } }],
          }
        : undefined,
    tool: {
      type: 'function',
      function: { name: 'f', parameters: { type: 'object', properties: {} } },
    },
    question,
  },
  responses: {
    key: 'input',
    call: ({ type, call_id: id }) => {
      if (type === 'function_call_output')
        return { type: 'function_call', call_id: id, name: 'f', arguments: '{}' }
      if (type === 'custom_tool_call_output')
        return { type: 'custom_tool_call', call_id: id, name: 'f', input: 'i' }
      return undefined
    },
    tool: {
      type: 'function',
      name: 'f',
      parameters: { type: 'object', properties: {} },
      strict: false,
    },
    question,
  },
  messages: {
    key: 'messages',
    call: ({ content }) => {
      const [block] = Array.isArray(content) ? (content as JsonObject[]) : []
      return block?.['type'] === 'tool_result'
        ? {
            role: 'assistant',
            content: [{ type: 'tool_use', id: block['tool_use_id'], name: 'f', input: {} }],
          }
        : undefined
    },
    tool: { name: 'f', input_schema: { type: 'object', properties: {} } },
    question,
  },
  'generate-content': {
    key: 'contents',
    call: ({ parts }) => {
      const [part] = Array.isArray(parts) ? (parts as { functionResponse?: JsonObject }[]) : []
      const { id, name } = part?.functionResponse ?? {}
      return part?.functionResponse
        ? { role: 'model', parts: [{ functionCall: { id, name: name ?? 'f', args: {} } }] }
        : undefined
    },
    tool: {
      functionDeclarations: [
        { name: 'f', parametersJsonSchema: { type: 'object', properties: {} } },
      ],
    },
    question: { role: 'user', parts: [{ text: 'a' }] },
  },
  converse: {
    key: 'messages',
    call: ({ content }) => {
      const [block] = Array.isArray(content) ? (content as { toolResult?: JsonObject }[]) : []
      const toolUseId = block?.toolResult?.['toolUseId']
      return block?.toolResult
        ? { role: 'assistant', content: [{ toolUse: { toolUseId, name: 'f', input: {} } }] }
        : undefined
    },
    tool: { toolSpec: { name: 'f', inputSchema: { json: { type: 'object', properties: {} } } } },
    question: { role: 'user', content: [{ text: 'a' }] },
    toolsIn: 'toolConfig',
  },
}

/**
 * Puts a minimal body into the company without which it has no meaning: a tool to choose, a call
 * before its result.
 */
export function arranged(protocol: string, kind: Kind, site: Site): Site {
  const list = conversations[protocol]
  if (!list || !isObject(site.body) || kind === 'error') return site
  if (kind === 'event') return site
  if (kind === 'response')
    return {
      ...site,
      body: completed(protocol, site.body),
      others: site.others.map(other => completed(protocol, other)),
    }
  const { body, shifted } = inCompany(site.body, list)
  const path = shifted
    ? site.path.replace(new RegExp(`^/${list.key}/0(?=/|$)`), `/${list.key}/1`)
    : site.path
  return {
    ...site,
    path,
    body,
    others: site.others.map(other => (isObject(other) ? inCompany(other, list).body : other)),
  }
}

function inCompany(
  body: JsonObject,
  { key, call, tool, question: more, toolsIn }: List,
): { body: JsonObject; shifted: boolean } {
  const items = Array.isArray(body[key]) ? (body[key] as JsonObject[]) : []
  const [first] = items
  const before = first && call(first)
  // A conversation in which the user says nothing may be refused.
  const named = toolsIn === undefined ? body : body[toolsIn]
  const holder = isObject(named) ? named : {}
  const tools =
    Array.isArray(holder['tools']) && holder['tools'].length > 0 ? holder['tools'] : [tool]
  const withTools = toolsIn === undefined ? { tools } : { [toolsIn]: { ...holder, tools } }
  return {
    body: { ...body, [key]: [...(before ? [before] : []), ...items, more], ...withTools },
    shifted: before !== undefined,
  }
}

/** What a response has to be a complete one. */
function completed(protocol: string, body: unknown): unknown {
  if (!isObject(body)) return body
  if (protocol === 'messages') return { ...body, stop_reason: body['stop_reason'] ?? 'end_turn' }
  if (protocol === 'responses')
    return { ...body, status: body['status'] ?? (isObject(body['error']) ? 'failed' : 'completed') }
  if (protocol !== 'generate-content' || 'candidates' in body || 'promptFeedback' in body)
    return body
  return {
    candidates: [{ content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
    ...body,
  }
}

/** A stream that holds this event where it has a meaning, or the same stream without it. */
export function streamed(protocol: string, event: unknown, isBare = false): unknown[] {
  const one = isObject(event) ? event : {}
  const type = String(one['type'] ?? '')
  const here = isBare ? [] : [one]
  if (protocol === 'messages') return messagesStream(type, one, here)
  if (protocol === 'responses') return responsesStream(type, here)
  if (protocol === 'generate-content') return chunksStream(one, isBare)
  if (protocol === 'converse') return converseStream(one, here)
  const chunk = (delta: JsonObject, finish: string | null) => ({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })
  const isEnd = JSON.stringify(one).includes('"finish_reason":"')
  return [
    ...(isEnd ? [] : here),
    chunk({ role: 'assistant', content: 'a' }, null),
    ...(isEnd && !isBare ? here : [chunk({}, 'stop')]),
    '[DONE]',
  ]
}

/** A chunk whose candidate has a finish reason is the last, and so is one without a response. */
function chunksStream(one: JsonObject, isBare: boolean): JsonObject[] {
  const last = {
    candidates: [
      { content: { role: 'model', parts: [{ text: 'a' }] }, index: 0, finishReason: 'STOP' },
    ],
  }
  if (isBare) return [last]
  return 'promptFeedback' in one || JSON.stringify(one).includes('"finishReason":')
    ? [one]
    : [one, last]
}

function messagesStream(type: string, one: JsonObject, here: JsonObject[]): unknown[] {
  const message = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  }
  const start =
    type === 'message_start' && here.length > 0 ? here : [{ type: 'message_start', message }]
  const end =
    type === 'message_delta' && here.length > 0
      ? here.map(ended)
      : [
          {
            type: 'message_delta',
            delta: { stop_reason: 'end_turn', stop_sequence: null },
            usage: { output_tokens: 2 },
          },
        ]
  const delta = isObject(one['delta']) ? String(one['delta']['type'] ?? '') : ''
  const blocks: Record<string, JsonObject> = {
    text_delta: { type: 'text', text: '' },
    citations_delta: { type: 'text', text: '' },
    input_json_delta: { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} },
    thinking_delta: { type: 'thinking', thinking: '', signature: '' },
    signature_delta: { type: 'thinking', thinking: '', signature: '' },
    compaction_delta: { type: 'compaction', content: null },
  }
  const opening =
    type === 'content_block_start'
      ? []
      : [
          {
            type: 'content_block_start',
            index: 0,
            content_block: blocks[delta] ?? blocks['text_delta'],
          },
        ]
  const isOutside =
    type === 'message_start' ||
    type === 'message_delta' ||
    type === 'message_stop' ||
    type === 'content_block_stop'
  const stop = { type: 'content_block_stop', index: 0 }
  return [...start, ...opening, ...(isOutside ? [] : here), stop, ...end, { type: 'message_stop' }]
}

/** A delta needs a block of its kind, and what a tool is called with is JSON. */
function converseStream(one: JsonObject, here: JsonObject[]): unknown[] {
  const [type = ''] = Object.keys(one)
  const block = { contentBlockIndex: 0 }
  const event = isObject(one[type]) ? one[type] : {}
  const delta = isObject(event['delta']) ? event['delta'] : {}
  const starts: JsonObject = {
    toolUse: { toolUse: { toolUseId: 'call_1', name: 'f' } },
    toolResult: {
      toolResult: { toolUseId: 'call_1', type: 'nova_grounding_result', status: 'success' },
    },
    image: { image: { format: 'png' } },
  }
  const start = starts[Object.keys(delta)[0] ?? '']
  const inside = /^contentBlock/.test(type)
  const bodies = here.map(given =>
    isObject(delta['toolUse'])
      ? {
          contentBlockDelta: {
            ...event,
            delta: { toolUse: { ...delta['toolUse'], input: JSON.stringify(delta['toolUse']) } },
          },
        }
      : given,
  )
  const isEnd = type === 'messageStop' || type === 'metadata'
  const end = (name: string, body: JsonObject) =>
    type === name && here.length > 0 ? here : [{ [name]: body }]
  return [
    ...(type === 'messageStart' && here.length > 0
      ? here
      : [{ messageStart: { role: 'assistant' } }]),
    ...(inside && start ? [{ contentBlockStart: { ...block, start } }] : []),
    ...(isEnd || type === 'messageStart' ? [] : bodies),
    ...(inside ? [] : [{ contentBlockDelta: { ...block, delta: { text: 'a' } } }]),
    ...(type === 'contentBlockStop' ? [] : [{ contentBlockStop: block }]),
    ...end('messageStop', { stopReason: 'end_turn' }),
    ...end('metadata', {
      usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
      metrics: { latencyMs: 1 },
    }),
  ]
}

/** A sequence ends a message only together with the reason that says so. */
function ended(event: JsonObject): JsonObject {
  const delta = isObject(event['delta']) ? event['delta'] : {}
  return {
    ...event,
    delta: {
      ...delta,
      stop_reason:
        delta['stop_reason'] ?? (delta['stop_sequence'] == null ? 'end_turn' : 'stop_sequence'),
    },
  }
}

/** The items that events of responses are about, by the beginning of their names. */
const items: [string, JsonObject][] = [
  ['response.reasoning', { type: 'reasoning', id: 'i', summary: [] }],
  [
    'response.function_call',
    { type: 'function_call', id: 'i', call_id: 'call_1', name: 'f', arguments: '' },
  ],
  [
    'response.custom_tool_call',
    { type: 'custom_tool_call', id: 'i', call_id: 'call_1', name: 'f', input: '' },
  ],
  [
    'response.code_interpreter_call',
    { type: 'code_interpreter_call', id: 'i', code: '', container_id: 'c', outputs: null },
  ],
  ['response.file_search_call', { type: 'file_search_call', id: 'i', queries: [] }],
  [
    'response.web_search_call',
    { type: 'web_search_call', id: 'i', action: { type: 'search', query: 'q' } },
  ],
  ['response.image_generation_call', { type: 'image_generation_call', id: 'i', result: null }],
  ['response.mcp_call', { type: 'mcp_call', id: 'i', name: 'f', server_label: 's', arguments: '' }],
  ['response.mcp_list_tools', { type: 'mcp_list_tools', id: 'i', server_label: 's', tools: [] }],
  [
    'response.shell_call',
    { type: 'shell_call', id: 'i', call_id: 'call_1', action: { commands: [] } },
  ],
  [
    'response.apply_patch_call',
    {
      type: 'apply_patch_call',
      id: 'i',
      call_id: 'call_1',
      operation: { type: 'update_file', path: 'p', diff: '' },
    },
  ],
  ['response.compaction', { type: 'compaction', id: 'i', encrypted_content: '' }],
]

function responsesStream(type: string, here: JsonObject[]): unknown[] {
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'in_progress',
    output: [],
    tools: [],
    tool_choice: 'auto',
    parallel_tool_calls: true,
  }
  const item = {
    ...(items.find(([name]) => type.startsWith(name))?.[1] ?? {
      type: 'message',
      id: 'i',
      role: 'assistant',
      content: [],
    }),
    status: 'in_progress',
  }
  const added = { type: 'response.output_item.added', output_index: 0, item }
  const part = {
    type: 'response.content_part.added',
    output_index: 0,
    content_index: 0,
    item_id: 'i',
    part: type.includes('refusal')
      ? { type: 'refusal', refusal: '' }
      : { type: 'output_text', text: '', annotations: [] },
  }
  const summary = {
    type: 'response.reasoning_summary_part.added',
    output_index: 0,
    summary_index: 0,
    item_id: 'i',
    part: { type: 'summary_text', text: '' },
  }
  const before = [
    ...(type === 'response.output_item.added' ? [] : [added]),
    ...(/^response\.(output_text|refusal|content_part\.done)/.test(type) ? [part] : []),
    ...(/^response\.reasoning_summary_(text|part\.done)/.test(type) ? [summary] : []),
  ]
  const numbered = here.map(event => ({
    ...event,
    ...('item_id' in event && { item_id: 'i' }),
    ...(isObject(event['response']) && {
      response: { ...response, ...event['response'], output: [] },
    }),
  }))
  const isEnd = here.length > 0 && /^response\.(completed|failed|incomplete)$|^error$/.test(type)
  const created = { type: 'response.created', response }
  const completed = {
    type: 'response.completed',
    response: { ...response, status: 'completed', output: [] },
  }
  return [created, ...before, ...numbered, ...(isEnd ? [] : [completed])].map((event, index) => ({
    ...event,
    sequence_number: index,
  }))
}
