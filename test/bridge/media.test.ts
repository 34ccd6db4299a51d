import { describe, expect, test } from 'vitest'
import { createBridge } from '../../src/bridge/index.ts'
import type { MediaPart, Message } from '../../src/canonical/message.ts'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { Modality } from '../../src/models/model.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../../src/translate/request.ts'

const all: readonly Protocol[] = Object.values(protocols)
const pairs = all.flatMap(client =>
  all.map(upstream => ({ name: `${client.name} → ${upstream.name}`, client, upstream })),
)

const data = 'iVBORw0KGgo='
const image: MediaPart = {
  type: 'media',
  kind: 'image',
  source: { type: 'base64', data, mime: 'image/png' },
}
const user = (...parts: Message['parts']): Message => ({ role: 'user', origin: 'message', parts })
const says = (text: string) => ({ type: 'text' as const, text })
const request = (...messages: Message[]): CanonicalRequest => ({
  model: 'm',
  messages,
  maxOutputTokens: 100,
})

function translated(
  { client, upstream }: { client: Protocol; upstream: Protocol },
  given: CanonicalRequest,
  input: readonly Modality[],
) {
  const { wire } = client.encodeRequest(given)
  const path = client.address.target({ operation: 'generate', model: 'm', stream: false }) ?? ''
  const bridge = createBridge({ capabilities: { input } })
  return { wire, ...translateRequest(wire, client, upstream, all, { bridge, path }) }
}

const emulated = (notes: { kind: string; code: string }[]) =>
  notes.filter(({ kind }) => kind === 'emulated').map(({ code }) => code)

describe.each(pairs)('$name', pair => {
  test('a picture for a model that reads text becomes a sentence', () => {
    const { body, notes } = translated(pair, request(user(says('What is it?'), image)), ['text'])
    expect(JSON.stringify(body)).not.toContain(data)
    expect(JSON.stringify(body)).toContain('Here was an image')
    expect(emulated(notes)).toEqual(['media.placeholder'])
  })

  test('a picture for a model that reads pictures stays', () => {
    const { body, notes } = translated(pair, request(user(image)), ['text', 'image'])
    expect(JSON.stringify(body)).toContain(data)
    expect(emulated(notes)).toEqual([])
  })

  test('a request without a picture is not touched', () => {
    const { body, wire, notes, context } = translated(pair, request(user(says('Hi'))), ['text'])
    expect(emulated(notes)).toEqual([])
    if (pair.client !== pair.upstream) return
    expect(body).toBe(wire)
    expect(context).toEqual({ from: pair.client.name, to: pair.client.name })
  })
})

test('pictures in results of tools are replaced, too', () => {
  const call = { type: 'tool-call', id: 'c1', name: 'look', kind: 'function', input: '{}' } as const
  const given = request(
    user(says('Look')),
    { role: 'assistant', origin: 'message', parts: [call] },
    user({ type: 'tool-result', callId: 'c1', kind: 'function', content: [says('a'), image] }),
  )
  const pair = { client: protocols.messages, upstream: protocols.messages }
  const { body, notes } = translated(pair, given, ['text'])
  expect(JSON.stringify(body)).not.toContain(data)
  expect(notes.map(({ path }) => path)).toEqual(['/messages/2/content/0/content/1'])
})

test('a file of text is text, and names are kept', () => {
  const { request: bridged } = createBridge({ capabilities: { input: ['text'] } }).request(
    request(
      user(
        {
          type: 'media',
          kind: 'document',
          source: { type: 'text', text: 'hi', mime: 'text/plain' },
        },
        {
          type: 'media',
          kind: 'file',
          filename: 'a.zip',
          source: { type: 'url', url: 'http://x' },
        },
        {
          type: 'media',
          kind: 'audio',
          transcript: 'Hello!',
          source: { type: 'base64', data, mime: 'audio/wav' },
        },
      ),
    ),
    undefined,
  )
  expect(bridged.messages[0]?.parts).toMatchObject([
    { type: 'media' },
    { text: '[Here was a file (a.zip), which this model cannot read.]' },
    { text: '[Here was audio, which this model cannot read. Its transcript: Hello!]' },
  ])
})

test.each([
  ['deepseek-v4-pro', 1],
  ['deepseek-flash', 0],
  ['unknown', 0],
])('what is known of %s decides', (model, count) => {
  const { notes } = createBridge().request({ ...request(user(image)), model }, undefined)
  expect(notes).toHaveLength(count)
})
