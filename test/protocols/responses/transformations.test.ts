import { describe, expect, test } from 'vitest'
import {
  collectStream,
  createStreamTranslator,
  explodeResponse,
  translateResponse,
} from '../../../src/index.ts'
import { responses } from '../../../src/protocols/responses/index.ts'

const removed = [
  { id: 'rs_1', type: 'reasoning', action: 'removed', reason: 'model_mismatch' },
  { id: 'rs_2', type: 'reasoning', action: 'removed', reason: 'turn_boundary' },
]
const expected = [
  'dropped reasoning.dropped-upstream /input_transformations/0',
  'dropped reasoning.dropped-upstream /input_transformations/1',
]
const response = (input_transformations: unknown) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Hi', annotations: [] }],
    },
  ],
  input_transformations,
})
const about = (notes: readonly { kind: string; code: string; path: string }[]) =>
  notes
    .filter(({ path }) => path.includes('transformations'))
    .map(({ kind, code, path }) => `${kind} ${code} ${path}`)

describe('reasoning that the provider removed from the request', () => {
  test.each(['chat-completions', 'messages', 'generate-content'] as const)(
    'is noted toward %s when a response lists it',
    to => {
      expect(about(translateResponse(response(removed), { from: 'responses', to }).notes)).toEqual(
        expected,
      )
    },
  )

  test('is noted once when a stream lists it in its first and last event', () => {
    const translator = createStreamTranslator({ from: 'responses', to: 'chat-completions' })
    translator.push(explodeResponse(response(removed), { protocol: 'responses' }))
    translator.end()
    expect(about(translator.notes)).toEqual(expected)
  })

  test('stays in the response within the protocol', async () => {
    expect(
      responses.encodeResponse(responses.decodeResponse(response(removed)).value).wire,
    ).toMatchObject({ input_transformations: removed })
    const { body } = await collectStream(
      [explodeResponse(response(removed), { protocol: 'responses' })],
      { protocol: 'responses' },
    )
    expect(body).toMatchObject({ input_transformations: removed })
  })

  test.each([[[{ type: 'reasoning', action: 'shortened' }]], ['text']])(
    'is an unknown field when it is no list of removals: %j',
    value => {
      expect(
        about(translateResponse(response(value), { from: 'responses', to: 'messages' }).notes),
      ).toEqual(['dropped field.unknown /input_transformations'])
    },
  )
})
