import { describe, expect, test } from 'vitest'
import type { ProtocolName } from '../../src/index.ts'
import { protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='

/** Parts of a user message that are written as the responses protocol has them. */
const foreign = {
  text: { type: 'input_text', text: 'What is this?' },
  output: { type: 'output_text', text: 'What is this?', annotations: [] },
  image: { type: 'input_image', image_url: `data:image/png;base64,${png}` },
  file: {
    type: 'input_file',
    filename: 'a.pdf',
    file_data: 'data:application/pdf;base64,JVBERi0=',
  },
}
/** The same parts in the form of the protocol. */
const own: Partial<Record<ProtocolName, Record<keyof typeof foreign, object>>> = {
  'chat-completions': {
    text: { type: 'text', text: 'What is this?' },
    output: { type: 'text', text: 'What is this?' },
    image: { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    file: {
      type: 'file',
      file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0=' },
    },
  },
  messages: {
    text: { type: 'text', text: 'What is this?' },
    output: { type: 'text', text: 'What is this?' },
    image: { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    file: {
      type: 'document',
      title: 'a.pdf',
      source: { type: 'base64', media_type: 'application/pdf', data: 'JVBERi0=' },
    },
  },
}
const says = (content: object[]) => ({
  model: 'm',
  max_tokens: 50,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Look:' }, ...content] }],
})
const kinds = Object.keys(foreign) as (keyof typeof foreign)[]

describe.each(['chat-completions', 'messages'] as const)('content of %s', from => {
  const targets = (Object.keys(protocols) as ProtocolName[]).filter(to => to !== from)

  test.each(targets.flatMap(to => kinds.map(kind => [to, kind] as const)))(
    'reaches %s when a part is the %s of responses',
    (to, kind) => {
      const made = translateRequest(says([foreign[kind]]), { from, to })
      const due = translateRequest(says([own[from]?.[kind] ?? {}]), { from, to })
      const parts = ({ body }: { body: unknown }) =>
        JSON.stringify(body).replaceAll(/,?"(title|filename|displayName)":"a.pdf"/g, '')
      expect(parts(made)).toBe(parts(due))
      expect(made.notes).toContainEqual(
        expect.objectContaining({
          code: 'part.foreign',
          kind: 'approximated',
          path: '/messages/0/content/1',
        }),
      )
    },
  )

  test.each(kinds)('is written back unchanged when a part is the %s of responses', kind => {
    const body = says([foreign[kind]])
    const { value } = protocols[from].decodeRequest(body)
    expect(protocols[from].encodeRequest(value).wire).toEqual(body)
  })

  test('notes the fields of a foreign part that are not read', () => {
    const { notes } = translateRequest(says([{ ...foreign.text, vendor: 1 }]), {
      from,
      to: 'responses',
    })
    expect(notes).toContainEqual(
      expect.objectContaining({ code: 'field.unknown', path: '/messages/0/content/1/vendor' }),
    )
  })

  test('drops a foreign part with a note when it holds no text, image or file', () => {
    const { notes } = translateRequest(
      says([{ type: 'input_text' }, { type: 'input_image' }, { type: 'input_file' }]),
      { from, to: 'responses' },
    )
    expect(notes.filter(({ code }) => code === 'part.unknown').map(({ path }) => path)).toEqual(
      [1, 2, 3].map(index => `/messages/0/content/${index}`),
    )
  })

  test('refuses a foreign part that only names a stored file', () => {
    const body = says([{ type: 'input_file', file_id: 'file_1' }])
    expect(() => translateRequest(body, { from, to: 'responses' })).toThrow(
      expect.objectContaining({ code: 'inexpressible', path: '/messages/0/content/1' }),
    )
  })
})

test('reads the parts of an assistant message and of a tool result', () => {
  const { body } = translateRequest(
    {
      model: 'm',
      messages: [
        { role: 'user', content: 'hi' },
        {
          role: 'assistant',
          content: [{ type: 'output_text', text: 'I look.' }],
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
        },
        { role: 'tool', tool_call_id: 'c1', content: [{ type: 'input_text', text: 'found' }] },
      ],
    },
    { from: 'chat-completions', to: 'messages' },
  )
  expect(body).toMatchObject({
    messages: [
      {},
      { content: [{ type: 'text', text: 'I look.' }, { type: 'tool_use' }] },
      { content: [{ type: 'tool_result', content: 'found' }] },
    ],
  })
})
