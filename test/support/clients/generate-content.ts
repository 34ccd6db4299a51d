import {
  type Content,
  type GenerateContentConfig,
  type GenerateContentResponse,
  type GenerateContentResponseUsageMetadata,
  GoogleGenAI,
  type Part,
} from '@google/genai'
import { responding } from '../responding.ts'
import type { Body, Client, Received } from './index.ts'

const refusals = ['SAFETY', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII', 'RECITATION']

/** A response, or the chunks of a streamed one. */
function received(chunks: GenerateContentResponse[]): Received {
  let text = ''
  let reasoning = ''
  let stop: string | undefined
  let counts: Received['counts'] = {}
  const cited: string[] = []
  const calls: Received['calls'] = []
  for (const { candidates = [], promptFeedback, usageMetadata: usage } of chunks) {
    if (promptFeedback?.blockReason) stop = 'SAFETY'
    if (usage) counts = countsOf(usage)
    for (const { index = 0, content, finishReason, groundingMetadata } of candidates) {
      if (index !== 0) continue
      for (const { web } of groundingMetadata?.groundingChunks ?? [])
        if (web?.uri) cited.push(web.uri)
      stop = finishReason ?? stop
      for (const { text: message, thought, functionCall } of content?.parts ?? []) {
        if (message !== undefined && !thought) text += message
        if (message !== undefined && thought) reasoning += message
        if (functionCall)
          calls.push({
            id: functionCall.id ?? '',
            name: functionCall.name ?? '',
            input: functionCall.args ?? {},
          })
      }
    }
  }
  return {
    text,
    calls,
    stop,
    refused: refusals.includes(stop ?? ''),
    refusal: '',
    reasoning,
    cited,
    counts,
  }
}

function countsOf({
  promptTokenCount,
  toolUsePromptTokenCount,
  candidatesTokenCount,
  thoughtsTokenCount,
  cachedContentTokenCount,
}: GenerateContentResponseUsageMetadata) {
  const sum = (...counts: (number | undefined)[]) =>
    counts.some(count => count !== undefined)
      ? counts.reduce<number>((all, count) => all + (count ?? 0), 0)
      : undefined
  return {
    input: sum(promptTokenCount, toolUsePromptTokenCount),
    output: sum(candidatesTokenCount, thoughtsTokenCount),
    cacheRead: cachedContentTokenCount,
    reasoning: thoughtsTokenCount,
  }
}

const connect = (base: string, fetch?: typeof globalThis.fetch) =>
  new GoogleGenAI({ apiKey: 'test', httpOptions: { baseUrl: base, ...(fetch && { fetch }) } })

async function all(
  stream: AsyncIterable<GenerateContentResponse>,
): Promise<GenerateContentResponse[]> {
  const chunks: GenerateContentResponse[] = []
  for await (const chunk of stream) chunks.push(chunk)
  return chunks
}

/** Parts continue where the one before stopped, unless a signature is between them. */
function joined(parts: Part[]): Part[] {
  const out: Part[] = []
  for (const part of parts) {
    const last = out.at(-1)
    const isContinuation =
      last?.text !== undefined &&
      part.text !== undefined &&
      last.thought === part.thought &&
      !last.thoughtSignature
    if (isContinuation) out.splice(-1, 1, { ...last, ...part, text: `${last.text}${part.text}` })
    else out.push(part)
  }
  return out
}

/**
 * What Gemini CLI keeps of a response: no reasoning, no chunks with an empty text, and texts in
 * one.
 */
function thoughtless(message: Content[]): Content[] {
  const isEmpty = ({ text, thought, thoughtSignature }: Part) =>
    text === '' && !thought && thoughtSignature === undefined
  const kept = message
    .filter(({ parts = [] }) => !parts.some(isEmpty))
    .flatMap(({ parts = [] }) => parts.filter(({ thought }) => !thought))
  const parts: Part[] = []
  for (const part of kept) {
    const last = parts.at(-1)
    if (last?.text && part.text !== undefined)
      parts.splice(-1, 1, { ...last, text: last.text + part.text })
    else parts.push(part)
  }
  return [{ role: 'model', parts }]
}

/**
 * There is no official accumulator but the history of a chat, which keeps every chunk as a content
 * of its own.
 */
async function foldStream(text: string): Promise<unknown> {
  const ai = connect('http://test', responding(text, 'text/event-stream'))
  const chunks = await all(await ai.models.generateContentStream({ model: 'm', contents: 'hi' }))
  const indexes = [
    ...new Set(chunks.flatMap(({ candidates = [] }) => candidates.map(({ index = 0 }) => index))),
  ]
  const whole: Record<string, unknown> = {}
  for (const { candidates: _, sdkHttpResponse: __, ...head } of chunks)
    for (const [key, value] of Object.entries(head)) if (value !== undefined) whole[key] = value
  const candidates = indexes.map(index => {
    const own = chunks.flatMap(({ candidates: some = [] }) =>
      some.filter(one => (one.index ?? 0) === index),
    )
    const beside = Object.assign({}, ...own.map(({ content: _, ...rest }) => rest)) as object
    return {
      ...beside,
      index,
      content: { role: 'model', parts: joined(own.flatMap(({ content }) => content?.parts ?? [])) },
    }
  })
  return JSON.parse(JSON.stringify({ ...whole, ...(candidates.length > 0 && { candidates }) }))
}

export const client: Client = {
  async converse(base, { model, ask, tools, schema, stream }, runTool) {
    const config: GenerateContentConfig = {
      ...(tools && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, schema: parametersJsonSchema }) => ({
              name,
              parametersJsonSchema,
            })),
          },
        ],
      }),
      ...(schema && { responseMimeType: 'application/json', responseJsonSchema: schema }),
    }
    const chat = connect(base).chats.create({ model, config })
    let message: string | Part[] = ask
    for (let rounds = 1; ; rounds++) {
      const chunks = stream
        ? await all(await chat.sendMessageStream({ message }))
        : [await chat.sendMessage({ message })]
      const sent = received(chunks)
      if (sent.calls.length === 0 || !runTool) return { ...sent, rounds }
      message = sent.calls.map(({ id, name, input }) => ({
        functionResponse: { ...(id && { id }), name, response: { output: runTool(name, input) } },
      }))
    }
  },
  async readStream(text) {
    const ai = connect('http://test', responding(text, 'text/event-stream'))
    return received(
      await all(await ai.models.generateContentStream({ model: 'm', contents: 'hi' })),
    )
  },
  foldStream,
  refusalsAreText: true,
  // Its errors show the body alone.
  retryAfterOf: error => /"retryDelay":"([\d.]+)s"/.exec((error as Error).message)?.[1],
  async readResponse(body) {
    const ai = connect('http://test', responding(JSON.stringify(body), 'application/json'))
    return received([await ai.models.generateContent({ model: 'm', contents: 'hi' })])
  },
  open: ({ model, ask, tools = [] }) => ({
    model,
    contents: [{ role: 'user', parts: [{ text: ask }] }],
    tools: [
      {
        functionDeclarations: tools.map(({ name, schema: parametersJsonSchema }) => ({
          name,
          parametersJsonSchema,
        })),
      },
    ],
  }),
  async receive(response) {
    const [body, type] =
      'text' in response
        ? [response.text, 'text/event-stream']
        : [JSON.stringify(response.body), 'application/json']
    const chat = connect('http://test', responding(body, type)).chats.create({ model: 'm' })
    if ('text' in response) await all(await chat.sendMessageStream({ message: 'hi' }))
    else await chat.sendMessage({ message: 'hi' })
    return chat.getHistory(true).slice(1)
  },
  continueWith({ contents, ...rest }, received, { runTool, ask, echo }) {
    const message =
      echo === 'thoughtless' ? thoughtless(received as Content[]) : (received as Content[])
    const results = message.flatMap(({ parts = [] }) =>
      parts.flatMap(({ functionCall: call }) =>
        call
          ? [
              {
                functionResponse: {
                  ...(call.id && { id: call.id }),
                  name: call.name,
                  response: { output: runTool(call.name ?? '') },
                },
              },
            ]
          : [],
      ),
    )
    const next = { role: 'user', parts: results.length > 0 ? results : [{ text: ask }] }
    // As it goes over the wire.
    return JSON.parse(
      JSON.stringify({ ...rest, contents: [...(contents as unknown[]), ...message, next] }),
    ) as Body
  },
}
