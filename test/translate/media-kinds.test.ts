import { expect, test } from 'vitest'
import { translateRequest } from '../support/untyped.ts'

const url = 'data:application/pdf;base64,JVBERi0='
const asking = {
  'chat-completions': {
    model: 'm',
    messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  },
  responses: {
    model: 'm',
    input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
  },
}

test.each(Object.keys(asking) as (keyof typeof asking)[])(
  'a PDF in the place of an image of %s is a document',
  from => {
    const translated = (to: 'messages' | 'generate-content' | 'converse') =>
      JSON.stringify(translateRequest(asking[from], { from, to, model: 'm' }).body)
    expect(translated('messages')).toContain(
      '{"type":"document","source":{"type":"base64","media_type":"application/pdf"',
    )
    expect(translated('converse')).toContain('{"document":{"format":"pdf"')
    expect(translated('generate-content')).toContain('"mimeType":"application/pdf"')
    const other = from === 'responses' ? 'chat-completions' : 'responses'
    const { body } = translateRequest(asking[from], { from, to: other })
    expect(JSON.stringify(body)).toContain(`"file_data":"${url}"`)
  },
)

test.each(['chat-completions', 'responses', 'messages'] as const)(
  'a stored video, which %s has no field for, is dropped with a note',
  to => {
    const fileData = { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' }
    const request = { contents: [{ role: 'user', parts: [{ fileData }, { text: 'What is it?' }] }] }
    const { notes } = translateRequest(request, { from: 'generate-content', to, model: 'm' })
    const lost = notes.filter(({ kind, path }) => kind === 'dropped' && path.includes('/parts/0'))
    expect(lost.map(({ code }) => code)).toContainEqual(
      expect.stringMatching(/^(part|media)\.unsupported$/),
    )
  },
)
