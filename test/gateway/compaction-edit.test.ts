import { describe, expect, test } from 'vitest'
import type { UsageRecord } from '../../src/gateway/gateway.ts'
import { collectStream } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import {
  hostsOf,
  isStreaming,
  one,
  type Protocol,
  post,
  responses,
  sendJson,
  sendStream,
  streams,
  until,
  upstream,
} from './support.ts'

const compaction = { key: 'a secret of sixteen letters' }
const foreign: Protocol[] = ['chat-completions', 'responses', 'generate-content']
const headers = { 'x-api-key': 'k', 'anthropic-beta': 'compact-2026-01-12' }

const conversation = {
  model: 'm',
  max_tokens: 100,
  system: 'You rename files.',
  messages: [
    { role: 'user', content: 'Rename the file.' },
    {
      role: 'assistant',
      content: [{ type: 'tool_use', id: 'c1', name: 'shell', input: { command: 'mv a b' } }],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'done' }] },
  ],
  tools: [{ name: 'shell', input_schema: { type: 'object' } }],
}
const edit = (more: object = {}) => ({
  context_management: {
    edits: [
      {
        type: 'compact_20260112',
        trigger: { type: 'input_tokens', value: 20 },
        instructions: 'Keep names of files.',
        ...more,
      },
    ],
  },
})

const textsIn = (protocol: Protocol, body: unknown) =>
  protocols[protocol]
    .decodeRequest(body)
    .value.messages.map(({ role, parts }) => [
      role,
      parts.map(part => (part.type === 'text' ? part.text : part.type)).join(' '),
    ])

type Block = { type: string; encrypted_content?: string; content?: string; text?: string }
type Answer = { content: Block[]; stop_reason: string; usage: { output_tokens: number } }

const strict = strictOf('messages')

async function answerIn(response: Response, stream: boolean): Promise<Answer> {
  expect(response.status).toBe(200)
  const text = await response.text()
  if (stream) {
    const wires = framesOf(text).map(({ wire }) => wire)
    expect([strict.checkStream(wires), strict.outcome(wires)]).toEqual([[], 'success'])
    return (await collectStream([text], { protocol: 'messages' })).body as unknown as Answer
  }
  expect(strict.checkResponse(JSON.parse(text))).toEqual([])
  return JSON.parse(text) as Answer
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  describe.each([false, true])('stream: %s', stream => {
    const asked = async (served: Protocol, more: object, { key = true } = {}) => {
      const { url, calls } = await upstream((answer, call) =>
        isStreaming(served, call)
          ? sendStream(streams[served])(answer)
          : sendJson(200, responses[served])(answer),
      )
      const records: UsageRecord[] = []
      const ask = await start(one(url, served, key ? { compaction } : {}), {
        logger: false,
        onUsage: record => void records.push(record),
      })
      const send = (body: object) => ask('/v1/messages', post({ ...body, stream }, headers))
      return { calls, records, send, response: await send({ ...conversation, ...more }) }
    }

    test.each(foreign)('a long conversation is compacted and answered, %s', async served => {
      const { calls, records, send, response } = await asked(served, edit())
      const { content, stop_reason: reason, usage } = await answerIn(response, stream)
      expect(content.map(({ type }) => type)).toEqual(['compaction', 'text'])
      expect(content[0]?.encrypted_content).toMatch(/^wireglot\.1\./)
      expect(content[0]?.content).not.toContain('Hello')
      expect([content[1]?.text, reason]).toEqual(['Hello', 'end_turn'])
      // The summary is asked for, and the answer is given from it alone.
      expect(calls).toHaveLength(2)
      expect(calls[0]?.text).toContain('mv a b')
      expect(textsIn(served, calls[0]?.json).at(-1)?.[1]).toMatch(
        /Write a summary[\s\S]*Keep names/,
      )
      expect(textsIn(served, calls[1]?.json)).toEqual([
        ['system', 'You rename files.'],
        ['user', expect.stringMatching(/^The conversation so far[\s\S]*Hello[\s\S]*Go on/)],
      ])
      await until(() => records.length > 0)
      expect(records[0]?.noteCodes).toContain('gateway.compacted')
      // As providers do, the response counts the answer alone.
      expect(records[0]?.usage?.output).toBeGreaterThan(usage.output_tokens)
      // What the client sends next holds the whole history.
      const later = [
        ...conversation.messages,
        { role: 'assistant', content },
        { role: 'user', content: 'Now c.' },
      ]
      await answerIn(await send({ ...conversation, messages: later }), stream)
      expect(textsIn(served, calls[2]?.json)).toEqual([
        ['system', 'You rename files.'],
        ['user', expect.stringMatching(/^The conversation so far[\s\S]*Hello$/)],
        ['assistant', 'Hello'],
        ['user', 'Now c.'],
      ])
    })

    test.each(foreign)('a client that pauses gets the compaction alone, %s', async served => {
      const { calls, response } = await asked(served, edit({ pause_after_compaction: true }))
      const { content, stop_reason: reason } = await answerIn(response, stream)
      expect([content.map(({ type }) => type), reason]).toEqual([['compaction'], 'compaction'])
      expect(calls).toHaveLength(1)
    })

    test('so does one that asks for nothing else', async () => {
      const { calls, response } = await asked('chat-completions', {
        compaction: { type: 'summarize' },
      })
      const { content, stop_reason: reason } = await answerIn(response, stream)
      expect([content.map(({ type }) => type), reason]).toEqual([['compaction'], 'compaction'])
      expect(calls).toHaveLength(1)
    })

    test('a short conversation is answered as it is', async () => {
      const { calls, records, response } = await asked(
        'chat-completions',
        edit({ trigger: { type: 'input_tokens', value: 50_000 } }),
      )
      const { content } = await answerIn(response, stream)
      expect(content.map(({ type }) => type)).toEqual(['text'])
      expect(calls).toHaveLength(1)
      await until(() => records.length > 0)
      expect(records[0]?.noteCodes ?? []).not.toContain('gateway.compacted')
    })

    test('without a key all is as before', async () => {
      const { calls, records, response } = await asked('chat-completions', edit(), { key: false })
      const { content } = await answerIn(response, stream)
      expect([content.map(({ type }) => type), calls.length]).toEqual([['text'], 1])
      await until(() => records.length > 0)
      expect(records[0]?.noteCodes).toContain('field.unsupported')
      const alone = await asked(
        'chat-completions',
        { compaction: { type: 'summarize' } },
        { key: false },
      )
      expect(alone.response.status).toBe(400)
    })
  })
})
