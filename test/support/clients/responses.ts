import OpenAI from 'openai'
import { accumulateResponse } from 'openai/lib/responses/ResponseAccumulator'
import type {
  Response,
  ResponseInputItem,
  ResponseOutputItem,
  ResponseStreamEvent,
} from 'openai/resources/responses/responses'
import { parse, responding, retryAfter } from '../responding.ts'
import type { Body, Client, Received } from './index.ts'

function received({
  output,
  status,
  incomplete_details: incomplete,
  error,
  usage,
}: Response): Received {
  if (status === 'failed') throw new Error(error?.message ?? 'failed')
  let text = ''
  let refusal = ''
  let reasoning = ''
  const cited: string[] = []
  let refused = incomplete?.reason === 'content_filter'
  const calls: Received['calls'] = []
  for (const item of output) {
    if (item.type === 'message') {
      for (const part of item.content) {
        if (part.type === 'refusal') refusal += part.refusal
        else text += part.text
        if (part.type === 'output_text')
          for (const one of part.annotations) if (one.type === 'url_citation') cited.push(one.url)
      }
      refused ||= item.content.some(part => part.type === 'refusal')
    }
    if (item.type === 'reasoning')
      reasoning += [...item.summary, ...(item.content ?? [])].map(part => part.text).join('')
    if (item.type === 'function_call')
      calls.push({ id: item.call_id, name: item.name, input: parse(item.arguments) })
    if (item.type === 'custom_tool_call')
      calls.push({ id: item.call_id, name: item.name, input: item.input })
  }
  const counts = {
    input: usage?.input_tokens,
    output: usage?.output_tokens,
    cacheRead: usage?.input_tokens_details.cached_tokens,
    reasoning: usage?.output_tokens_details.reasoning_tokens,
  }
  return {
    text,
    calls,
    stop: incomplete?.reason ?? status,
    refused,
    refusal,
    reasoning,
    cited,
    counts,
  }
}

const connect = (base: string, fetch?: typeof globalThis.fetch) =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey: 'test', maxRetries: 0, ...(fetch && { fetch }) })

function foldStream(text: string) {
  const openai = connect('http://test', responding(text, 'text/event-stream'))
  return openai.responses.stream({ model: 'm', input: '' }).finalResponse()
}

async function foldChunks(text: string): Promise<Response> {
  const events: ResponseStreamEvent[] = []
  for await (const event of await connect(
    'http://test',
    responding(text, 'text/event-stream'),
  ).responses.create({ model: 'm', input: '', stream: true }))
    events.push(event)
  let snapshot: Response | undefined
  for (const event of events.slice(0, -1).filter(({ type }) => !type.endsWith('.done')))
    snapshot = accumulateResponse(event, snapshot)
  if (!snapshot) throw new Error('a stream without a beginning')
  return snapshot
}

export const client: Client = {
  async converse(base, { model, ask, tools, schema, stream }, runTool) {
    const openai = connect(base)
    const input: ResponseInputItem[] = [{ role: 'user', content: ask }]
    for (let rounds = 1; ; rounds++) {
      const params = {
        model,
        input,
        store: false,
        ...(tools && {
          tools: tools.map(({ name, schema: parameters }) => ({
            type: 'function' as const,
            name,
            parameters,
            strict: false,
          })),
        }),
        ...(schema && {
          text: { format: { type: 'json_schema' as const, name: 'result', schema } },
        }),
      }
      const response = stream
        ? await openai.responses.stream(params).finalResponse()
        : await openai.responses.create(params)
      const message = received(response)
      if (message.calls.length === 0 || !runTool) return { ...message, rounds }
      input.push(...(response.output as ResponseInputItem[]))
      for (const { id, name, input: args } of message.calls)
        input.push({ type: 'function_call_output', call_id: id, output: runTool(name, args) })
    }
  },
  async readStream(text) {
    const last = await foldStream(text)
    // Items, parts and the response are repeated at their ends: the chunks must have the same
    // content.
    const { output } = await foldChunks(text)
    return received({ ...last, output })
  },
  foldStream,
  retryAfterOf: error => retryAfter(error),
  async readResponse(body) {
    const openai = connect('http://test', responding(JSON.stringify(body), 'application/json'))
    return received(await openai.responses.create({ model: 'm', input: '' }))
  },
  open: ({ model, ask, tools = [] }) => ({
    model,
    store: false,
    input: [{ role: 'user', content: ask }],
    tools: tools.map(({ name, schema: parameters }) => ({
      type: 'function',
      name,
      parameters,
      strict: false,
    })),
  }),
  async receive(response) {
    if ('text' in response) {
      const openai = connect('http://test', responding(response.text, 'text/event-stream'))
      return openai.responses.stream({ model: 'm', input: '' }).finalResponse()
    }
    const openai = connect(
      'http://test',
      responding(JSON.stringify(response.body), 'application/json'),
    )
    return openai.responses.create({ model: 'm', input: '' })
  },
  continueWith({ input, ...rest }, received, { runTool, ask, echo }) {
    const { output: all } = received as Response
    const output = echo === 'thoughtless' ? all.flatMap(sealedSummary) : all
    const results = output.flatMap(item => {
      if (item.type === 'function_call')
        return [{ type: 'function_call_output', call_id: item.call_id, output: runTool(item.name) }]
      return item.type === 'custom_tool_call'
        ? [{ type: 'custom_tool_call_output', call_id: item.call_id, output: runTool(item.name) }]
        : []
    })
    const next = results.length > 0 ? results : [{ role: 'user', content: ask }]
    // As it goes over the wire.
    return JSON.parse(
      JSON.stringify({ ...rest, input: [...(input as unknown[]), ...output, ...next] }),
    ) as Body
  },
}

/** As programs keep it that show summaries, and reasoning that nothing proves not at all. */
function sealedSummary(item: ResponseOutputItem): ResponseOutputItem[] {
  if (item.type !== 'reasoning') return [item]
  const { content: _, ...kept } = item
  return kept.encrypted_content ? [kept] : []
}
