import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const data = 'iVBORw0KGgo='
const targets = (Object.keys(protocols) as ProtocolName[]).filter(to => to !== 'converse')
const user = (content: object[]) => ({ messages: [{ role: 'user', content }] })
const text = { guardContent: { text: { text: 'Is it allowed?', qualifiers: ['query'] } } }
const image = { guardContent: { image: { format: 'png', source: { bytes: data } } } }

describe('content for a guardrail', () => {
  test.each(targets)('is a text and an image for %s', to => {
    const { body, notes } = translateRequest(user([text, image]), {
      from: 'converse',
      to,
      model: 'm',
    })
    expect(JSON.stringify(body)).toContain('Is it allowed?')
    expect(JSON.stringify(body)).toContain(data)
    const places = notes.flatMap(({ code, path }) => (code === 'part.foreign' ? [path] : []))
    expect(places).toEqual(['/messages/0/content/0', '/messages/0/content/1'])
  })

  test.each(targets)('is an instruction for %s', to => {
    const request = { system: [text], ...user([{ text: 'hi' }]) }
    const { body } = translateRequest(request, { from: 'converse', to, model: 'm' })
    expect(JSON.stringify(body)).toContain('Is it allowed?')
  })

  test('of another form is left out', () => {
    const odd = { guardContent: { audio: {} } }
    const { body, notes } = translateRequest(user([{ text: 'hi' }, odd]), {
      from: 'converse',
      to: 'messages',
      model: 'm',
    })
    expect(JSON.stringify(body)).not.toContain('audio')
    expect(notes.map(({ code }) => code)).toContain('part.unknown')
  })

  test('stays as it is in its own protocol', () => {
    const { converse } = protocols
    const request = user([text, image])
    expect(converse.encodeRequest(converse.decodeRequest(request).value).wire).toEqual(request)
  })
})

describe('an object of S3', () => {
  const ask = (url: string) =>
    translateRequest(
      {
        model: 'amazon.nova-lite-v1:0',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              { type: 'image_url', image_url: { url } },
            ],
          },
        ],
      },
      { from: 'chat-completions', to: 'converse' },
    )
  test.each([
    ['a.png', { image: { format: 'png' } }],
    ['A.JPG', { image: { format: 'jpeg' } }],
    ['a.pdf', { document: { format: 'pdf' } }],
    ['a.mp4', { video: { format: 'mp4' } }],
  ])('has the format that its name shows: %s', (name, block) => {
    const url = `s3://bucket/folder/${name}`
    const { messages } = ask(url).body as { messages: { content: object[] }[] }
    const [key = ''] = Object.keys(block)
    expect(messages[0]?.content).toContainEqual({
      [key]: expect.objectContaining({
        ...Object.values(block)[0],
        source: { s3Location: { uri: url } },
      }) as object,
    })
  })

  test('of unknown format is left out', () => {
    const { body, notes } = ask('s3://bucket/a')
    expect(JSON.stringify(body)).not.toContain('s3://')
    expect(notes.map(({ code }) => code)).toContain('media.unsupported')
  })
})

describe('the automatic cache mark', () => {
  const ask = (model: string, content: unknown = 'hi') =>
    translateRequest(
      { model, messages: [{ role: 'user', content }] },
      { from: 'chat-completions', to: 'converse', converse: { autoCache: true } },
    )
  const point = { cachePoint: { type: 'default' } }

  test.each(['anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon.nova-pro-v1:0'])(
    'is behind the last user message for %s',
    model => {
      const { body, notes } = ask(model)
      expect(body).toEqual({ messages: [{ role: 'user', content: [{ text: 'hi' }, point] }] })
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toContain(
        'cache.auto /messages/0/content/1/cachePoint',
      )
    },
  )

  test.each([
    'meta.llama3-3-70b-instruct-v1:0',
    'arn:aws:bedrock:us-east-1:1:application-inference-profile/a',
  ])('is not written for a model that is not known to cache: %s', model =>
    expect(JSON.stringify(ask(model).body)).not.toContain('cachePoint'),
  )

  test('is not added to marks of the request', () => {
    const marked = [
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral' } },
      { type: 'text', text: 'b' },
    ]
    expect(ask('anthropic.claude-sonnet-4-5-20250929-v1:0', marked).body).toMatchObject({
      messages: [{ content: [{ text: 'a' }, point, { text: 'b' }] }],
    })
  })
})
