import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { collectStream, explodeResponse, translateResponse } from '../../../src/index.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { responseOf, streamOf } from '../../../src/testing/properties.ts'
import { framesOf, run } from '../../../src/testing/streams.ts'
import { chat } from '../../support/examples/wires.ts'
import { runs } from '../../support/runs.ts'

const unsignedReasoning = 'seal'
const empty = { value: '', issuer: 'chat-completions', form: 'thinking' }

describe('an empty signature', () => {
  test('is put on the unsigned reasoning of a response, and changes nothing else of it', () => {
    fc.assert(
      fc.property(responseOf('chat-completions'), body => {
        const { value, notes } = chatCompletions.decodeResponse(body)
        for (const { messages } of value.candidates)
          for (const { parts } of messages)
            for (const part of parts)
              if (part.type === 'reasoning' && part.segments.length > 0)
                part.signature ??= { ...empty, form: 'thinking' }
        expect(chatCompletions.decodeResponse(body, { unsignedReasoning })).toEqual({
          value,
          notes,
        })
      }),
      runs(300),
    )
  })

  test('comes last of such reasoning in a stream, which says the same otherwise', () => {
    const eventsOf = (text: string, options: object): CanonicalEvent[] =>
      run(
        chatCompletions.streamDecoder,
        framesOf(text).map(({ wire }) => wire),
        { options },
      ).out
    fc.assert(
      fc.property(streamOf('chat-completions'), text => {
        const proven = new Set<number>()
        const reasoning = new Map<string, boolean>()
        const wanted = eventsOf(text, {}).flatMap((event): CanonicalEvent[] => {
          if (event.type === 'part.start' && event.head.type === 'reasoning')
            reasoning.set(`${event.candidate}/${event.part}`, event.head.signature !== undefined)
          if (event.type !== 'part.delta' && event.type !== 'part.end') return [event]
          const key = `${event.candidate}/${event.part}`
          if (event.type === 'part.delta' && event.delta.kind === 'signature')
            reasoning.set(key, true)
          if (event.type === 'part.delta' || reasoning.get(key) !== false) return [event]
          proven.add(event.part)
          const { candidate, part } = event
          return [
            {
              type: 'part.delta',
              candidate,
              part,
              delta: { kind: 'signature', signature: { ...empty, form: 'thinking' } },
            },
            event,
          ]
        })
        expect(eventsOf(text, { unsignedReasoning })).toEqual(wanted)
      }),
      runs(300),
    )
  })

  const response = chat.response({ content: 'yes', reasoning_content: 'hm' })
  const frames = [
    chat.chunk({ reasoning_content: 'hm' }),
    chat.chunk({ content: 'yes' }),
    chat.chunk({}, { finish_reason: 'stop' }),
  ]
  const stream = `${frames.map(frame => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`

  test('is not for clients of the same protocol, who get what there was', async () => {
    const plain = explodeResponse(response, { protocol: 'chat-completions' })
    expect(plain).toContain('"reasoning_content":"hm"')
    expect(
      explodeResponse(response, {
        protocol: 'chat-completions',
        chatCompletions: { unsignedReasoning },
      }),
    ).toBe(plain)
    const { body } = await collectStream([stream], { protocol: 'chat-completions' })
    expect(
      await collectStream([stream], {
        protocol: 'chat-completions',
        chatCompletions: { unsignedReasoning },
      }),
    ).toMatchObject({ body })
    expect(JSON.stringify(body)).not.toContain('reasoning_details')
  })

  test('is nothing to chat clients of another server that says it', () => {
    const { body } = translateResponse(response, {
      from: 'chat-completions',
      to: 'messages',
      chatCompletions: { unsignedReasoning },
    })
    expect(body).toMatchObject({
      content: [{ type: 'thinking', signature: expect.stringMatching(/^xs1\./) }, { type: 'text' }],
    })
    for (const options of [
      {},
      { signedReasoning: 'calls' as const },
      { signatures: 'store' as const },
      { signatures: 'none' as const },
    ]) {
      const { body: again, notes } = translateResponse(body, {
        from: 'messages',
        to: 'chat-completions',
        chatCompletions: options,
      })
      expect(again).toMatchObject({
        choices: [{ message: { content: 'yes', reasoning_content: 'hm' } }],
      })
      expect(JSON.stringify(again)).not.toContain('reasoning_details')
      expect(notes.map(({ code }) => code)).not.toContain('reasoning.signature-dropped')
    }
  })
})
