import { expect, test } from 'vitest'
import { omitUndefined } from '../../src/kit/fields/omit.ts'
import { protocols } from '../../src/protocols/index.ts'

test('what is undefined is left out, and an own key stays one, whatever its name', () => {
  const reported = JSON.parse('{"a":1,"__proto__":{"polluted":true}}') as object
  const kept = omitUndefined({ ...reported, gone: undefined })
  expect(JSON.stringify(kept)).toBe(JSON.stringify(reported))
  expect(Object.getPrototypeOf(kept)).toBe(Object.prototype)
})

test.each([
  ['messages', '{"usage":{"input_tokens":1,"__proto__":{"polluted":true}}}'],
  ['generate-content', '{"usageMetadata":{"promptTokenCount":1,"__proto__":{"polluted":true}}}'],
] as const)('also in the counts of %s, which are read of any body', (name, body) => {
  const fields = protocols[name].outcome(JSON.parse(body)).usage?.ext?.[name]?.fields
  expect(JSON.stringify(fields)).toBe('{"__proto__":{"polluted":true}}')
})
