import OpenAI from 'openai'
import type { ChatCompletion, ChatCompletionMessageParam } from 'openai/resources/chat/completions'
import { parse, responding, retryAfter } from '../responding.ts'
import type { Body, Client, Received } from './index.ts'

/** What servers send besides the official fields. */
type Reported = {
  reasoning_content?: string
  reasoning_details?: { text?: string; summary?: string }[]
}

function received({ choices: [choice], usage }: ChatCompletion, streamed = false): Received {
  const { message, finish_reason: stop } = choice ?? {}
  const { reasoning_content: thought = '', reasoning_details: details } = (message ??
    {}) as Reported
  const calls = (message?.tool_calls ?? []).map(call =>
    call.type === 'function'
      ? { id: call.id, name: call.function.name, input: parse(call.function.arguments) }
      : { id: call.id, name: call.custom.name, input: call.custom.input },
  )
  // For unknown keys the accumulator keeps the last value: only what comes in one chunk is
  // complete.
  const complete = streamed && thought ? undefined : thought
  return {
    text: message?.content ?? '',
    calls,
    stop,
    refused: Boolean(message?.refusal) || stop === 'content_filter',
    refusal: message?.refusal ?? '',
    reasoning: details
      ? details.map(({ text = '', summary = '' }) => text + summary).join('')
      : complete,
    cited: (message?.annotations ?? []).map(({ url_citation: { url } }) => url),
    counts: {
      input: usage?.prompt_tokens,
      output: usage?.completion_tokens,
      cacheRead: usage?.prompt_tokens_details?.cached_tokens,
      reasoning: usage?.completion_tokens_details?.reasoning_tokens,
    },
  }
}

const connect = (base: string, fetch?: typeof globalThis.fetch) =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey: 'test', maxRetries: 0, ...(fetch && { fetch }) })

function foldStream(text: string) {
  const openai = connect('http://test', responding(text, 'text/event-stream'))
  return openai.chat.completions.stream({ model: 'm', messages: [], n: 8 }).finalChatCompletion()
}

export const client: Client = {
  async converse(base, { model, ask, tools, schema, stream }, runTool) {
    const openai = connect(base)
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: ask }]
    for (let rounds = 1; ; rounds++) {
      const params = {
        model,
        messages,
        ...(tools && {
          tools: tools.map(({ name, schema: parameters }) => ({
            type: 'function' as const,
            function: { name, parameters },
          })),
        }),
        ...(schema && {
          response_format: {
            type: 'json_schema' as const,
            json_schema: { name: 'result', schema },
          },
        }),
      }
      const completion = stream
        ? await openai.chat.completions.stream(params).finalChatCompletion()
        : await openai.chat.completions.create(params)
      const message = received(completion, stream)
      const [choice] = completion.choices
      if (message.calls.length === 0 || !runTool || !choice) return { ...message, rounds }
      messages.push(choice.message)
      for (const { id, name, input } of message.calls)
        messages.push({ role: 'tool', tool_call_id: id, content: runTool(name, input) })
    }
  },
  async readStream(text) {
    return received(await foldStream(text), true)
  },
  foldStream,
  retryAfterOf: error => retryAfter(error),
  async readResponse(body) {
    const openai = connect('http://test', responding(JSON.stringify(body), 'application/json'))
    return received(await openai.chat.completions.create({ model: 'm', messages: [] }))
  },
  open: ({ model, ask, tools = [] }) => ({
    model,
    messages: [{ role: 'user', content: ask }],
    tools: tools.map(({ name, schema: parameters }) => ({
      type: 'function',
      function: { name, parameters },
    })),
  }),
  async receive(response) {
    if ('text' in response) {
      const openai = connect('http://test', responding(response.text, 'text/event-stream'))
      return (
        await openai.chat.completions.stream({ model: 'm', messages: [] }).finalChatCompletion()
      ).choices[0]?.message
    }
    const openai = connect(
      'http://test',
      responding(JSON.stringify(response.body), 'application/json'),
    )
    return (await openai.chat.completions.create({ model: 'm', messages: [] })).choices[0]?.message
  },
  continueWith({ messages, ...rest }, received, { runTool, ask, echo = 'received' }) {
    const message = received as ChatCompletion['choices'][0]['message']
    const calls = message.tool_calls ?? []
    const { reasoning_content } = message as Reported
    // The AI SDK keeps plain reasoning, and the signatures of calls.
    const isThoughtless = echo === 'thoughtless'
    const signatureOf = (call: object) =>
      isThoughtless && 'extra_content' in call ? { extra_content: call.extra_content } : {}
    const known = {
      role: 'assistant',
      content: message.content,
      ...(isThoughtless && { reasoning_content }),
      ...(calls.length > 0 && {
        tool_calls: calls.map(call =>
          call.type === 'function'
            ? {
                id: call.id,
                type: call.type,
                function: { name: call.function.name, arguments: call.function.arguments },
                ...signatureOf(call),
              }
            : {
                id: call.id,
                type: call.type,
                custom: { name: call.custom.name, input: call.custom.input },
                ...signatureOf(call),
              },
        ),
      }),
    }
    const results = calls.map(call => ({
      role: 'tool',
      tool_call_id: call.id,
      content: runTool(call.type === 'function' ? call.function.name : ''),
    }))
    const next = results.length > 0 ? results : [{ role: 'user', content: ask }]
    // As it goes over the wire.
    return JSON.parse(
      JSON.stringify({
        ...rest,
        messages: [...(messages as unknown[]), echo === 'received' ? message : known, ...next],
      }),
    ) as Body
  },
}
