// Property tests of a conversion, as a job in CI runs them.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createStreamTranslator, translateRequest } from 'wireglot'
import {
  fromSchema,
  legalStreamProperty,
  noSilentLossProperty,
  purityProperty,
  requestOf,
  splitProperty,
  strictOf,
  truncationProperty,
} from 'wireglot/testing'
import { z } from 'zod'

const pair = { from: 'messages', to: 'chat-completions' } as const
const create = () => createStreamTranslator(pair)
const runs = { numRuns: 50 }

fc.assert(splitProperty(pair.from, create), runs)
fc.assert(legalStreamProperty(pair, create), runs)
fc.assert(truncationProperty(pair, create), runs)
fc.assert(
  purityProperty(requestOf(pair.from), body => translateRequest(body, pair)),
  runs,
)
fc.assert(
  noSilentLossProperty(requestOf(pair.from), body => translateRequest(body, pair)),
  runs,
)

const forgetful = (body: unknown) => ({ ...translateRequest(body, pair), body: {}, notes: [] })
assert.equal(
  fc.check(noSilentLossProperty(requestOf(pair.from), forgetful), { numRuns: 500 }).failed,
  true,
)

const Person = z.object({
  email: z.email(),
  age: z.int().min(18).max(99),
  tags: z.array(z.string().min(1)).min(1),
})
fc.assert(
  fc.property(fromSchema(Person), person => Person.safeParse(person).success),
  runs,
)

const { body } = translateRequest(
  { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] },
  pair,
)
assert.deepEqual(strictOf(pair.to).checkRequest(body), [])
console.log('properties: ok')
