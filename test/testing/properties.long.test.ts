import fc from 'fast-check'
import { describe, test } from 'vitest'
import { type ProtocolName, translateRequest, translateResponse } from '../../src/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { noSilentLossProperty, requestOf, responseOf } from '../../src/testing/index.ts'

/**
 * 276 once found an unknown field in an empty instruction, which was lost, and 1049 its citations.
 */
const seeds = [1, 276, 1049, 90_001]

describe.each(pairs)('nothing is lost without a note: $name', ({ from, to }) => {
  const pair = { from: from.name as ProtocolName, to: to.name as ProtocolName }

  test.each(seeds)('requests, with seed %i', seed => {
    fc.assert(
      noSilentLossProperty(requestOf(pair.from), body => translateRequest(body, pair)),
      { numRuns: 400, seed },
    )
  })

  test.each(seeds)('responses, with seed %i', seed => {
    fc.assert(
      noSilentLossProperty(responseOf(pair.from), body => translateResponse(body, pair)),
      { numRuns: 400, seed },
    )
  })
})
