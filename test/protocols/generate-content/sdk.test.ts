import { ApiError, FinishReason, type GenerateContentResponse, GoogleGenAI } from '@google/genai'
import { describe, expect, test } from 'vitest'
import { explode } from '../../../src/canonical/explode.ts'
import type { Part } from '../../../src/canonical/message.ts'
import type { Finish } from '../../../src/canonical/response.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'
import { decodeStream, encodeStream } from '../../../src/testing/streams.ts'
import { responding } from '../../support/responding.ts'

/** The official client reads what the stream encoder writes. */

const { decodeResponse } = generateContent

function streamed(parts: Part[], finish: Finish = { reason: 'stop' }): string {
  const messages = [{ role: 'assistant' as const, origin: 'message' as const, parts }]
  return encodeStream(
    generateContent,
    explode({
      id: 'r1',
      model: 'm',
      candidates: [{ index: 0, messages, finish }],
      usage: { input: 3, output: 2 },
    }),
  ).text
}

const wireOf = (parts: object[], more: object) =>
  encodeStream(
    generateContent,
    explode(
      decodeResponse({
        candidates: [{ content: { role: 'model', parts }, ...more }],
        modelVersion: 'm',
        responseId: 'r1',
      }).value,
    ),
  ).text

async function chunks(text: string): Promise<GenerateContentResponse[]> {
  const all: GenerateContentResponse[] = []
  const ai = new GoogleGenAI({
    apiKey: 'test',
    httpOptions: { baseUrl: 'http://test', fetch: responding(text, 'text/event-stream') },
  })
  for await (const chunk of await ai.models.generateContentStream({ model: 'm', contents: 'hi' }))
    all.push(chunk)
  return all
}

/** What a chat sends with its next request. */
async function kept(text: string): Promise<object[]> {
  const ai = new GoogleGenAI({
    apiKey: 'test',
    httpOptions: { baseUrl: 'http://test', fetch: responding(text, 'text/event-stream') },
  })
  const chat = ai.chats.create({ model: 'm' })
  for await (const _ of await chat.sendMessageStream({ message: 'hi' }));
  return chat.getHistory(true).slice(1)
}

const textOf = (all: GenerateContentResponse[]) => all.map(({ text }) => text ?? '').join('')

describe("Google's client", () => {
  test.each(Object.values(FinishReason))('receives %s with the last event', async finishReason => {
    const all = await chunks(wireOf([{ text: 'yes' }], { finishReason }))
    expect(all.map(({ candidates }) => candidates?.[0]?.finishReason)).toEqual([
      undefined,
      finishReason,
    ])
    expect(textOf(all)).toBe('yes')
  })

  test('keeps a response of several texts and reasoning, and sends it back complete', async () => {
    const parts: Part[] = [
      { type: 'reasoning', segments: ['a', 'b'].map(text => ({ kind: 'summary', text })) },
      { type: 'text', text: 'c' },
      {
        type: 'text',
        text: 'd',
        signature: { value: 'QUJD', issuer: 'generate-content', form: 'thought' },
      },
      {
        type: 'tool-call',
        id: 'x1',
        name: 'look',
        kind: 'function',
        input: '{"q":1}',
        signature: { value: 'REVG', issuer: 'generate-content', form: 'thought' },
      },
    ]
    const text = streamed(parts, { reason: 'tool_calls' })
    const all = await chunks(text)
    expect(textOf(all)).toBe('cd')
    expect(all.flatMap(({ functionCalls = [] }) => functionCalls)).toEqual([
      { id: 'x1', name: 'look', args: { q: 1 } },
    ])
    expect(all.at(-1)?.usageMetadata).toEqual({
      promptTokenCount: 3,
      candidatesTokenCount: 2,
      totalTokenCount: 5,
    })
    const contents = [{ role: 'user', parts: [{ text: 'hi' }] }, ...(await kept(text))]
    const { messages } = generateContent.decodeRequest(
      { contents },
      { path: '/v1beta/models/m:streamGenerateContent' },
    ).value
    const sent = messages
      .filter(({ role }) => role === 'assistant')
      .flatMap(message => message.parts)
    const reported = sent.flatMap(part => {
      if (part.type === 'reasoning') return part.segments.map(segment => segment.text)
      if (part.type === 'text') return [part.text]
      return [part.type]
    })
    expect(reported.filter(Boolean)).toEqual(['a', 'b', 'c', 'd', 'tool-call'])
    expect(sent.flatMap(({ signature }) => (signature ? [signature.value] : []))).toEqual([
      'QUJD',
      'REVG',
    ])
  })

  test('receives complete arguments when the server sends them in chunks', async () => {
    const call = (functionCall: object, more: object = {}) => ({
      candidates: [{ content: { role: 'model', parts: [{ functionCall }] }, ...more }],
    })
    const wires = [
      call({ name: 'look', id: 'x1', willContinue: true }),
      call({
        partialArgs: [{ jsonPath: '$.q', stringValue: 'o', willContinue: true }],
        willContinue: true,
      }),
      call({ partialArgs: [{ jsonPath: '$.q', stringValue: 'ne' }], willContinue: true }),
      call({}, { finishReason: 'STOP' }),
    ]
    const reported = wires.map(wire => `data: ${JSON.stringify(wire)}\r\n\r\n`).join('')
    expect(
      (await chunks(reported)).flatMap(({ functionCalls = [] }) =>
        functionCalls.map(({ args }) => args),
      ),
    ).not.toContainEqual({ q: 'one' })
    const { text } = encodeStream(generateContent, decodeStream(generateContent, wires))
    expect((await chunks(text)).flatMap(({ functionCalls = [] }) => functionCalls)).toEqual([
      { id: 'x1', name: 'look', args: { q: 'one' } },
    ])
  })

  test('receives that a prompt was blocked', async () => {
    const { value } = decodeResponse({
      promptFeedback: { blockReason: 'SAFETY' },
      modelVersion: 'm',
      responseId: 'r1',
    })
    const all = await chunks(encodeStream(generateContent, explode(value)).text)
    expect(all.map(({ promptFeedback }) => promptFeedback?.blockReason)).toEqual(['SAFETY'])
  })

  test('ignores keep-alives', async () => {
    const { ping } = generateContent.frames
    expect(
      textOf(
        await chunks(
          streamed([{ type: 'text', text: 'yes' }]).replaceAll('data: ', `${ping}${ping}data: `),
        ),
      ),
    ).toBe('yes')
    // google-genai for Python reads whatever is not white space as JSON.
    expect(ping.trim()).toBe('')
  })

  test.each([
    ['an error', 529],
    ['a cut', 502],
  ])('fails with a status code when the source ended in %s', async (how, status) => {
    const events = explode({
      id: 'r1',
      candidates: [
        {
          index: 0,
          messages: [
            { role: 'assistant', origin: 'message', parts: [{ type: 'text', text: 'yes' }] },
          ],
        },
      ],
    })
    const message = events.filter(({ type }) => type !== 'end')
    const { text } = encodeStream(
      generateContent,
      how === 'an error'
        ? [
            ...message,
            { type: 'error', error: { status, kind: 'overloaded', message: 'full' } },
            { type: 'end', clean: false },
          ]
        : message,
    )
    const failure = await chunks(text).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ApiError)
    expect((failure as ApiError).status).toBe(how === 'an error' ? 503 : status)
  })
})
