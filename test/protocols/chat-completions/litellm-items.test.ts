import { describe, expect, test } from 'vitest'
import { withoutWire } from '../../../src/kit/fields/source.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const { 'chat-completions': chat } = protocols
const item = {
  type: 'reasoning',
  id: 'rs_1',
  encrypted_content: 'R0FBQUE=',
  summary: [{ type: 'summary_text', text: 'Hm.' }],
}
const bare = { ...item, id: 'rs_2', summary: [] }
const body = (fields: object) => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: 'a', ...fields },
    { role: 'user', content: 'more' },
  ],
})
const codesAt = (notes: readonly { code: string; path: string }[]) =>
  notes
    .filter(({ path }) => path.includes('reasoning_items'))
    .map(({ code, path }) => `${code} ${path}`)

describe('reasoning items in a history of a client of LiteLLM', () => {
  test('are read as reasoning with the signature of the responses protocol', () => {
    const signature = { value: 'R0FBQUE=', issuer: 'responses', form: 'encrypted' }
    expect(
      chat.decodeRequest(body({ reasoning_items: [item, bare] })).value.messages[1]?.parts,
    ).toMatchObject([
      { type: 'reasoning', id: 'rs_1', segments: [{ kind: 'summary', text: 'Hm.' }], signature },
      { type: 'reasoning', id: 'rs_2', segments: [], redacted: true, signature },
      { type: 'text', text: 'a' },
    ])
  })

  test('come back as items to a server of the responses protocol', () => {
    const { body: written, notes } = translateRequest(
      body({ reasoning_items: [item, bare], reasoning_content: 'Hm.' }),
      {
        from: 'chat-completions',
        to: 'responses',
      },
    )
    const { input } = written as { input: { type: string }[] }
    expect(input.filter(({ type }) => type === 'reasoning')).toEqual([item, bare])
    expect(codesAt(notes)).toEqual([])
  })

  test.each<['messages' | 'generate-content', string[]]>([
    ['messages', ['reasoning.foreign-signature /messages/1/reasoning_items/0']],
    [
      'generate-content',
      [
        'message.envelope /messages/1/reasoning_items/0/id',
        'reasoning.foreign-signature /messages/1/reasoning_items/0/encrypted_content',
      ],
    ],
  ])('are noted where the signature is of no use: %s', (to, expected) => {
    const { body: written, notes } = translateRequest(body({ reasoning_items: [item] }), {
      from: 'chat-completions',
      to,
    })
    expect(JSON.stringify(written)).not.toContain(item.encrypted_content)
    expect(codesAt(notes)).toEqual(expected)
  })

  test.each([[[item, bare]], [[{ ...item, x: 1 }]], ['odd']])(
    'stay as they are within the protocol: %j',
    reasoning_items => {
      const received = body({ reasoning_items })
      expect(
        translateRequest(received, {
          from: 'chat-completions',
          to: 'chat-completions',
          model: 'other',
        }),
      ).toMatchObject({
        body: { ...received, model: 'other' },
        notes: [],
      })
    },
  )

  test('are left out where reasoning is not sent', () => {
    const { value } = chat.decodeRequest(body({ reasoning_items: [item] }))
    const { wire, notes } = chat.encodeRequest(withoutWire(value), { reasoningInHistory: 'never' })
    expect(wire).toEqual(body({}))
    expect(codesAt(notes)).toEqual(['reasoning.dropped /messages/1/reasoning_items/0'])
  })

  test.each([
    [[{ ...item, x: 1 }]],
    [[{ ...item, summary: [{ type: 'summary_text', text: 'Hm.', x: 1 }] }]],
    [[item, { type: 'other' }]],
  ])('are not read if one has something else: %j', reasoning_items => {
    const { notes } = translateRequest(body({ reasoning_items }), {
      from: 'chat-completions',
      to: 'responses',
    })
    expect(codesAt(notes)).toEqual(['field.unknown /messages/1/reasoning_items'])
  })
})
