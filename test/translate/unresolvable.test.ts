import { expect, test } from 'vitest'
import { TranslationError, translateRequest } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'

const others = protocolNames.filter(name => name !== 'responses')
const input = [{ type: 'message', role: 'user', content: 'Hi' }, { type: 'compaction_trigger' }]

test.each(others)('refuses a compaction trigger toward %s', to => {
  const translate = () => translateRequest({ model: 'm', input }, { from: 'responses', to })
  expect(translate).toThrow(TranslationError)
  expect(translate).toThrow(
    expect.objectContaining({
      code: 'inexpressible',
      path: '/input/1',
      message: expect.stringContaining('compact the conversation'),
    }),
  )
})

test.each(others)('notes a compaction trigger for %s on request', to => {
  const { notes } = translateRequest(
    { model: 'm', input },
    { from: 'responses', to, onUnresolvable: 'note' },
  )
  expect(notes).toContainEqual(
    expect.objectContaining({ code: 'state.unresolvable', kind: 'dropped', path: '/input/1' }),
  )
})

test.each(others)('names the background run that it refuses toward %s', to => {
  const translate = () =>
    translateRequest({ model: 'm', input: 'Hi', background: true }, { from: 'responses', to })
  expect(translate).toThrow(
    expect.objectContaining({
      code: 'inexpressible',
      path: '/background',
      message: expect.stringMatching(/^\/background: Only .* run in the background/),
    }),
  )
})
