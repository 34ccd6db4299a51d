import { expectTypeOf, test } from 'vitest'
import type { EncoderEvent } from '../../src/canonical/event.ts'
import type { Protocol } from '../../src/protocol.ts'

// The compiler is the test: what is below an `@ts-expect-error` must not compile.

test('a stream encoder cannot read the final part of a source', () => {
  expectTypeOf<Parameters<Protocol['streamEncoder']['step']>[1]>().toEqualTypeOf<EncoderEvent>()
  const finalOf = (event: EncoderEvent): unknown => {
    if (event.type !== 'part.end') return undefined
    // @ts-expect-error
    return event.final
  }
  expectTypeOf(finalOf).toBeFunction()
})
