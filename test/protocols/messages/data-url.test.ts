import { describe, expect, test } from 'vitest'
import { protocols } from '../../../src/protocols.ts'
import type { Covered } from '../../support/covered.ts'
import { translateRequest } from '../../support/untyped.ts'

/**
 * A URL of data where messages wants one to fetch: other protocols have such URLs, and some clients
 * carry them over.
 */

const asking = (type: 'image' | 'document', url: string) => ({
  model: 'm',
  max_tokens: 100,
  messages: [{ role: 'user', content: [{ type, source: { type: 'url', url, odd: 1 } }] }],
})

const png = 'data:image/png;base64,iVBORw0KGgo='
const book = 'DATA:application/pdf;base64,JVBERi0='

const written: Record<Exclude<Covered, 'messages'>, [image: object, document: object]> = {
  'chat-completions': [
    { image_url: { url: png } },
    { file: { file_data: 'data:application/pdf;base64,JVBERi0=' } },
  ],
  responses: [{ image_url: png }, { file_data: 'data:application/pdf;base64,JVBERi0=' }],
  'generate-content': [
    { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } },
    { inlineData: { mimeType: 'application/pdf', data: 'JVBERi0=' } },
  ],
}

describe('the data of a data URL', () => {
  test.each(Object.entries(written) as [keyof typeof written, [object, object]][])(
    'reaches %s as data',
    (to, [image, document]) => {
      for (const [type, url, expected] of [
        ['image', png, image],
        ['document', book, document],
      ] as const) {
        const { body } = translateRequest(asking(type, url), { from: 'messages', to })
        const [turn] = ((body as Record<string, unknown>)['messages'] ??
          (body as Record<string, unknown>)['input'] ??
          (body as Record<string, unknown>)['contents']) as Record<string, unknown>[]
        expect((turn?.['content'] ?? turn?.['parts']) as unknown[]).toMatchObject([expected])
      }
    },
  )

  test('comes back as it was written', () => {
    for (const body of [
      asking('image', png),
      asking('document', book),
      asking('image', 'data:,'),
      asking('document', 'data:x'),
    ]) {
      const { value } = protocols.messages.decodeRequest(body)
      expect(protocols.messages.encodeRequest(value).wire).toEqual(body)
    }
  })
})
