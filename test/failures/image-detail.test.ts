import { expect, test } from 'vitest'
import { translateRequest } from '../support/untyped.ts'

test.each([
  ['original', 'high', ['media.detail']],
  ['high', 'high', []],
  ['low', 'low', []],
])('the detail %s of a picture is %s for a server of chat-completions', (detail, word, noted) => {
  const picture = { type: 'input_image', image_url: 'https://a.example/a.png', detail }
  const { body, notes } = translateRequest(
    { model: 'm', input: [{ role: 'user', content: [picture] }] },
    { from: 'responses', to: 'chat-completions' },
  )
  expect(body).toMatchObject({
    messages: [{ content: [{ type: 'image_url', image_url: { detail: word } }] }],
  })
  expect(notes.map(({ code }) => code)).toEqual(noted)
})
