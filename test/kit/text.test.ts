import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lengthOf } from '../../src/kit/text/text.ts'

test('characters are counted as iterating over the text counts them, halves of pairs included', () => {
  const unit = fc.constantFrom('a', 'é', '狐', '\ud83e', '\udd8a', '🦊')
  fc.assert(
    fc.property(fc.array(unit), units => {
      const text = units.join('')
      expect(lengthOf(text)).toBe([...text].length)
    }),
  )
})
