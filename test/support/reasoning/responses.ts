import { chunks } from '../scripted.ts'
import { type Shape, signature, type Thinker } from './index.ts'

type Item = { type: string; [key: string]: unknown }

const reasoning = (turn: number, summary: string[], nth = 1): Item => ({
  type: 'reasoning',
  id: `rs_${turn}_${nth}`,
  summary: summary.map(text => ({ type: 'summary_text', text })),
  encrypted_content: signature(`item ${nth}`, turn),
})
const message = (turn: number, nth = 1): Item => ({
  type: 'message',
  id: `msg_${turn}_${nth}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: `Wrote ${turn}/${nth}. `, annotations: [], logprobs: [] }],
})
const call = (turn: number, nth = 1): Item => ({
  type: 'function_call',
  id: `fc_${turn}_${nth}`,
  status: 'completed',
  call_id: `call_${turn}_${nth}`,
  name: 'lookup',
  arguments: `{"turn": ${turn}, "nth":${nth}}`,
})

const head = {
  object: 'response',
  created_at: 1_750_000_000,
  model: 'gpt-5',
  error: null,
  parallel_tool_calls: true,
  tools: [],
  tool_choice: 'auto',
  metadata: {},
}
const usage = {
  input_tokens: 20,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 9,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 29,
}

const shape = (name: string, output: (turn: number) => Item[]): Shape => ({
  name,
  response: turn => ({
    ...head,
    id: `resp_${turn}`,
    status: 'completed',
    incomplete_details: null,
    output: output(turn),
    usage,
  }),
})

type Send = (type: string, rest: object) => void

function streamReasoning(
  { id, summary, content, ...rest }: Item,
  output_index: number,
  send: Send,
): void {
  const at = { item_id: id, output_index }
  send('response.output_item.added', { output_index, item: { type: 'reasoning', id, summary: [] } })
  for (const [summary_index, part] of (summary as { text: string }[]).entries()) {
    const place = { ...at, summary_index }
    send('response.reasoning_summary_part.added', { ...place, part: { ...part, text: '' } })
    for (const delta of chunks(part.text))
      send('response.reasoning_summary_text.delta', { ...place, delta })
    send('response.reasoning_summary_text.done', { ...place, text: part.text })
    send('response.reasoning_summary_part.done', { ...place, part })
  }
  for (const [content_index, part] of ((content ?? []) as { text: string }[]).entries()) {
    const place = { ...at, content_index }
    for (const delta of chunks(part.text))
      send('response.reasoning_text.delta', { ...place, delta })
    send('response.reasoning_text.done', { ...place, text: part.text })
  }
  send('response.output_item.done', {
    output_index,
    item: { id, summary, ...(content !== undefined && { content }), ...rest },
  })
}

function streamItem(item: Item, output_index: number, send: Send): void {
  const at = { item_id: item['id'], output_index }
  if (item.type === 'reasoning') {
    streamReasoning(item, output_index, send)
    return
  }
  if (item.type === 'message') {
    const [part] = item['content'] as { text: string }[]
    const place = { ...at, content_index: 0 }
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', content: [] },
    })
    send('response.content_part.added', { ...place, part: { ...part, text: '' } })
    for (const delta of chunks(part?.text ?? ''))
      send('response.output_text.delta', { ...place, delta, logprobs: [] })
    send('response.output_text.done', { ...place, text: part?.text, logprobs: [] })
    send('response.content_part.done', { ...place, part })
  } else {
    send('response.output_item.added', {
      output_index,
      item: { ...item, status: 'in_progress', arguments: '' },
    })
    for (const delta of chunks(String(item['arguments'])))
      send('response.function_call_arguments.delta', { ...at, delta })
    send('response.function_call_arguments.done', {
      ...at,
      arguments: item['arguments'],
      name: item['name'],
    })
  }
  send('response.output_item.done', { output_index, item })
}

/** Ids of messages and calls may change, those of reasoning may not. */
function bare(item: Item): unknown {
  const { type, id, status: _, ...rest } = item
  if (type === 'reasoning') return { type, id, ...rest }
  if (type === 'function_call')
    return { type, ...rest, arguments: JSON.parse(String(item['arguments'])) as unknown }
  const content = item['content']
  return {
    type,
    texts:
      typeof content === 'string'
        ? [content]
        : (content as { text: string }[]).map(({ text }) => text),
  }
}

const isOurs = ({ type, role }: Item) =>
  type === 'reasoning' ||
  type === 'function_call' ||
  (role === 'assistant' && (type ?? 'message') === 'message')

export const thinker: Thinker = {
  shapes: [
    shape('an encrypted item, then a call', turn => [
      reasoning(turn, [`Thinking of ${turn}`]),
      call(turn),
    ]),
    shape('summaries in several parts', turn => [
      reasoning(turn, [`**One**\n\nof ${turn}`, 'Two', ' three ']),
      call(turn, 1),
      call(turn, 2),
    ]),
    shape('only the encrypted form', turn => [reasoning(turn, []), call(turn)]),
    shape('reasoning, message, reasoning, call', turn => [
      reasoning(turn, ['a'], 1),
      message(turn),
      reasoning(turn, ['b', 'c'], 2),
      call(turn),
    ]),
    shape('reasoning before each call', turn => [
      reasoning(turn, ['a'], 1),
      call(turn, 1),
      reasoning(turn, [], 2),
      call(turn, 2),
    ]),
    shape('raw reasoning beside a summary', turn => [
      {
        ...reasoning(turn, ['short']),
        content: [{ type: 'reasoning_text', text: `at length ${turn}` }],
      },
      call(turn),
    ]),
    shape('reasoning, then a text without a call', turn => [
      reasoning(turn, [`Thinking of ${turn}`]),
      message(turn),
    ]),
  ],
  stream(response) {
    const { output, ...rest } = response as { output: Item[] }
    const frames: string[] = []
    const send: Send = (type, more) =>
      frames.push(
        `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: frames.length, ...more })}\n\n`,
      )
    send('response.created', {
      response: { ...rest, status: 'in_progress', output: [], usage: null },
    })
    for (const [index, item] of output.entries()) streamItem(item, index, send)
    send('response.completed', { response })
    return frames.join('')
  },
  essence: response => (response as { output: Item[] }).output.map(bare),
  echoed(request) {
    const responses: unknown[][] = []
    let open: unknown[] | undefined
    for (const item of (request as { input: Item[] }).input) {
      if (!isOurs(item)) open = undefined
      else {
        if (!open) {
          open = []
          responses.push(open)
        }
        open.push(bare(item))
      }
    }
    return responses
  },
  signatures: request =>
    (request as { input: Item[] }).input.flatMap(({ encrypted_content: value }) =>
      typeof value === 'string' ? [value] : [],
    ),
}
