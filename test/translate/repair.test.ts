import { describe, expect, test } from 'vitest'
import { type ProtocolName, type TranslateOptions, translateRequest } from '../../src/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'

type Repair = Partial<TranslateOptions> & { repairToolPairs: 'drop' | 'synthesize' }

const question = { role: 'user', parts: [{ text: 'q' }] }
const result = { functionResponse: { id: 'c', name: 'f', response: { output: 'r' } } }
const call = { functionCall: { id: 'c', name: 'f', args: {} } }
const beside = { thoughtSignature: 'c2ln', partMetadata: { a: 1 }, novel: 1 }

describe.each<ProtocolName>(['chat-completions', 'responses', 'messages'])('what stands beside a call or a result that is left out is noted toward %s', to => {
  test.each<[string, object[], string, Repair]>([
    ['a result without a call', [{ role: 'user', parts: [{ text: 'q' }, { ...result, ...beside }] }], '/contents/0/parts/1', { repairToolPairs: 'drop' }],
    ['a content of nothing else', [{ role: 'user', parts: [{ ...result, ...beside }] }], '/contents/0/parts/0', { repairToolPairs: 'drop' }],
    [
      'a content of nothing but an older result',
      [question, { role: 'model', parts: [call] }, { role: 'user', parts: [{ ...result, ...beside }] }, { role: 'user', parts: [result] }],
      '/contents/2/parts/0',
      { repairToolPairs: 'synthesize' },
    ],
    [
      'a result without a call, told as text',
      [{ role: 'user', parts: [{ text: 'q' }, { ...result, ...beside }] }],
      '/contents/0/parts/1',
      { repairToolPairs: 'synthesize' },
    ],
    ['a call without a result', [question, { role: 'model', parts: [{ ...call, ...beside }] }, question], '/contents/1/parts/0', { repairToolPairs: 'drop' }],
    [
      'an older result',
      [question, { role: 'model', parts: [call] }, { role: 'user', parts: [{ ...result, ...beside }, result] }],
      '/contents/2/parts/0',
      { repairToolPairs: 'drop' },
    ],
  ])('%s', (_, contents, place, options) => {
    const [content = ''] = place.split('/parts')
    const odd = contents.map(one => ({ ...one, vendor: 1 }))
    const { notes } = translateRequest({ contents: odd }, { from: 'generate-content', to, model: 'm', ...options })
    const told = notes.map(({ path }) => path)
    for (const key of Object.keys(beside)) expect(told).toContain(`${place}/${key}`)
    expect(told).toContain(`${content}/vendor`)
  })
})

test('a result that is told as text says no thoughts in the name of the user', () => {
  const content = [
    { type: 'thinking', thinking: 'T' },
    { type: 'text', text: 'r' },
  ]
  const lonely = { model: 'm', messages: [{ role: 'tool', tool_call_id: 'c', content }] }
  const { body, notes } = translateRequest(lonely, { from: 'chat-completions', to: 'generate-content', repairToolPairs: 'synthesize' })
  expect(body).toMatchObject({ contents: [{ role: 'user', parts: [{ text: 'r' }] }] })
  expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(['tool-result.orphan-as-text /messages/0', 'part.unsupported /messages/0/content/0'])
  expect(strictOf('generate-content').checkRequest(body)).toEqual([])
})
