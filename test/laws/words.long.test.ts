import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { TranslationError } from '../../src/errors.ts'
import type { Protocol } from '../../src/protocol.ts'
import { all, attempt, pairs, wiresOf } from '../../src/testing/bodies.ts'
import { type Change, changed, keysOf, mark } from '../../src/testing/change.ts'
import { canonicalJson, leaves } from '../../src/testing/json.ts'
import { wordsOf } from '../../src/testing/typical.ts'
import { everyIndex, type Kind, kinds } from '../support/cross.ts'
import { lossOfChange } from '../support/loss.ts'
import { written } from '../support/written.ts'

/** A word that no protocol has. */
const invented = `invented${mark}`

type Row = { wire: unknown; change: Change }

/**
 * At every place of a body where words stand: each word that is known there, and one that is not.
 * No place and word twice.
 */
function rowsOf(protocol: Protocol, kind: Kind): Row[] {
  const { [kind]: wires, words } = wiresOf(protocol)
  const rows = new Map<string, Row>()
  for (const wire of fc.sample(wires, 400))
    for (const { path, value } of leaves(wire)) {
      const key = keysOf(path).at(-1) ?? ''
      if (typeof value !== 'string' || isFree.test(path) || !(words[kind].has(key) || isWord(key)))
        continue
      for (const after of [...(words[kind].get(key) ?? []), ...wordsOf(key), invented])
        if (typeof after === 'string' && after !== value)
          rows.set(`${everyIndex(path)} ${after}`, { wire, change: { path, before: value, after } })
    }
  return [...rows.values()]
}

/** Where anything may stand. */
const isFree = /\/(x_extra|vendor|a~1b~0c|metadata|arguments|input|parameters|input_schema)\//

/** Some values are given to the generator only, because their schemas accept any text. */
const isWord = (key: string) =>
  wordsOf(key).length > 0 &&
  !/(^|_)(id|url|name|data|arguments|input|model|image_url|file_url|file_data)$/.test(key)

/** Bodies are read or refused by code. */
function refusal(act: () => unknown): unknown {
  try {
    act()
    return undefined
  } catch (error) {
    return TranslationError.is(error) ? undefined : error
  }
}

describe.each(all)('$name: each word', protocol => {
  test.each(kinds)('in the schema of a %s is generated in a readable body', kind => {
    const { [kind]: wires, words } = wiresOf(protocol)
    const decode = kind === 'request' ? protocol.decodeRequest : protocol.decodeResponse
    const read = fc.sample(wires, 2000).filter(wire => attempt(() => decode(wire)) !== undefined)
    const met = new Set(
      read.flatMap(wire =>
        leaves(wire).flatMap(({ path, value }) =>
          typeof value === 'object' ? [] : [`${keysOf(path).at(-1)} ${String(value)}`],
        ),
      ),
    )
    const missing = [...words[kind]].flatMap(([key, known]) =>
      [...known].map(word => `${key} ${String(word)}`).filter(one => !met.has(one)),
    )
    expect(missing).toEqual([])
  })

  test.each(kinds)(
    'of a %s, known or not, comes back in its own protocol without a note, or is refused',
    kind => {
      const { decodeRequest, encodeRequest, decodeResponse, encodeResponse, fieldNames } = protocol
      const again = (wire: unknown) =>
        kind === 'request'
          ? encodeRequest(decodeRequest(wire).value, { fieldNames })
          : encodeResponse(decodeResponse(wire).value, { fieldNames })
      const strange = rowsOf(protocol, kind).filter(({ wire, change }) => {
        const other = changed(wire, change)
        const written = attempt(() => again(other))
        return (
          written &&
          (canonicalJson(written.wire) !== canonicalJson(other) || written.notes.length > 0)
        )
      })
      expect(strange.map(({ change }) => change)).toEqual([])
    },
  )
})

describe.each(pairs)('$name: each word', pair => {
  test.each(kinds)('of a %s, known or not, is carried, noted, or refused by code', kind => {
    for (const { wire, change } of rowsOf(pair.from, kind)) {
      const other = changed(wire, change)
      const { from, to } = pair
      const faulty =
        kind === 'request'
          ? refusal(() =>
              written(from.decodeRequest(other).value, to, { fieldNames: from.fieldNames }),
            )
          : refusal(() =>
              to.encodeResponse(from.decodeResponse(other).value, { fieldNames: from.fieldNames }),
            )
      expect(faulty).toBeUndefined()
      expect(lossOfChange(kind, wire, change, pair)).toBeUndefined()
    }
  })
})
