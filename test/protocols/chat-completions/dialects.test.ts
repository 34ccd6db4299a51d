import { expect, test } from 'vitest'
import { chunk, codes, decodeStream } from './run.ts'

const call = (more: object) => ({ tool_calls: [{ index: 0, id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' }, ...more }] })
const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const done = chunk({}, 'stop')
const called = chunk({}, 'tool_calls')
const said = chunk({ role: 'assistant', content: 'a' })

/** Each way in which servers differ in their streams, and what is told of it. Nothing is told where nothing was changed. */
test.each<[deviation: string, chunks: unknown[], notes: string[]]>([
  ['content as parts', [chunk({ content: [{ type: 'text', text: 'a' }] }), done], []],
  ['thinking among the parts', [chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'r' }] }] }), said, done], []],
  ['reasoning under both names', [chunk({ reasoning: 'r', reasoning_content: 'r' }), said, done], []],
  ['a call without an index', [chunk(call({ index: undefined })), called], []],
  ['an index that begins at 1', [chunk(call({ index: 1 })), called], []],
  ['arguments as an object', [chunk(call({ function: { name: 'f', arguments: { a: 1 } } })), called], ['tool-call.input-object']],
  ['arguments that are null', [chunk(call({ function: { name: 'f', arguments: null } })), called], []],
  ['an empty id later', [chunk(call({})), chunk({ tool_calls: [{ index: 0, id: '', function: { arguments: '' } }] }), called], []],
  ['no delta', [said, { ...done, choices: [{ index: 0, delta: null, finish_reason: 'stop' }] }], []],
  ['no choices', [said, { ...done, choices: null }, done], []],
  ['an empty reason until the end', [chunk({ content: 'a' }, ''), done], []],
  ['no reason at all', [said], ['finish.missing']],
  ['«stop» beside calls', [chunk(call({})), done], ['finish.repaired']],
  [
    'usage in every chunk',
    [
      { ...said, usage },
      { ...done, usage },
    ],
    [],
  ],
  ['counts as text', [said, { ...done, usage: { ...usage, prompt_tokens: '1' } }], ['usage.repaired']],
  ['a first chunk of filters', [{ choices: [], prompt_filter_results: [] }, said, done], []],
  ['the whole message once more', [said, { ...done, choices: [{ index: 0, delta: {}, message: { content: 'a' }, finish_reason: 'stop' }] }], []],
  ['another id later', [said, { ...done, id: 'c2' }], []],
  ['empty deltas', [said, chunk({ content: '' }), done], []],
])('%s', (_, chunks, notes) => {
  const read = decodeStream([...chunks, '[DONE]', '[DONE]'])
  expect(codes(read.notes)).toEqual(notes)
  expect(read.events.at(-1)).toEqual({ type: 'end', clean: true })
})
