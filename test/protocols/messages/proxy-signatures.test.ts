import { describe, expect, test } from 'vitest'
import { protocols } from '../../../src/protocols/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const { messages } = protocols
const use = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const signed = { ...use, provider_specific_fields: { signature: 'QUJD' } }
const body = (block: object) => ({
  model: 'm',
  max_tokens: 9,
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: [block] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'done' }] },
  ],
  tools: [{ name: 'f', input_schema: { type: 'object' } }],
})
const callOf = (block: object) => messages.decodeRequest(body(block)).value.messages[1]?.parts[0]
const summary = (notes: readonly { code: string; path: string }[]) =>
  notes
    .filter(({ path }) => path.startsWith('/messages/1/'))
    .map(({ code, path }) => `${code} ${path}`)

describe('the signature of a call in a history of a client of LiteLLM', () => {
  test('is read as one of Gemini', () => {
    expect(callOf(signed)).toMatchObject({
      type: 'tool-call',
      signature: { value: 'QUJD', issuer: 'generate-content', form: 'thought' },
    })
  })

  test('comes to a server of Gemini', () => {
    const { body: written, notes } = translateRequest(body(signed), {
      from: 'messages',
      to: 'generate-content',
    })
    expect(written).toMatchObject({
      contents: [{}, { parts: [{ functionCall: { name: 'f' }, thoughtSignature: 'QUJD' }] }, {}],
    })
    expect(summary(notes)).toEqual([])
  })

  test.each(['chat-completions', 'responses'] as const)(
    'is noted where it is of no use: %s',
    to => {
      const { body: written, notes } = translateRequest(body(signed), { from: 'messages', to })
      expect(JSON.stringify(written)).not.toContain('QUJD')
      expect(summary(notes)).toEqual([
        'reasoning.foreign-signature /messages/1/content/0/signature',
      ])
    },
  )

  test.each<['drop' | 'wrap']>([['drop'], ['wrap']])(
    'stays as it is within the protocol, foreignSignatures: %s',
    foreignSignatures => {
      for (const block of [
        signed,
        { ...signed, provider_specific_fields: { signature: 'QUJD', x: 1 } },
      ]) {
        const { value } = messages.decodeRequest(body(block))
        expect(messages.encodeRequest(value, { foreignSignatures })).toMatchObject({
          wire: body(block),
          notes: [],
        })
      }
    },
  )

  test('is not written again for a call that another signature was given', () => {
    const { value } = messages.decodeRequest(body(signed))
    const [call] = value.messages[1]?.parts ?? []
    if (call) delete call.signature
    expect(messages.encodeRequest(value).wire).toEqual(body(use))
  })

  test.each([[{ signature: 1 }], [{ signature: '' }], [{ thought_signature: 'QUJD' }], ['odd']])(
    'is not read from %j',
    provider_specific_fields => {
      const block = { ...use, provider_specific_fields }
      expect(callOf(block)).not.toHaveProperty('signature')
      const { notes } = translateRequest(body(block), { from: 'messages', to: 'generate-content' })
      expect(summary(notes)).toEqual([
        'field.unknown /messages/1/content/0/provider_specific_fields',
      ])
    },
  )
})
