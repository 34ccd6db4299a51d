import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { type ProtocolName, protocols } from '../../../src/protocols/index.ts'
import { decodeStream, encodeStream } from '../../../src/testing/streams.ts'
import { withPointers } from '../../support/pointers.ts'
import { accumulate, faultsOf, lastResponse } from './support.ts'

const { responses } = protocols
const says = (id: string, role: string, content: unknown) => ({
  type: 'message',
  id,
  status: 'completed',
  role,
  content,
})
const output = [
  says('msg_1', 'user', [{ type: 'input_text', text: 'Are you there?' }]),
  says('msg_2', 'developer', 'Be short.'),
  says('msg_3', 'assistant', 'Yes.'),
  says('msg_4', 'assistant', [
    { type: 'output_text', text: 'I am.', annotations: [], logprobs: [] },
  ]),
]
const response = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  error: null,
  incomplete_details: null,
  output,
}
const begun = { ...response, status: 'in_progress', output: [] }
const eventsOf = (items: typeof output) => [
  { type: 'response.created', response: begun },
  ...items.flatMap((item, index) => [
    {
      type: 'response.output_item.added',
      output_index: index,
      item: item.id === 'msg_4' ? { ...item, content: [] } : item,
    },
    { type: 'response.output_item.done', output_index: index, item },
  ]),
  { type: 'response.completed', response: { ...response, output: items } },
]
const decoded = (items = output) => decodeStream(responses, eventsOf(items))

describe('messages of other roles in a response', () => {
  test('keep their role and content in a stream', () => {
    const { wires: out, notes } = encodeStream(responses, decoded())
    expect(notes).toEqual([])
    expect(faultsOf(out)).toEqual([])
    const texts = {
      msg_2: [{ type: 'input_text', text: 'Be short.' }],
      msg_3: [{ type: 'output_text', text: 'Yes.', annotations: [], logprobs: [] }],
    }
    expect(lastResponse(out)['output']).toEqual(
      output.map(item => ({ ...item, content: texts[item.id as 'msg_2'] ?? item.content })),
    )
  })

  test('are received by the official client', async () => {
    const lists = output.filter(({ content }) => Array.isArray(content))
    const { wires } = encodeStream(responses, decoded(lists))
    expect(await accumulate(wires)).toMatchObject({ output: lists })
  })

  test('have parts of their role, streamed or complete', () => {
    const part = { type: 'input_text', text: 'Are you there?' }
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const out = decodeStream(responses, [
      { type: 'response.created', response: begun },
      { type: 'response.output_item.added', output_index: 0, item: { ...output[0], content: [] } },
      { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
      { type: 'response.content_part.done', ...place, part },
      { type: 'response.output_item.done', output_index: 0, item: output[0] },
      { type: 'response.completed', response: { ...response, output: output.slice(0, 1) } },
    ])
    const { value } = responses.decodeResponse({ ...response, output: output.slice(0, 1) })
    expect(withPointers(collect(out).response.candidates[0]?.messages)).toEqual(
      withPointers(value.candidates[0]?.messages),
    )
  })

  test.each<ProtocolName>(['chat-completions', 'messages', 'generate-content'])(
    'become text of the model for %s, with a note, in a stream as in a complete response',
    to => {
      const whole = protocols[to].encodeResponse(responses.decodeResponse(response).value, {
        fieldNames: responses.fieldNames,
      })
      const stream = encodeStream(protocols[to], decoded(), { fieldNames: responses.fieldNames })
      for (const { notes } of [whole, stream])
        expect(notes.flatMap(({ code, path }) => (code === 'message.role' ? [path] : []))).toEqual([
          '/output/0/role',
          '/output/1/role',
        ])
    },
  )

  test('are emitted up to a cut that becomes the length limit', () => {
    const cut = decoded().slice(0, 3)
    const { wires: out } = encodeStream(responses, cut, { truncated: 'length' })
    expect(faultsOf(out)).toEqual([])
    expect(lastResponse(out)).toMatchObject({
      status: 'incomplete',
      output: [{ role: 'user', content: [{ type: 'input_text' }] }],
    })
  })
})
