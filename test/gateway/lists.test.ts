import { expect, test } from 'vitest'
import { withLists } from '../../src/gateway/headers.ts'

test.each<
  [string, Record<string, string>, Record<string, string> | undefined, Record<string, string>]
>([
  ['is alone without other text', { a: '1' }, { beta: 'x,y' }, { a: '1', beta: 'x,y' }],
  ['is after the other text', { beta: 'w' }, { beta: 'x' }, { beta: 'w,x' }],
  ['is there once', { beta: 'x, w' }, { beta: 'w,y' }, { beta: 'x,w,y' }],
  ['changes nothing when there is none', { beta: 'x, w' }, undefined, { beta: 'x, w' }],
])('merges required headers %s', (_, headers, more, expected) => {
  expect(withLists(headers, more)).toEqual(expected)
})
