import { describe, expect, test } from 'vitest'
import type { TranslateOptions } from '../../../src/index.ts'
import { translateRequest } from '../../support/untyped.ts'

const ask = { model: 'claude-opus-5-5', input: 'x', max_output_tokens: 100 }
const late = {
  type: 'additional_tools',
  role: 'developer',
  tools: [{ type: 'function', name: 'late', parameters: null, strict: false }],
}
const joining = { ...ask, input: [{ role: 'user', content: 'q' }, late] }

describe('what a body relies on beside itself', () => {
  test.each<[string, object, Partial<TranslateOptions>, string | undefined]>([
    ['nothing beta', ask, {}, undefined],
    [
      'what becomes of misfit thinking',
      { ...ask, reasoning: { effort: 'high' } },
      {},
      'thinking-binding-controls-2026-08-01',
    ],
    ['a tool that is added later', joining, {}, undefined],
  ])('%s', (_, body, options, betas) => {
    const { context } = translateRequest(body, { from: 'responses', to: 'messages', ...options })
    expect(context.headers).toEqual(betas && { 'anthropic-beta': betas })
  })

  test('goes through JSON with the rest of the context', () => {
    const { context } = translateRequest(
      { ...ask, reasoning: { effort: 'high' } },
      { from: 'responses', to: 'messages' },
    )
    expect(context.headers).toBeDefined()
    expect(JSON.parse(JSON.stringify(context))).toEqual(context)
  })

  test('fields of the caller next to the body of this protocol are noted elsewhere when they are in it', () => {
    const body = {
      model: 'm',
      max_tokens: 1,
      messages: [{ role: 'user', content: 'x' }],
      user_profile_id: 'p',
      workspace_id: 'w',
      betas: ['b'],
    }
    const { notes } = translateRequest(body, { from: 'messages', to: 'responses' })
    expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
      expect.arrayContaining([
        'field.unknown /user_profile_id',
        'field.unknown /workspace_id',
        'field.unknown /betas',
      ]),
    )
  })
})
