import { expect, test } from 'vitest'
import { kindOfStatus } from '../../src/kit/errors/status.ts'
import { all } from '../../src/testing/bodies.ts'

test.each([
  [400, 'invalid_request'],
  [401, 'authentication'],
  [402, 'billing'],
  [403, 'permission'],
  [404, 'not_found'],
  [408, 'timeout'],
  [409, 'conflict'],
  [413, 'too_large'],
  [418, 'invalid_request'],
  [422, 'unprocessable'],
  [429, 'rate_limit'],
  [499, 'cancelled'],
  [500, 'internal'],
  [501, 'unsupported'],
  [502, 'internal'],
  [503, 'unavailable'],
  [504, 'timeout'],
  [529, 'overloaded'],
])(
  'an error with status %i that says nothing else is of kind %s in every protocol',
  (status, kind) => {
    expect(kindOfStatus(status)).toBe(kind)
    for (const protocol of all)
      expect([
        protocol.name,
        protocol.decodeError({ status, headers: {}, body: 'x' }).value.kind,
      ]).toEqual([protocol.name, kind])
  },
)
