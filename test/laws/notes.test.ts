import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Note } from '../../src/canonical/note.ts'
import { TranslationError } from '../../src/errors.ts'
import { createReport } from '../../src/kit/notes/report.ts'
import { commonNotes, sharedNotes } from '../../src/kit/notes/shared.ts'
import { all, attempt, pairs, wiresOf } from '../../src/testing/bodies.ts'
import { translateNotes } from '../../src/translate/notes.ts'
import { cross, kinds, valueAt } from '../support/cross.ts'
import { falsehoodOf } from '../support/falsehood.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

describe.each(pairs)('$name', pair => {
  test.each(kinds)('makes only true notes about a %s', kind => {
    fc.assert(
      fc.property(wiresOf(pair.from)[kind], fc.nat(), (wire, pick) => {
        expect(falsehoodOf(kind, wire, pick, pair)).toBeUndefined()
      }),
      runs(1000),
    )
  })
})

describe.each(all)('$name: notes', protocol => {
  test.each(kinds)(
    'of a %s have a code of a table, the kind and the words that stand there, and a path',
    kind => {
      fc.assert(
        fc.property(
          fc.oneof(...all.map(from => wiresOf(from)[kind].map(wire => ({ from, wire })))),
          ({ from, wire }) => {
            const options = { fieldNames: from.fieldNames }
            const notes = notesOf(() =>
              kind === 'request'
                ? written(from.decodeRequest(wire).value, protocol, options).notes
                : protocol.encodeResponse(from.decodeResponse(wire).value, options).notes,
            )
            for (const { code, kind: reported, reason, path, target } of notes) {
              expect(path === '' || path.startsWith('/')).toBe(true)
              expect(target).toBe(protocol.name)
              const entry = new Map(
                Object.entries({
                  ...commonNotes,
                  ...sharedNotes,
                  ...translateNotes,
                  ...protocol.notes,
                }),
              ).get(code)
              expect({ kind: reported, reason }).toEqual({
                kind: entry?.kind,
                reason: entry?.meaning,
              })
              expect(reason).not.toMatch(/\d{6}/)
            }
          },
        ),
        runs(1000),
      )
    },
  )
})

/**
 * Fields of a response: some of them no wire omits so far, and then no other property tests their
 * place.
 */
const fields = ['id', 'model', 'createdAt', 'completedAt', 'serviceTier', 'promptBlocked'] as const

test.each(all)('$name: a note can lead to each field that a response has', protocol => {
  fc.assert(
    fc.property(wiresOf(protocol).response, wire => {
      const decoded = attempt(() => protocol.decodeResponse(wire))
      if (!decoded) return
      const { value, fieldNames } = decoded
      const report = createReport(protocol.name, protocol.notes, {
        ...protocol.fieldNames,
        ...fieldNames,
      })
      for (const field of fields)
        if (value[field] !== undefined)
          expect([field, valueAt(wire, report.placeOf(field))]).not.toEqual([field, undefined])
    }),
    runs(500),
  )
})

function notesOf(act: () => Note[]): Note[] {
  try {
    return act()
  } catch (error) {
    if (!TranslationError.is(error)) throw error
    return error.notes ?? []
  }
}

describe.each(pairs)('$name', ({ from, to }) => {
  test.each(kinds)('one fact of a %s is one note', kind => {
    fc.assert(
      fc.property(wiresOf(from)[kind], wire => {
        const reported = (cross(kind, wire, from, to)?.notes ?? []).map(
          ({ code, path }) => `${code} ${path}`,
        )
        expect(reported.filter((one, i) => reported.indexOf(one) < i)).toEqual([])
      }),
      runs(1000),
    )
  })
})
