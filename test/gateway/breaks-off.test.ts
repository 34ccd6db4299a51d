import { GoogleGenAI } from '@google/genai'
import { describe, expect, test } from 'vitest'
import {
  asking,
  failureIn,
  half,
  hostsOf,
  listen,
  mounted,
  one,
  type Protocol,
  pairs,
  pathOf,
  post,
  requests,
  sendStream,
  streams,
  textBeforeBreak,
  upstream,
} from './support.ts'

/** An error inside a stream that says that the request is wrong. */
const rejections: Record<Protocol, string> = {
  'chat-completions':
    'data: {"error":{"message":"Not this","type":"invalid_request_error","param":null,"code":null}}\n\n',
  responses:
    'event: error\ndata: {"type":"error","sequence_number":9,"code":"invalid_prompt","message":"Not this","param":null}\n\n',
  messages:
    'event: error\ndata: {"type":"error","error":{"type":"invalid_request_error","message":"Not this"}}\n\n',
  'generate-content':
    'data: {"error":{"code":400,"message":"Not this","status":"INVALID_ARGUMENT"}}\n\n',
}

const toGoogle = pairs.filter(([client]) => client === 'generate-content')

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  test.each(pairs)(
    'breaks the connection behind the error frame where clients need it to retry: %s from %s',
    async (client, served) => {
      const { url } = await upstream(sendStream([...half(served), 20], { cut: true }))
      const ask = await start(one(url, served))
      let broke = false
      const response = await ask(
        pathOf(client, { stream: true }),
        post({ ...requests[client], ...(client !== 'generate-content' && { stream: true }) }),
      )
      const text = await textBeforeBreak(response, () => {
        broke = true
      })
      expect(failureIn(text, client)?.message).toBe('the upstream broke the connection')
      expect(broke).toBe(client === 'generate-content' || client === 'messages')
    },
  )

  test.each(pairs)('ends a complete stream without a break: %s from %s', async (client, served) => {
    const { url } = await upstream(sendStream(streams[served]))
    const ask = await start(one(url, served))
    await textBeforeBreak(await ask(...asking(client, { stream: true })), () =>
      expect.unreachable(),
    )
  })

  test.each(pairs.filter(([client]) => client === 'messages'))(
    'ends a stream without a break when a retry would fail in the same way: %s from %s',
    async (client, served) => {
      const { url } = await upstream(sendStream([...half(served), rejections[served]]))
      const ask = await start(one(url, served))
      const text = await textBeforeBreak(await ask(...asking(client, { stream: true })), () =>
        expect.unreachable(),
      )
      expect(failureIn(text, client)?.message).toContain('Not this')
    },
  )

  test.each(['messages', 'generate-content'] as const)(
    'breaks the connection after the error of a failed response: %s',
    async client => {
      const chunk = (delta: object, finish_reason: string | null) =>
        `data: ${JSON.stringify({ id: 'x', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
      const { url } = await upstream(
        sendStream([chunk({ content: 'Hel' }, null), 20, chunk({}, 'error'), 'data: [DONE]\n\n']),
      )
      const ask = await start(one(url, 'chat-completions'))
      let broke = false
      const text = await textBeforeBreak(await ask(...asking(client, { stream: true })), () => {
        broke = true
      })
      expect(failureIn(text, client)).toBeDefined()
      expect(broke).toBe(true)
    },
  )

  test('passes a failed response of the same protocol without a break', async () => {
    const failed = {
      candidates: [
        { index: 0, finishReason: 'MALFORMED_FUNCTION_CALL', finishMessage: 'bad call' },
      ],
    }
    const { url } = await upstream(sendStream([`data: ${JSON.stringify(failed)}\n\n`]))
    const ask = await start(one(url, 'generate-content'))
    const text = await textBeforeBreak(
      await ask(...asking('generate-content', { stream: true })),
      () => expect.unreachable(),
    )
    expect(text).toContain('MALFORMED_FUNCTION_CALL')
  })

  test('sends the first candidate without a break when another one failed', async () => {
    const responded = {
      index: 0,
      content: { role: 'model', parts: [{ text: 'Hello' }] },
      finishReason: 'STOP',
    }
    const { url } = await upstream(
      sendStream([
        `data: ${JSON.stringify({ candidates: [responded, { index: 1, finishReason: 'OTHER' }] })}\n\n`,
      ]),
    )
    const ask = await start(one(url, 'generate-content'))
    const text = await textBeforeBreak(await ask(...asking('messages', { stream: true })), () =>
      expect.unreachable(),
    )
    expect(text).toContain('Hello')
    expect(text).toContain('message_stop')
  })

  test('ends a list that the upstream itself sends and cuts off as valid JSON', async () => {
    const first = JSON.stringify({
      candidates: [
        { content: { role: 'model', parts: [{ text: 'a'.repeat(100_000) }] }, index: 0 },
      ],
    })
    const { url } = await upstream(
      sendStream([`[${first},\n${first.slice(0, 30)}`, 20], { cut: true }),
    )
    const ask = await start(one(url, 'generate-content'))
    const response = await ask(
      pathOf('generate-content', { stream: true }),
      post(requests['generate-content']),
    )
    const list = JSON.parse(await textBeforeBreak(response, () => {})) as unknown[]
    expect(list).toEqual([
      JSON.parse(first),
      { error: expect.objectContaining({ message: 'the upstream broke the connection' }) },
    ])
  })

  test('ends a list of JSON that failed without a break', async () => {
    const { url } = await upstream(sendStream([...half('messages'), 20], { cut: true }))
    const ask = await start(one(url, 'messages'))
    const response = await ask(
      pathOf('generate-content', { stream: true }).replace('?alt=sse', ''),
      post(requests['generate-content']),
    )
    const list = JSON.parse(await textBeforeBreak(response, () => expect.unreachable())) as {
      error?: unknown
    }[]
    expect(list.at(-1)).toHaveProperty('error')
  })
})

test.each(toGoogle.map(([, served]) => served))(
  'makes the official client of generate-content fail on half a response of %s',
  async served => {
    const { url } = await upstream(sendStream([...half(served), 20], { cut: true }))
    const baseUrl = await listen(mounted(one(url, served)))
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl } })
    const read = async () => {
      for await (const chunk of await client.models.generateContentStream({
        model: 'm',
        contents: 'Hi',
      }))
        chunk.text
    }
    await expect(read()).rejects.toThrow()
  },
)
