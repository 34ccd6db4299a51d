import { expect, test } from 'vitest'
import { bytesOf } from '../../src/kit/response/logprobs.ts'

test.each<[what: string, token: string, bytes: number[] | null]>([
  ['letters are their UTF-8', 'né', [110, 195, 169]],
  ['half of a surrogate pair has none', '\ud83d', null],
  ['half a letter has none', '\ufffd', null],
])('bytes of a token that has none: %s', (_, token, bytes) => expect(bytesOf(token)).toEqual(bytes))
