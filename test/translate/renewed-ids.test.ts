import { expect, test } from 'vitest'
import {
  createStreamTranslator,
  explodeResponse,
  type ProtocolName,
  type TranslateOptions,
  translateResponse,
} from '../../src/index.ts'

const messages = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 1, output_tokens: 1 },
}
const chat = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
}

const ways: [from: ProtocolName, to: ProtocolName, body: object, id: string][] = [
  ['messages', 'chat-completions', messages, 'chatcmpl-new'],
  ['chat-completions', 'messages', chat, 'msg_new'],
]
const idNotes = (notes: readonly { code: string; kind: string; path: string }[]) =>
  notes
    .filter(({ code }) => code.startsWith('response.id'))
    .map(({ code, kind, path }) => ({ code, kind, path }))

function streamed(body: object, options: TranslateOptions) {
  const translator = createStreamTranslator(options)
  const out = translator.push(explodeResponse(body, { protocol: options.from })) + translator.end()
  return { out, notes: translator.notes }
}
const newId = (prefix: string) => `${prefix}new`

test.each(ways)(
  'says that the id was replaced, not that there was none, when a response of %s to %s gets a new id',
  (from, to, body, id) => {
    const { body: made, notes } = translateResponse(body, { from, to, renewId: true, newId })
    expect(made).toMatchObject({ id })
    expect(idNotes(notes)).toEqual([
      { code: 'response.id-renewed', kind: 'synthesized', path: '/id' },
    ])
  },
)

test.each(ways)(
  'says that there was no id when a response of %s to %s has none',
  (from, to, body) => {
    const { notes } = translateResponse(
      { ...body, id: undefined },
      { from, to, renewId: true, newId },
    )
    expect(idNotes(notes)).toEqual([{ code: 'response.id', kind: 'synthesized', path: '/id' }])
  },
)

test('says that the id was replaced when a streamed response of chat-completions to messages gets a new id', () => {
  const { out, notes } = streamed(chat, {
    from: 'chat-completions',
    to: 'messages',
    renewId: true,
    newId,
  })
  expect(out).toContain('"id":"msg_new"')
  expect(idNotes(notes)).toEqual([
    { code: 'response.id-renewed', kind: 'synthesized', path: '/message/id' },
  ])
})
