import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { Hooks, UsageRecord } from '../../src/gateway/gateway.ts'
import { protocols } from '../../src/protocols/index.ts'
import {
  hostsOf,
  one,
  type Protocol,
  pairs,
  post,
  responses,
  sendJson,
  until,
  upstream,
} from './support.ts'

const pdf = Buffer.from('%PDF-1.7 the contract').toString('base64')
const asking: CanonicalRequest = {
  model: 'm',
  maxOutputTokens: 100,
  messages: [
    {
      role: 'user',
      origin: 'message',
      parts: [
        { type: 'text', text: 'What is this?' },
        {
          type: 'media',
          kind: 'document',
          filename: 'contract.pdf',
          source: { type: 'base64', data: pdf, mime: 'application/pdf' },
        },
      ],
    },
  ],
}
const blind = { capabilities: { input: ['text'] } }

function reading(text: unknown) {
  const seen: { text: string; mime?: string | undefined; filename?: string | undefined }[] = []
  const records: UsageRecord[] = []
  const hooks: Hooks = {
    logger: false,
    onUsage: record => void records.push(record),
    documentText({ bytes, mime, filename }) {
      seen.push({ text: new TextDecoder().decode(bytes), mime, filename })
      if (text instanceof Error) throw text
      return text as string
    },
  }
  return { seen, records, hooks }
}

describe.each(hostsOf(import.meta.url))('through %s', (_, start) => {
  const asked = async (
    client: Protocol,
    served: Protocol,
    hooks: Hooks,
    { model = blind, request = asking }: { model?: object; request?: CanonicalRequest } = {},
  ) => {
    const { url, calls } = await upstream(sendJson(200, responses[served]))
    const ask = await start(one(url, served, {}, model), hooks)
    const { wire } = protocols[client].encodeRequest(request)
    const path = protocols[client].address.target({
      operation: 'generate',
      model: 'm',
      stream: false,
    })
    const response = await ask(path ?? '', post(wire, { 'x-api-key': 'k' }))
    expect(response.status).toBe(200)
    return calls[0]?.text ?? ''
  }

  test.each(pairs)(
    'the text of a document stands in its place, %s client, %s upstream',
    async (client, served) => {
      const { seen, records, hooks } = reading('It lasts two years.')
      const sent = await asked(client, served, hooks)
      expect(sent).toContain('as text:]\\nIt lasts two years.')
      expect(sent).not.toContain(pdf)
      expect(seen).toEqual([
        expect.objectContaining({ text: '%PDF-1.7 the contract', mime: 'application/pdf' }),
      ])
      await until(() => records.length === 1)
      expect(records[0]?.noteCodes).toContain('gateway.document-text')
    },
  )

  test.each([
    ['nothing', undefined],
    ['an exception', new Error('no')],
    ['no text', 5],
  ])('a hook with %s leaves a sentence', async (_name, text) => {
    const { records, hooks } = reading(text)
    expect(await asked('messages', 'chat-completions', hooks)).toContain('[Here was a document')
    await until(() => records.length === 1)
    expect(records[0]?.noteCodes).not.toContain('gateway.document-text')
  })

  test('several documents are read at once, so that all have the time of one', async () => {
    const parts = ['first', 'second', 'third'].map(text => ({
      type: 'media' as const,
      kind: 'document' as const,
      source: {
        type: 'base64' as const,
        data: Buffer.from(`%PDF-1.7 ${text}`).toString('base64'),
        mime: 'application/pdf',
      },
    }))
    const request: CanonicalRequest = {
      ...asking,
      messages: [{ role: 'user', origin: 'message', parts }],
    }
    const waiting: (() => void)[] = []
    const documentText = async ({ bytes }: { bytes: Uint8Array }) => {
      await new Promise<void>(resolve => {
        waiting.push(resolve)
        if (waiting.length === parts.length) for (const go of waiting) go()
      })
      return new TextDecoder().decode(bytes)
    }
    const sent = await asked(
      'messages',
      'chat-completions',
      { logger: false, documentText },
      { request },
    )
    expect(sent).toMatch(/first.*second.*third/)
  })

  test('models that read documents get them', async () => {
    for (const model of [
      {},
      { capabilities: { input: ['text', 'file'] } },
      { ...blind, bridge: false },
    ]) {
      const { seen, hooks } = reading('No.')
      expect(await asked('messages', 'chat-completions', hooks, { model })).toContain(pdf)
      expect(seen).toEqual([])
    }
  })

  test('a model that is known to read text alone gets the text', async () => {
    const { hooks } = reading('It lasts two years.')
    const model = { channels: [{ name: 'up', model: 'gpt-oss-120b' }] }
    expect(await asked('messages', 'chat-completions', hooks, { model })).toContain('two years')
  })
})
