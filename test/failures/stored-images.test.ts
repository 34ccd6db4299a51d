import { expect, test } from 'vitest'
import { strictOf } from '../../src/testing/index.ts'
import { translateRequest } from '../support/untyped.ts'

const image = { image: { format: 'png', source: { s3Location: { uri: 's3://cats/one.png' } } } }

test.each(['chat-completions', 'responses', 'messages', 'generate-content'] as const)(
  'an image in S3 is not sent to %s, whose servers refuse the address',
  to => {
    const { body, notes } = translateRequest(
      { messages: [{ role: 'user', content: [image, { text: 'what is it' }] }] },
      { from: 'converse', to, model: 'm' },
    )
    expect(JSON.stringify(body)).not.toContain('s3:')
    expect(JSON.stringify(body)).toContain('what is it')
    expect(strictOf(to).checkRequest(body)).toEqual([])
    expect(notes.map(({ kind, path }) => `${kind} ${path}`)).toContainEqual(
      expect.stringMatching(/^dropped \/messages\/0\/content\/0/),
    )
  },
)
