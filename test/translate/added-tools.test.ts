import { describe, expect, test } from 'vitest'
import { TranslationError } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { translateRequest } from '../support/untyped.ts'

/** Tools that an item of a conversation adds are checked as those of the request. */

const wrong: unknown[] = [
  7,
  'x',
  {},
  [7],
  [null],
  ['x'],
  [{ name: 'f' }],
  [{ type: 'function', name: ['a'] }],
  [{ type: 'function', name: 'f', description: 5 }],
  [{ type: 'function', name: 'f', parameters: 'x' }],
  [{ type: 'namespace', name: 3, tools: [] }],
  [{ type: 'namespace', name: 'n', tools: [{ type: 'function', name: {} }] }],
  [{ type: 'custom', name: 1 }],
]

describe.each(['additional_tools', 'tool_search_output'])('an item %s', type => {
  test.each(wrong.map(tools => [JSON.stringify(tools), tools] as const))(
    'with the tools %s is refused with its path',
    (_, tools) => {
      const item = { type, call_id: 'c', role: 'developer', tools }
      const input = [{ role: 'user', content: 'Hi' }, item]
      for (const to of protocolNames.filter(name => name !== 'responses')) {
        const translate = () => translateRequest({ model: 'm', input }, { from: 'responses', to })
        expect(translate).toThrow(TranslationError)
        expect(translate).toThrow(
          expect.objectContaining({
            code: 'malformed',
            path: expect.stringMatching(/^\/input\/1\/tools/),
          }),
        )
      }
    },
  )
})
