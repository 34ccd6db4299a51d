import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { translateError, translateResponse } from '../support/untyped.ts'

const names = Object.keys(protocols) as ProtocolName[]

test.each(names.filter(to => to !== 'messages'))(
  'counts of the input that a relay repeats as 0 do not erase the first ones toward %s',
  to => {
    const { write } = protocols.messages.frames
    const usage = {
      input_tokens: 9,
      cache_read_input_tokens: 5,
      cache_creation_input_tokens: 2,
      output_tokens: 1,
    }
    const head = { type: 'message', id: 'msg_1', role: 'assistant', model: 'm', content: [] }
    const zeros = { input_tokens: 0, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 }
    const translator = createStreamTranslator({ from: 'messages', to })
    for (const event of [
      { type: 'message_start', message: { ...head, stop_reason: null, usage } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'hi' } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { ...zeros, output_tokens: 16 },
      },
      { type: 'message_stop' },
    ])
      translator.push(write(event))
    translator.end()
    expect(translator.usage).toMatchObject({ input: 16, cacheRead: 5, cacheWrite: 2, output: 16 })
  },
)

test.each<[object, object]>([
  [
    { prompt_cache_hit_tokens: 1024, prompt_tokens_details: { cached_tokens: 0 } },
    { input_tokens: 180, cache_read_input_tokens: 1024 },
  ],
  [
    { prompt_cache_write_tokens: 204, prompt_tokens_details: { cached_tokens: 1000 } },
    { input_tokens: 0, cache_read_input_tokens: 1000, cache_creation_input_tokens: 204 },
  ],
])('counts of the cache are read wherever a relay writes them: %j', (counts, expected) => {
  const response = {
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'ok' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1204, completion_tokens: 7, total_tokens: 1211, ...counts },
  }
  const { body } = translateResponse(response, { from: 'chat-completions', to: 'messages' })
  expect(body).toMatchObject({ usage: expected })
})

describe('the time to come back that only the body of an error tells', () => {
  const error = { type: 'rate_limit_error', message: 'Slow down' }
  const now = 1_760_000_000

  test.each([
    'Try again in the evening',
    'Please wait for 3 messages',
    'Retry after 5x',
    'wait 12345678901 s',
  ])('is not there: %s', message => {
    const body = { error: { ...error, message } }
    const options = { from: 'chat-completions', to: 'messages', now } as const
    expect(translateError({ status: 429, body }, options).headers['retry-after']).toBeUndefined()
  })

  test.each<[object, string]>([
    [{ ...error, resets_in_seconds: 12_345 }, '12345'],
    [{ ...error, retry_after: 7 }, '7'],
    [{ ...error, message: 'Please try again in 1.5s.' }, '2'],
    [{ ...error, message: 'Please try again in 1m30.5s. Visit us.' }, '91'],
    [{ ...error, message: 'Rate limit: try again in 6h12m3s' }, '22323'],
    [{ ...error, message: 'Please try again in 120ms.' }, '1'],
    [{ ...error, message: 'Please retry in 34.074824224s.' }, '35'],
    [{ ...error, message: 'Please retry after 86400 seconds.' }, '86400'],
    [{ ...error, message: 'Weekly limit reached. Resets in 6hr 29min.' }, '23340'],
    [{ ...error, message: 'Please wait 2 minutes, or wait for 5 things' }, '120'],
    [{ ...error, resets_at: 1_760_000_060 }, '60'],
    [{ ...error, message: 'You will regain access on 2025-10-10 at 00:00 UTC.' }, '54400'],
  ])('is a header: %j', (told, seconds) => {
    for (const from of ['chat-completions', 'responses', 'messages'] as const)
      for (const to of names) {
        if (to === from) continue
        const body = { type: 'error', error: told }
        const { headers } = translateError({ status: 429, body }, { from, to, now })
        expect(headers['retry-after'], `${from} to ${to}`).toBe(seconds)
      }
  })

  test('is that of the headers if they have one', () => {
    const { headers } = translateError(
      {
        status: 429,
        headers: { 'retry-after': '3' },
        body: { error: { ...error, resets_in_seconds: 9 } },
      },
      { from: 'responses', to: 'messages' },
    )
    expect(headers['retry-after']).toBe('3')
  })
})
