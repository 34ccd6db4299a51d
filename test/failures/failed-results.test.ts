import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const png = 'iVBORw0KGgo='
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
const converseImage = { image: { format: 'png', source: { bytes: png } } }
const inlineImage = { inlineData: { mimeType: 'image/png', data: png } }
const dataUrl = `data:image/png;base64,${png}`

/** A failed call whose result has a text, and a picture or not. */
const failed: Partial<Record<ProtocolName, (hasImage: boolean) => object>> = {
  messages: hasImage => ({
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'shot' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'shot', input: {} }] },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: 'c1',
            is_error: true,
            content: [{ type: 'text', text: 'timed out' }, ...(hasImage ? [image] : [])],
          },
        ],
      },
    ],
  }),
  converse: hasImage => ({
    messages: [
      { role: 'user', content: [{ text: 'shot' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'shot', input: {} } }] },
      {
        role: 'user',
        content: [
          {
            toolResult: {
              toolUseId: 'c1',
              status: 'error',
              content: [{ text: 'timed out' }, ...(hasImage ? [converseImage] : [])],
            },
          },
        ],
      },
    ],
  }),
  'generate-content': hasImage => ({
    contents: [
      { role: 'user', parts: [{ text: 'shot' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'shot', args: {} } }] },
      {
        role: 'user',
        parts: [
          {
            functionResponse: {
              id: 'c1',
              name: 'shot',
              response: { error: 'timed out' },
              ...(hasImage && { parts: [inlineImage] }),
            },
          },
        ],
      },
    ],
  }),
}

const models = ['anthropic.claude-sonnet-4-5-20250929-v1:0', 'amazon.nova-lite-v1:0']
const rows = Object.entries(failed).flatMap(([from, of]) =>
  (['messages', 'converse'] as const).flatMap(to =>
    from === to ? [] : models.map(model => ({ from: from as ProtocolName, to, model, of })),
  ),
)

describe.each(rows)('a failed result $from → $to of $model', ({ from, to, model, of }) => {
  test.each([true, false])('keeps its picture (%s), and its flag where it may', hasImage => {
    const { body, notes } = translateRequest(of(hasImage), { from, to, model })
    const { messages } = protocols[to].decodeRequest(body).value
    const result = messages.flatMap(({ parts }) => parts).find(one => one.type === 'tool-result')
    expect(result?.content.map(({ type }) => type)).toEqual(hasImage ? ['text', 'media'] : ['text'])
    const refuses = hasImage && (to === 'messages' || model.includes('claude'))
    expect(result?.isError).toBe(refuses ? undefined : true)
    const codes = notes.map(({ code }) => code).filter(code => code === 'tool-result.error-flag')
    expect(codes).toEqual(refuses ? ['tool-result.error-flag'] : [])
  })
})

/** A picture of the model in the history, as each protocol has it. */
const shown: Partial<Record<ProtocolName, object>> = {
  'chat-completions': {
    messages: [
      { role: 'user', content: 'draw' },
      {
        role: 'assistant',
        content: 'Here.',
        images: [{ type: 'image_url', image_url: { url: dataUrl }, index: 0 }],
      },
      { role: 'user', content: 'bluer' },
    ],
  },
  'generate-content': {
    contents: [
      { role: 'user', parts: [{ text: 'draw' }] },
      { role: 'model', parts: [{ text: 'Here.' }, inlineImage] },
      { role: 'user', parts: [{ text: 'bluer' }] },
    ],
  },
  converse: {
    messages: [
      { role: 'user', content: [{ text: 'draw' }] },
      { role: 'assistant', content: [{ text: 'Here.' }, converseImage] },
      { role: 'user', content: [{ text: 'bluer' }] },
    ],
  },
}

test.each(
  protocolNames.flatMap(from =>
    (['messages', 'converse'] as const).flatMap(to =>
      from !== to && shown[from] ? [{ from, to, body: shown[from] }] : [],
    ),
  ),
)('a picture of the model is not sent in its turn, with a note: $from → $to', row => {
  const { body, notes } = translateRequest(row.body, {
    from: row.from,
    to: row.to,
    model: 'claude-sonnet-4-5',
  })
  const { messages } = protocols[row.to].decodeRequest(body).value
  expect(messages.map(({ parts }) => parts.map(({ type }) => type))).toEqual([
    ['text'],
    ['text'],
    ['text'],
  ])
  expect(notes.map(({ code }) => code)).toContain('media.unsupported')
})
