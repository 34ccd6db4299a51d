import { strictOf } from '../../../../src/testing/strict/index.ts'
import { matching, openaiFailure } from './chat.ts'
import {
  chunks,
  counted,
  type Endpoint,
  firstOf,
  isJson,
  type Json,
  keyed,
  listOf,
  type Offered,
  type Refusal,
  type Turn,
  turnAfter,
} from './turn.ts'

/** What servers of the responses protocol have in common, and where they differ. */
export type ResponsesServer = {
  urls: readonly string[]
  auth?: keyof typeof keyed
  isStrict?: boolean
  /** Types of tools that it has. Absent: any. */
  tools?: readonly string[]
  /** Types of items that it reads. Absent: any. */
  items?: readonly string[]
  /** `ignores`: fields are read if they are known. */
  refuse?: (body: Json, model: string) => string | Refusal | undefined
  idOf?: (nth: number) => string
  itemId?: (kind: string, nth: number) => string
  /** Does it seal its reasoning in `encrypted_content`? Else it is text in `content`. */
  seals?: boolean
  silent?: (model: string) => boolean
  /** Some end their streams with `[DONE]`. */
  done?: boolean
}

const sealOf = (nth: number) => Buffer.from(`sealed by this vendor: ${nth}`).toString('base64')
const resultTypes = new Set(['function_call_output', 'custom_tool_call_output'])

export function responsesServer(server: ResponsesServer): Endpoint {
  const { seals = true, itemId = (kind, nth) => `${kind}_${nth}` } = server
  const patterns = server.urls.map(matching)
  const itemsIn = (body: Json) => listOf(body['input'])
  const turnOf = (body: Json) =>
    turnAfter(
      itemsIn(body).filter(({ type }) => resultTypes.has(String(type))).length,
      offered(body),
      server.idOf ?? (nth => `call_${nth}`),
    )
  const usage = {
    input_tokens: counted.input,
    input_tokens_details: { cached_tokens: counted.cached },
    output_tokens: counted.output,
    output_tokens_details: { reasoning_tokens: counted.reasoning },
    total_tokens: counted.input + counted.output,
  }
  const outputOf = ({ nth, reasoning, text, calls }: Turn, model: string): Json[] => [
    ...(server.silent?.(model)
      ? []
      : [
          seals
            ? {
                id: itemId('rs', nth),
                type: 'reasoning',
                summary: [{ type: 'summary_text', text: reasoning }],
                encrypted_content: sealOf(nth),
              }
            : {
                id: itemId('rs', nth),
                type: 'reasoning',
                summary: [],
                content: [{ type: 'reasoning_text', text: reasoning }],
              },
        ]),
    ...(text
      ? [
          {
            id: itemId('msg', nth),
            type: 'message',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          },
        ]
      : []),
    ...calls.map(({ id, name, namespace, args, text: isText }, i) => ({
      id: itemId(isText ? 'ctc' : 'fc', nth * 10 + i),
      type: isText ? 'custom_tool_call' : 'function_call',
      status: 'completed',
      call_id: id,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(isText ? { input: args } : { arguments: args }),
    })),
  ]
  const headOf = (body: Json, model: string): Json => {
    const { input: _, stream: _stream, ...received } = body
    return {
      id: `resp_${listOf(body['input']).length}`,
      object: 'response',
      created_at: 1_780_000_000,
      error: null,
      incomplete_details: null,
      ...received,
      model,
    }
  }
  return {
    protocol: 'responses',
    match: url =>
      patterns.some(pattern => pattern.test(url.origin + url.pathname)) ? {} : undefined,
    authorize: keyed[server.auth ?? 'bearer'],
    failure: openaiFailure,
    refuse(body, model) {
      // Recorded clients send it to this endpoint, and get a response.
      const isMeant = (fault: string) =>
        !fault.includes('internal_chat_message_metadata_passthrough')
      const legal = server.isStrict
        ? strictOf('responses').checkRequest(body).find(isMeant)
        : undefined
      const found = firstOf(
        legal,
        shape(body, server),
        seals && badSeal(body),
        server.refuse?.(body, model),
      )
      return typeof found === 'string' ? { status: 400, message: found } : found
    },
    whole: (body, model) => ({
      ...headOf(body, model),
      status: 'completed',
      output: outputOf(turnOf(body), model),
      usage,
    }),
    stream(body, model) {
      const output = outputOf(turnOf(body), model)
      const frames: string[] = []
      const send = (type: string, rest: object) =>
        frames.push(
          `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: frames.length, ...rest })}\n\n`,
        )
      const begun = { ...headOf(body, model), status: 'in_progress', output: [], usage: null }
      send('response.created', { response: begun })
      send('response.in_progress', { response: begun })
      for (const [output_index, item] of output.entries()) sendItem(item, output_index, send)
      send('response.completed', { response: { ...begun, status: 'completed', output, usage } })
      if (server.done) frames.push('data: [DONE]\n\n')
      return frames
    },
    returned: body =>
      itemsIn(body).flatMap(item => {
        if (item['type'] !== 'reasoning') return []
        const nth = /: (\d)$/.exec(
          Buffer.from(String(item['encrypted_content'] ?? ''), 'base64').toString(),
        )?.[1]
        const text = [...listOf(item['content']), ...listOf(item['summary'])]
          .map(part => String(part['text']))
          .join('')
        return [nth === undefined || !seals ? text : `Thought ${nth}`]
      }),
  }
}

function sendItem(
  item: Json,
  output_index: number,
  send: (type: string, rest: object) => unknown,
): void {
  const at = { item_id: item['id'], output_index }
  const part = listOf(item['content'])[0] ?? listOf(item['summary'])[0]
  const text = String(part?.['text'])
  if (item['type'] === 'reasoning' && part?.['type'] === 'summary_text') {
    const place = { ...at, summary_index: 0 }
    send('response.output_item.added', {
      output_index,
      item: { id: item['id'], type: 'reasoning', summary: [] },
    })
    send('response.reasoning_summary_part.added', {
      ...place,
      part: { type: 'summary_text', text: '' },
    })
    for (const delta of chunks(text))
      send('response.reasoning_summary_text.delta', { ...place, delta })
    send('response.reasoning_summary_text.done', { ...place, text })
    send('response.reasoning_summary_part.done', { ...place, part })
  } else if (part) {
    const kind = item['type'] === 'reasoning' ? 'reasoning_text' : 'output_text'
    const place = { ...at, content_index: 0 }
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    })
    send('response.content_part.added', { ...place, part: { ...part, text: '' } })
    for (const delta of chunks(text))
      send(`response.${kind}.delta`, {
        ...place,
        delta,
        ...(kind === 'output_text' && { logprobs: [] }),
      })
    send(`response.${kind}.done`, {
      ...place,
      text,
      ...(kind === 'output_text' && { logprobs: [] }),
    })
    send('response.content_part.done', { ...place, part })
  } else {
    const [key, kind] =
      item['type'] === 'custom_tool_call'
        ? ['input', 'custom_tool_call_input']
        : ['arguments', 'function_call_arguments']
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', [key]: '' },
    })
    for (const delta of chunks(String(item[key]))) send(`response.${kind}.delta`, { ...at, delta })
    send(`response.${kind}.done`, { ...at, [key]: item[key] })
  }
  send('response.output_item.done', { output_index, item })
}

/** Functions first, wherever they are declared. */
function offered(body: Json): Offered[] {
  const read = (tool: Json, namespace?: string): Offered[] => {
    const { type, name, parameters, tools } = tool
    const inside = namespace === undefined ? {} : { namespace }
    if (type === 'function') return [{ name: String(name), schema: parameters, ...inside }]
    if (type === 'custom') return [{ name: String(name), text: true, ...inside }]
    return type === 'namespace' ? listOf(tools).flatMap(one => read(one, String(name))) : []
  }
  const all = [
    ...listOf(body['tools']),
    ...listOf(body['input']).flatMap(({ type, tools }) =>
      type === 'additional_tools' ? listOf(tools) : [],
    ),
  ]
  return all
    .flatMap(tool => read(tool))
    .toSorted((a, b) => Number(a.namespace !== undefined) - Number(b.namespace !== undefined))
}

export const toolTypes = (body: Json): string[] =>
  listOf(body['tools']).map(({ type }) => String(type))

function badSeal(body: Json): string | undefined {
  const bad = listOf(body['input']).find(
    ({ type, encrypted_content: sealed }) =>
      type === 'reasoning' &&
      typeof sealed === 'string' &&
      !/^sealed by this vendor: \d$/.test(Buffer.from(sealed, 'base64').toString()),
  )
  return bad && 'The encrypted content could not be verified.'
}

function shape(body: Json, { tools, items }: ResponsesServer): string | undefined {
  if (typeof body['model'] !== 'string') return "Missing required parameter: 'model'."
  const odd = tools && toolTypes(body).find(type => !tools.includes(type))
  if (odd) return `Invalid value: '${odd}'. Supported tool types: ${tools.join(', ')}`
  const input = listOf(body['input'])
  if (typeof body['input'] !== 'string' && input.length === 0)
    return "Missing required parameter: 'input'."
  const strange = items && input.find(({ type = 'message' }) => !items.includes(String(type)))
  if (strange)
    return `Invalid value: '${String(strange['type'])}'. Supported item types: ${items.join(', ')}`
  const calls = input
    .filter(({ type }) => type === 'function_call' || type === 'custom_tool_call')
    .map(({ call_id: id }) => id)
  const results = input
    .filter(({ type }) => resultTypes.has(String(type)))
    .map(({ call_id: id }) => id)
  const open = calls.find(id => !results.includes(id))
  if (open) return `No tool output found for function call ${String(open)}.`
  const lost = results.find(id => !calls.includes(id))
  if (lost) return `No tool call found for function call output with call_id ${String(lost)}.`
  const declared = listOf(body['tools'])
  if (declared.length === 0 && isJson(body['tool_choice']))
    return 'tool_choice is only allowed with tools'
  return undefined
}
