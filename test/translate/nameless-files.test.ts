import { expect, test } from 'vitest'
import { translateRequest } from '../support/untyped.ts'

const request = (source: object, more: object = {}) => ({
  model: 'm',
  max_tokens: 9,
  messages: [{ role: 'user', content: [{ type: 'document', source, ...more }] }],
})
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' }
const places = {
  'chat-completions': ['/messages/0/content/0/file/filename', 'messages.0.content.0.file.filename'],
  responses: ['/input/0/content/0/filename', 'input.0.content.0.filename'],
} as const

// Their provider wants a name beside the data of a file; every well-known client makes one up.
test.each(['chat-completions', 'responses'] as const)(
  'adds a name to a file without one, toward %s',
  to => {
    const [path, place] = places[to]
    const { body, notes } = translateRequest(request(pdf), { from: 'messages', to })
    expect(body).toHaveProperty(place, 'file.pdf')
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'media.filename', kind: 'synthesized', path }),
    )
  },
)

test.each(['chat-completions', 'responses'] as const)('keeps the name of a file, toward %s', to => {
  const { body, notes } = translateRequest(request(pdf, { title: 'a.pdf' }), {
    from: 'messages',
    to,
  })
  expect(body).toHaveProperty(places[to][1], 'a.pdf')
  expect(notes.map(({ code }) => code)).not.toContain('media.filename')
})

test('adds no name to a file URL', () => {
  const { body } = translateRequest(request({ type: 'url', url: 'https://example.com/a' }), {
    from: 'messages',
    to: 'responses',
  })
  expect(body).not.toHaveProperty(places.responses[1])
})

test('adds no name within one protocol', () => {
  const messages = [
    {
      role: 'user',
      content: [{ type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }],
    },
  ]
  expect(
    translateRequest({ model: 'm', messages }, { from: 'chat-completions', to: 'chat-completions' })
      .body,
  ).toEqual({ model: 'm', messages })
})

test.each([
  [
    'messages',
    'messages.0.content.0.source.media_type',
    '/messages/0/content/0/source/media_type',
    'application/pdf',
  ],
  [
    'responses',
    'input.0.content.0.file_data',
    '/input/0/content/0/file_data',
    'data:application/pdf;base64,QQ==',
  ],
  [
    'generate-content',
    'contents.0.parts.0.inlineData.mimeType',
    '/contents/0/parts/0/inlineData/mimeType',
    'application/pdf',
  ],
] as const)(
  'synthesizes the unknown type of bare data of a chat file, with a note: %s',
  (to, place, path, written) => {
    const read = (file: object) =>
      translateRequest(
        { model: 'm', messages: [{ role: 'user', content: [{ type: 'file', file }] }] },
        { from: 'chat-completions', to },
      )
    const guessed = read({ file_data: 'QQ==' })
    expect(guessed.body).toHaveProperty(place, written)
    expect(guessed.notes).toContainEqual(
      expect.objectContaining({ code: 'media.mime', kind: 'synthesized', path }),
    )
    // The first bytes of a PDF say what it is, as does a name.
    for (const file of [{ file_data: 'JVBERi0=' }, { file_data: 'QQ==', filename: 'a.pdf' }])
      expect(read(file).notes.map(({ code }) => code)).not.toContain('media.mime')
  },
)
