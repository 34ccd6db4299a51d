import { expect, test } from 'vitest'
import { protocols } from '../../src/protocols/index.ts'
import { createStreamTranslator } from '../../src/translate/stream.ts'

const { responses, messages } = protocols

test('a delta that is a number is refused, also after deltas of the same form that were texts', () => {
  const call = {
    type: 'function_call',
    id: 'fc_1',
    call_id: 'call_1',
    name: 'run',
    arguments: '',
    status: 'in_progress',
  }
  const delta = (sequence_number: number, reported: unknown) =>
    ({
      type: 'response.function_call_arguments.delta',
      sequence_number,
      item_id: 'fc_1',
      output_index: 0,
      delta: reported,
    }) as const
  const frames = [
    {
      type: 'response.created',
      sequence_number: 0,
      response: {
        id: 'resp_1',
        object: 'response',
        created_at: 5,
        model: 'm-1',
        status: 'in_progress',
        output: [],
      },
    },
    { type: 'response.output_item.added', sequence_number: 1, output_index: 0, item: call },
    delta(2, '{"a"'),
    delta(3, ':'),
    delta(4, 7),
  ]
  const translator = createStreamTranslator(responses, messages, {})
  const text = translator.push(frames.map(responses.frames.write).join(''))
  expect(translator.error?.message).toContain('cannot be read')
  expect(text).not.toContain('"partial_json":7')
})
