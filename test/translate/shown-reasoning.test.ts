import { expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { explodeResponse, translateRequest, translateResponse } from '../support/untyped.ts'

const between = {
  from: 'chat-completions',
  to: 'responses',
  responses: { rawReasoning: 'summary' },
} as const
const { checkResponse, checkStream } = strictOf('responses')

function whole() {
  const message = { role: 'assistant', content: 'yes', reasoning_content: 'So it is.' }
  return translateResponse(
    { id: 'c', model: 'm', created: 1, choices: [{ index: 0, message, finish_reason: 'stop' }] },
    between,
  )
}

function streamed() {
  const deltas = [
    { reasoning_content: 'So' },
    { reasoning_content: ' it' },
    { reasoning_content: ' is.' },
    { content: 'yes' },
  ]
  const chunk = (delta: object, finish_reason: string | null = null) =>
    `data: ${JSON.stringify({ id: 'c', model: 'm', created: 1, choices: [{ index: 0, delta, finish_reason }] })}\n\n`
  const translator = createStreamTranslator(between)
  const text =
    [...deltas.map(delta => chunk(delta)), chunk({}, 'stop'), 'data: [DONE]\n\n']
      .map(part => translator.push(part))
      .join('') + translator.end()
  return { text, notes: translator.notes }
}

test('keeps a response of the same protocol unchanged, also as a stream', () => {
  const thought = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    content: [{ type: 'reasoning_text', text: 'So it is.' }],
  }
  const response = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'yes', annotations: [] }],
  }
  const body = {
    id: 'resp_1',
    object: 'response',
    created_at: 1,
    model: 'm',
    status: 'completed',
    output: [thought, response],
  }
  const text = explodeResponse(body, {
    protocol: 'responses',
    responses: { rawReasoning: 'summary' },
  })
  expect(text).toContain('response.reasoning_text.delta')
  expect(text).not.toContain('summary_text')
})

// The AI SDK shows nothing else, and neither does Codex by default.
test.each([
  ['whole', whole],
  ['streamed', streamed],
])(
  'reasoning of a chat server is a summary for clients that show nothing else, %s',
  async (_, reported) => {
    const response = reported()
    if ('text' in response)
      expect(checkStream(framesOf(response.text).map(({ wire }) => wire))).toEqual([])
    else expect(checkResponse(response.body)).toEqual([])
    const { output } = (await clientOf('responses').receive(response)) as { output: object[] }
    expect(output[0]).toMatchObject({
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'So it is.' }],
    })
    expect(output[0]).not.toHaveProperty('content')
    expect(response.notes.map(({ code }) => code)).toContain('reasoning.kind')
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' }
    const input = [
      { role: 'user', content: 'q' },
      output[0],
      call,
      { type: 'function_call_output', call_id: 'c1', output: 'seen' },
    ]
    const { body } = translateRequest(
      { model: 'm', input },
      { from: 'responses', to: 'chat-completions' },
    )
    expect(body).toMatchObject({
      messages: [{}, { role: 'assistant', reasoning_content: 'So it is.' }, {}],
    })
  },
)
