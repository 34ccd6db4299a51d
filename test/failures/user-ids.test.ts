import { expect, test } from 'vitest'
import { translateRequest } from '../support/untyped.ts'

/** Only these protocols name the user. */
const clients = {
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
} as const

test.each(
  (['chat-completions', 'responses'] as const).flatMap(from =>
    (['user', 'safety_identifier'] as const).flatMap(field =>
      ['ann@mail.example', 'id-7 <ann@mail.example>'].map(id => ({ from, field, id })),
    ),
  ),
)('an e-mail address as $field of $from is hashed for Anthropic: $id', ({ from, field, id }) => {
  const { body, notes } = translateRequest(
    { ...clients[from], [field]: id },
    { from, to: 'messages' },
  )
  const { metadata } = body as { metadata: { user_id: string } }
  expect(metadata.user_id).toMatch(/^[0-9a-f]{64}$/)
  expect(notes).toContainEqual(expect.objectContaining({ code: 'user.hashed', path: `/${field}` }))
})

test('an e-mail address within messages stays', () => {
  const body = {
    model: 'm',
    max_tokens: 5,
    messages: [{ role: 'user', content: 'hi' }],
    metadata: { user_id: 'ann@mail.example' },
  }
  expect(translateRequest(body, { from: 'messages', to: 'messages' }).body).toEqual(body)
})
