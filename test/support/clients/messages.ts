import Anthropic from '@anthropic-ai/sdk'
import type { Message, MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { responding, retryAfter } from '../responding.ts'
import type { Body, Client, Received } from './index.ts'

function received({ content, stop_reason: stop, usage }: Message): Received {
  let text = ''
  let reasoning = ''
  const cited: string[] = []
  const calls: Received['calls'] = []
  for (const block of content) {
    if (block.type === 'text') {
      text += block.text
      for (const citation of block.citations ?? [])
        if (citation.type === 'web_search_result_location') cited.push(citation.url)
    }
    if (block.type === 'thinking') reasoning += block.thinking
    if (block.type === 'tool_use')
      calls.push({ id: block.id, name: block.name, input: block.input })
  }
  const {
    input_tokens: input,
    output_tokens: output,
    cache_read_input_tokens: cacheRead,
    cache_creation_input_tokens: written,
  } = usage
  const counts = {
    input: input + (cacheRead ?? 0) + (written ?? 0),
    output,
    cacheRead: cacheRead ?? undefined,
    reasoning: usage.output_tokens_details?.thinking_tokens,
  }
  return {
    text,
    calls,
    stop: stop ?? undefined,
    refused: stop === 'refusal',
    refusal: '',
    reasoning,
    cited,
    counts,
  }
}

const connect = (base: string, fetch?: typeof globalThis.fetch) =>
  new Anthropic({ baseURL: base, apiKey: 'test', maxRetries: 0, ...(fetch && { fetch }) })

function foldStream(text: string) {
  const anthropic = connect('http://test', responding(text, 'text/event-stream'))
  return anthropic.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
}

export const client: Client = {
  async converse(base, { model, ask, tools, schema, stream }, runTool) {
    const anthropic = connect(base)
    const messages: MessageParam[] = [{ role: 'user', content: ask }]
    for (let rounds = 1; ; rounds++) {
      const params = {
        model,
        messages,
        max_tokens: 1000,
        ...(tools && {
          tools: tools.map(({ name, schema: input }) => ({
            name,
            input_schema: { type: 'object' as const, ...input },
          })),
        }),
        ...(schema && { output_config: { format: { type: 'json_schema' as const, schema } } }),
      }
      const message = stream
        ? await anthropic.messages.stream(params).finalMessage()
        : await anthropic.messages.create(params)
      const sent = received(message)
      if (sent.calls.length === 0 || !runTool) return { ...sent, rounds }
      messages.push({ role: 'assistant', content: message.content as MessageParam['content'] })
      messages.push({
        role: 'user',
        content: sent.calls.map(({ id, name, input }) => ({
          type: 'tool_result',
          tool_use_id: id,
          content: runTool(name, input),
        })),
      })
    }
  },
  async readStream(text) {
    return received(await foldStream(text))
  },
  foldStream,
  retryAfterOf: error => retryAfter(error),
  async readResponse(body) {
    const anthropic = connect('http://test', responding(JSON.stringify(body), 'application/json'))
    return received(await anthropic.messages.create({ model: 'm', max_tokens: 1, messages: [] }))
  },
  open: ({ model, ask, tools = [] }) => ({
    model,
    max_tokens: 20_000,
    messages: [{ role: 'user', content: ask }],
    tools: tools.map(({ name, schema }) => ({ name, input_schema: { type: 'object', ...schema } })),
  }),
  async receive(response) {
    if ('text' in response) {
      const anthropic = connect('http://test', responding(response.text, 'text/event-stream'))
      return anthropic.messages.stream({ model: 'm', max_tokens: 1, messages: [] }).finalMessage()
    }
    const anthropic = connect(
      'http://test',
      responding(JSON.stringify(response.body), 'application/json'),
    )
    return anthropic.messages.create({ model: 'm', max_tokens: 1, messages: [] })
  },
  continueWith({ messages, ...rest }, received, { runTool, ask, echo }) {
    const { content: all } = received as Message
    const content =
      echo === 'thoughtless'
        ? all.filter(block => block.type !== 'thinking' || block.signature)
        : all
    const results = content.flatMap(block =>
      block.type === 'tool_use'
        ? [{ type: 'tool_result', tool_use_id: block.id, content: runTool(block.name) }]
        : [],
    )
    const next = [
      { role: 'assistant', content },
      { role: 'user', content: results.length > 0 ? results : ask },
    ]
    // As it goes over the wire.
    return JSON.parse(
      JSON.stringify({ ...rest, messages: [...(messages as unknown[]), ...next] }),
    ) as Body
  },
}
