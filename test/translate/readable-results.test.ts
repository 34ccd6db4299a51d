import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

const names = Object.keys(protocols) as ProtocolName[]
const pairs = names.flatMap(from => names.filter(to => to !== from).map(to => [from, to] as const))

const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII='
const model = 'm'

/** A conversation with the call `look` and its result, a text. */
const asking: Record<ProtocolName, (result: string) => object> = {
  'chat-completions': content => ({
    model,
    messages: [
      { role: 'user', content: 'go' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content },
    ],
  }),
  responses: output => ({
    model,
    input: [
      { role: 'user', content: 'go' },
      { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c1', output },
    ],
  }),
  messages: content => ({
    model,
    max_tokens: 50,
    messages: [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content }] },
    ],
  }),
  'generate-content': output => ({
    contents: [
      { role: 'user', parts: [{ text: 'go' }] },
      { role: 'model', parts: [{ functionCall: { name: 'look', args: {} } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'look', response: { output } } }] },
    ],
  }),
  converse: text => ({
    messages: [
      { role: 'user', content: [{ text: 'go' }] },
      { role: 'assistant', content: [{ toolUse: { toolUseId: 'c1', name: 'look', input: {} } }] },
      {
        role: 'user',
        content: [{ toolResult: { toolUseId: 'c1', content: text ? [{ text }] : [] } }],
      },
    ],
  }),
}
const translate = (from: ProtocolName, to: ProtocolName, result: string) =>
  translateRequest(asking[from](result), { from, to, model: 'some-model' })

describe('a result that is the text of a list of parts', () => {
  const url = `data:image/png;base64,${png}`
  const images: [string, object][] = [
    ['responses', { type: 'input_image', image_url: url, detail: 'high' }],
    ['chat-completions', { type: 'image_url', image_url: { url } }],
    ['messages', { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }],
    ['MCP', { type: 'image', data: png, mimeType: 'image/png' }],
  ]

  test.each(pairs)('has its image as an image from %s to %s', (from, to) => {
    for (const [form, image] of images) {
      const { body, notes } = translate(
        from,
        to,
        JSON.stringify([{ type: 'text', text: 'shot' }, image]),
      )
      const sent = JSON.stringify(body)
      expect(sent, form).toContain(png)
      expect(sent, form).toContain('shot')
      expect(sent, form).not.toContain('\\"')
      expect(
        notes.map(({ code }) => code),
        form,
      ).toContain('part.foreign')
    }
  })

  test.each<[string, unknown[]]>([
    ['it has no image', [{ type: 'text', text: 'shot' }]],
    ['its image is only linked', [{ type: 'input_image', image_url: 'https://a.example/b.png' }]],
    [
      'it has something else',
      [
        { type: 'input_image', image_url: url },
        { type: 'row', id: 1 },
      ],
    ],
  ])('stays a text when %s', (_, list) => {
    const text = JSON.stringify(list)
    for (const [from, to] of pairs)
      expect(JSON.stringify(translate(from, to, text).body)).toContain(JSON.stringify(text))
  })

  test('stays a text when it is not whole', () => {
    const text = `[{"type":"image_url","image_url":{"url":"${url}`
    for (const [from, to] of pairs)
      expect(JSON.stringify(translate(from, to, text).body)).toContain(JSON.stringify(text))
  })
})

test.each(names)('a result of %s without content has a text for Converse', from => {
  const { body, notes } = translate(from, 'converse', '')
  const [place, code] = ['/messages/2/content/0/toolResult/content/0', 'tool-result.empty']
  if (from === 'converse') expect(body).toMatchObject(asking.converse(''))
  else {
    expect(JSON.stringify(body)).toContain('"content":[{"text":"(no output)"}]')
    expect(notes.map(note => `${note.code} ${note.path}`)).toContain(`${code} ${place}`)
  }
})
