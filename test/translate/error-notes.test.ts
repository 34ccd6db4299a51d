import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type ProtocolName, translateError, translateResponse } from '../../src/index.ts'

const tell = (notes: readonly { code: string; path: string }[]) => notes.map(({ code, path }) => `${code} ${path}`).sort()

const openaiError = { message: 'No.', type: 'invalid_request_error', param: 'input', code: 'odd_code', misalignment: { odd: 1 } }
const anthropicError = { type: 'error', request_id: 'req_1', error: { type: 'api_error', message: 'No.', details: { a: 1 }, odd: 1 }, beside: 2 }

/** What a stream of one frame, or an HTTP body, with this error in it loses. */
const inStream = (from: ProtocolName, to: ProtocolName, event: object, options = {}) => {
  const translator = createStreamTranslator({ from, to, ...options })
  translator.push(`data: ${JSON.stringify(event)}\n\n`)
  translator.end()
  return tell(translator.notes)
}
const asBody = (from: ProtocolName, to: ProtocolName, body: object) => tell(translateError({ status: 500, headers: {}, body }, { from, to }).notes)

describe('what an error says and the target cannot is noted where it stood', () => {
  test.each<[string, ProtocolName, ProtocolName, object, string[]]>([
    [
      'a parameter, a code and what nobody knows, toward messages',
      'responses',
      'messages',
      { type: 'error', error: openaiError },
      ['error.details /error', 'field.unsupported /error/code', 'field.unsupported /error/param'],
    ],
    [
      'a code and what nobody knows, toward chat',
      'responses',
      'chat-completions',
      { type: 'error', error: openaiError },
      ['error.details /error', 'field.unsupported /error/code'],
    ],
    [
      'a parameter and a code of a flat event',
      'responses',
      'messages',
      { type: 'error', code: 'odd_code', message: 'No.', param: 'input' },
      ['field.unsupported /code', 'field.unsupported /param'],
    ],
    [
      'a parameter, a code and what nobody knows of chat',
      'chat-completions',
      'messages',
      { error: openaiError },
      ['error.details /error', 'field.unsupported /error/code', 'field.unsupported /error/param'],
    ],
    [
      'details, keys that nobody knows and the id of the request, toward chat',
      'messages',
      'chat-completions',
      anthropicError,
      ['error.details /error/details', 'field.unknown /beside', 'field.unknown /error/odd', 'field.unsupported /request_id'],
    ],
    [
      'details, keys that nobody knows and the id of the request, toward responses',
      'messages',
      'responses',
      anthropicError,
      ['error.details /error/details', 'field.unknown /beside', 'field.unknown /error/odd', 'field.unsupported /request_id'],
    ],
  ])('%s', (_, from, to, event, lost) => {
    const isOfError = (note: string) => !/ \/(response\/)?(id|created|model)$|\/message\/|usage|created_at/.test(note)
    expect(inStream(from, to, event).filter(isOfError)).toEqual(lost)
    // The same body outside of a stream has headers for the id of the request.
    expect(asBody(from, to, event)).toEqual(lost.filter(note => !note.endsWith('/request_id')))
  })

  test('a stream that fails in its last event alone loses the parameter, and a kind without a code', () => {
    const error = { message: 'No.', type: 'invalid_request_error', param: 'input', code: 'invalid_api_key' }
    const notes = inStream('chat-completions', 'responses', { error }, { rsMidStreamError: 'failed-only' })
    expect(notes.filter(note => note.includes('/error'))).toEqual(['error.code /error', 'field.unsupported /error/param'])
  })
})

describe('an answer that failed half-way', () => {
  const said = { type: 'message', id: 'msg_1', role: 'assistant', status: 'incomplete', content: [{ type: 'output_text', text: 'So far', annotations: [] }] }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
  const failed = { id: 'resp_1', model: 'm', created_at: 1, status: 'failed', output: [said], usage, error: { code: 'server_error', message: 'No.' }, odd: 1 }

  test.each<ProtocolName>(['chat-completions', 'messages'])('is told as an error to %s, and what it had said is noted', to => {
    const { notes } = translateResponse(failed, { from: 'responses', to })
    expect(tell(notes)).toEqual(expect.arrayContaining(['field.unknown /odd', 'field.unsupported /output/0', 'field.unsupported /usage']))
  })
})
