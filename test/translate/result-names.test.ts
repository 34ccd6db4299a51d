import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'

const call = (id: string, name: string) => ({
  id,
  type: 'function',
  function: { name, arguments: '{}' },
})
const chat = (...results: object[]) => ({
  model: 'm',
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', tool_calls: [call('a', 'look'), call('b', 'find')] },
    { role: 'tool', tool_call_id: 'a', content: '1' },
    ...results,
  ],
})
const named = (name: string) => chat({ role: 'tool', tool_call_id: 'b', content: '2', name })
const contents = (...functionResponses: object[]) => ({
  contents: [
    { role: 'user', parts: [{ text: 'hi' }] },
    {
      role: 'model',
      parts: [
        { functionCall: { id: 'a', name: 'look', args: {} } },
        { functionCall: { name: 'find', args: {} } },
      ],
    },
    { role: 'user', parts: functionResponses.map(functionResponse => ({ functionResponse })) },
  ],
})
const look = { id: 'a', name: 'look', response: {} }

describe.each(protocolNames.filter(name => name !== 'chat-completions'))(
  'results of tools, chat-completions → %s',
  to => {
    const places = (body: object) =>
      translateRequest(body, { from: 'chat-completions', to }).notes.flatMap(({ path }) =>
        path.includes('/messages/3') ? [path] : [],
      )

    test('have the name of their call', () => expect(places(named('find'))).toEqual([]))
    test.each(['look', 'other'])('note another name: %s', name =>
      expect(places(named(name))).toEqual(['/messages/3/name']),
    )
  },
)

describe.each(protocolNames.filter(name => name !== 'generate-content'))(
  'results of tools, generate-content → %s',
  to => {
    const cross = (...results: object[]) =>
      translateRequest(contents(...results), { from: 'generate-content', to, model: 'm' })
    const places = (...results: object[]) =>
      cross(...results).notes.flatMap(({ path }) => (path.startsWith('/contents/2') ? [path] : []))

    test('note another name than that of the call', () => {
      expect(places(look, { name: 'find', response: {} })).toEqual([])
      expect(places({ ...look, name: 'find' })).toEqual([
        '/contents/2/parts/0/functionResponse/name',
      ])
    })

    test('give a call without an id the id of its result', () => {
      expect(
        JSON.stringify(cross(look, { id: 'x', name: 'find', response: {} }).body).match(/"x"/g),
      ).toHaveLength(2)
      expect(places(look, { id: 'x', name: 'find', response: {} })).toEqual([])
      // An id that another call has says nothing of this one.
      expect(
        JSON.stringify(cross(look, { id: 'a', name: 'find', response: {} }).body).match(/"a"/g),
      ).toHaveLength(2)
    })
  },
)
