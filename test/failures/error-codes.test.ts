import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames } from '../../src/protocols/index.ts'
import { translateError } from '../support/untyped.ts'

// `code` is any text over chat-completions and over responses.

type Wire = Record<string, unknown>

/** An error with this code where the protocol has one. */
const failing: Partial<Record<ProtocolName, (code: string) => Wire>> = {
  'chat-completions': code => ({ error: { message: 'No.', type: 'invalid_request_error', code } }),
  responses: code => ({ error: { message: 'No.', type: 'invalid_request_error', code } }),
  messages: code => ({
    type: 'error',
    error: { type: 'invalid_request_error', message: 'No.', details: { error_code: code } },
  }),
}

const codes = [
  'unknown_parameter',
  'invalid_function_parameters',
  'unsupported_file',
  'tool_use_failed',
  'json_validate_failed',
  'data_inspection_failed',
  'billing_not_active',
  '1214',
  'invalid_image_format',
]

const targets: readonly ProtocolName[] = ['chat-completions', 'responses']

describe.each(targets)('toward %s', to => {
  const sources = protocolNames.filter(from => from !== to && failing[from])

  test.each(sources)('the code of an error of %s stays where its kind has none', from => {
    for (const code of codes) {
      const { body, notes } = translateError(
        { status: 400, headers: {}, body: failing[from]?.(code) },
        { from, to },
      )
      expect((body as { error: Wire }).error['code'], code).toBe(code)
      expect(notes.filter(({ path }) => path.includes('code'))).toEqual([])
    }
  })

  test.each(sources)('a code of %s that is a status does not', from => {
    const { body, notes } = translateError(
      { status: 500, headers: {}, body: failing[from]?.('404') },
      { from, to },
    )
    expect((body as { error: Wire }).error['code']).toBeNull()
    expect(notes.map(({ path }) => path).join()).toContain('code')
  })
})

test('a code that means another kind does not stay', () => {
  const body = failing['chat-completions']?.('invalid_api_key')
  const { body: wire } = translateError(
    { status: 500, headers: {}, body },
    { from: 'chat-completions', to: 'responses' },
  )
  expect((wire as { error: Wire }).error['code']).toBeNull()
})

test.each<[ProtocolName, ProtocolName]>([
  ['chat-completions', 'responses'],
  ['responses', 'chat-completions'],
])('a kind that clients act on has its own code, from %s to %s', (from, to) => {
  const { body } = translateError(
    { status: 429, headers: {}, body: failing[from]?.('1302') },
    { from, to },
  )
  expect((body as { error: Wire }).error['code']).toBe('rate_limit_exceeded')
})
