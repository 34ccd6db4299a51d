// Property tests of a conversion, as a job in CI runs them.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { createStreamTranslator, translateRequest } from 'wireglot'
import { cutLaw, fromSchema, legalStreamLaw, noSilentLossLaw, purityLaw, requestOf, splitLaw, strictOf } from 'wireglot/testing'
import { z } from 'zod'

const pair = { from: 'messages', to: 'chat-completions' } as const
const create = () => createStreamTranslator(pair)
const runs = { numRuns: 50 }

fc.assert(splitLaw(pair.from, create), runs)
fc.assert(legalStreamLaw(pair, create), runs)
fc.assert(cutLaw(pair, create), runs)
fc.assert(
  purityLaw(requestOf(pair.from), body => translateRequest(body, pair)),
  runs,
)
fc.assert(
  noSilentLossLaw(requestOf(pair.from), body => translateRequest(body, pair)),
  runs,
)

const forgetful = (body: unknown) => ({ ...translateRequest(body, pair), body: {}, notes: [] })
assert.equal(fc.check(noSilentLossLaw(requestOf(pair.from), forgetful), { numRuns: 500 }).failed, true)

const Person = z.object({ email: z.email(), age: z.int().min(18).max(99), tags: z.array(z.string().min(1)).min(1) })
fc.assert(
  fc.property(fromSchema(Person), person => Person.safeParse(person).success),
  runs,
)

const { body } = translateRequest({ model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hello' }] }, pair)
assert.deepEqual(strictOf(pair.to).checkRequest(body), [])
console.log('properties: ok')
