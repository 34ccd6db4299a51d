import Anthropic from '@anthropic-ai/sdk'
import { GoogleGenAI } from '@google/genai'
import OpenAI from 'openai'
import type { Protocol } from '../gateway/support.ts'

export type Asking = {
  stream: boolean
  model?: string
  key?: string
  retries?: number
  fetch?: typeof fetch
}

/** What the official client of each protocol receives when it sends "Hi"; it retries by itself. */
export const ask: Record<Protocol, (base: string, asking: Asking) => Promise<string>> = {
  async 'chat-completions'(base, asking) {
    const { chat } = openai(base, asking)
    const params = {
      model: asking.model ?? 'm',
      messages: [{ role: 'user' as const, content: 'Hi' }],
    }
    if (!asking.stream)
      return (await chat.completions.create(params)).choices[0]?.message.content ?? ''
    return (await chat.completions.stream(params).finalContent()) ?? ''
  },
  async responses(base, asking) {
    const { responses } = openai(base, asking)
    const params = { model: asking.model ?? 'm', input: 'Hi' }
    return (
      asking.stream
        ? await responses.stream(params).finalResponse()
        : await responses.create(params)
    ).output_text
  },
  async messages(base, { stream, model = 'm', key = 'key', retries = 2, fetch }) {
    const { messages } = new Anthropic({
      baseURL: base,
      apiKey: key,
      maxRetries: retries,
      ...(fetch && { fetch }),
    })
    const params = { model, max_tokens: 100, messages: [{ role: 'user' as const, content: 'Hi' }] }
    const { content } = stream
      ? await messages.stream(params).finalMessage()
      : await messages.create(params)
    return content.map(block => (block.type === 'text' ? block.text : '')).join('')
  },
  async 'generate-content'(base, { stream, model = 'm', key = 'key', retries = 2, fetch }) {
    const retryOptions = { attempts: retries + 1, initialDelay: retries > 2 ? 0.3 : 0.01 }
    const { models } = new GoogleGenAI({
      apiKey: key,
      httpOptions: { baseUrl: base, retryOptions, ...(fetch && { fetch }) },
    })
    const params = { model, contents: 'Hi' }
    if (!stream) return (await models.generateContent(params)).text ?? ''
    let text = ''
    for await (const chunk of await models.generateContentStream(params)) text += chunk.text ?? ''
    return text
  },
}

const openai = (base: string, { key = 'key', retries = 2, fetch }: Asking) =>
  new OpenAI({ baseURL: `${base}/v1`, apiKey: key, maxRetries: retries, ...(fetch && { fetch }) })
