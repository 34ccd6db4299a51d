import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { sharedNotes } from '../src/kit/notes/shared.ts'
import { noteCatalog } from '../src/notes.ts'
import { protocols } from '../src/protocols/index.ts'
import { outcomeOf, pointedAt } from './support/examples/example.ts'
import { noteGroups } from './support/examples/index.ts'
import { noteRows } from './tools/notes.ts'
import { documentedOptions } from './tools/options.ts'

test.each(noteRows())(
  'docs/notes.md shows the result of an example: %s %s',
  (_group, _code, _kind, _meaning, example) => {
    expect(example).not.toMatch(/→ …|\n/)
  },
)

test('gives a code one kind and one meaning in every table', () => {
  const meanings = new Map<string, Set<string>>()
  for (const { notes } of noteGroups)
    for (const [code, { kind, meaning }] of Object.entries(notes))
      meanings.set(code, (meanings.get(code) ?? new Set()).add(`${kind}: ${meaning}`))
  expect(
    [...meanings]
      .filter(([, message]) => message.size > 1)
      .map(([code, message]) => [code, ...message]),
  ).toEqual([])
})

describe.each(noteGroups)('$name: every note', ({ notes, examples, table, file }) => {
  test('has an example', () => {
    const missing = Object.keys(notes).filter(code => !Object.hasOwn(examples, code))
    const advice = `add to ${file}, one line for each: '<code>': fromChat(<the smallest body that makes the note>), then npm run fix`
    expect(
      missing,
      `notes of ${table} without an example: ${missing.join(', ')}; ${advice}`,
    ).toEqual([])
    const gone = Object.keys(examples).filter(code => !Object.hasOwn(notes, code))
    expect(
      gone,
      `${file} has examples of notes that ${table} does not have: ${gone.join(', ')}; take them out`,
    ).toEqual([])
  })

  test.each(Object.entries(examples))(
    '%s is made by its example, which makes no other avoidable note',
    (code, example) => {
      const made = [...new Set(outcomeOf(example).notes.map(note => note.code))].sort()
      const due = [code, ...(example.also ?? [])].sort()
      const advice = `the example of ${code} in ${file} has to make exactly these notes: make its body smaller, or name in \`also\` what no body avoids`
      expect(made, advice).toEqual(due)
    },
  )

  test.each(Object.entries(examples))(
    '%s has the text of its table and a valid path',
    (code, example) => {
      const { notes: made, target } = outcomeOf(example)
      for (const note of made.filter(one => one.code === code)) {
        expect({ kind: note.kind, reason: note.reason }).toEqual({
          kind: notes[code]?.kind,
          reason: notes[code]?.meaning,
        })
        const [whole, side] =
          note.kind === 'synthesized' ? [target, 'output'] : [example.body, 'input']
        expect(
          pointedAt(example, whole, note.path),
          `${code} at ${note.path} leads nowhere in the ${side}: ${JSON.stringify(whole)}`,
        ).toBeDefined()
      }
    },
  )
})

test.each(noteGroups.filter(({ table }) => table.startsWith('src/protocols/')))(
  '$name: every shared note that its code names has an example',
  ({ examples, table, file }) => {
    const folder = new URL('../'.concat(table, '/../'), import.meta.url)
    const named = readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .filter(path => path.endsWith('.ts'))
      .flatMap(path => [
        ...readFileSync(new URL(path, folder), 'utf8').matchAll(
          /\.(?:add|addKeys|addMade|leave|once|onceEach)\(\s*'([\w.-]+)'/g,
        ),
      ])
      .flatMap(([, code = '']) => (Object.hasOwn(sharedNotes, code) ? [code] : []))
    expect(named.length).toBeGreaterThan(20)
    expect(
      [...new Set(named)].filter(code => !Object.hasOwn(examples, code)),
      file,
    ).toEqual([])
  },
)

test('every shared note has examples, and stands in no table of a protocol', () => {
  const made = noteGroups.flatMap(({ examples }) => Object.keys(examples))
  expect(Object.keys(sharedNotes).filter(code => !made.includes(code))).toEqual([])
  const own = Object.values(protocols).flatMap(({ notes }) => Object.keys(notes))
  expect(own.filter((code, at) => own.indexOf(code) !== at || code in sharedNotes)).toEqual([])
})

test('names only existing options in advice', () => {
  const known = new Set(
    documentedOptions.map(({ group, name }) => (group ? `${group}.${name}` : name)),
  )
  const fields = new Set([
    'max_tokens',
    'tools',
    'unsupported',
    'store',
    'now',
    'newId',
    'model',
    'resolveFile',
    'output_text',
    'serverTools',
  ])
  const named = Object.entries(noteCatalog).flatMap(([code, { advice = '' }]) =>
    [...advice.matchAll(/`(\w[\w.]*)[^`]*`/g)].map(([, option = '']) => ({ code, option })),
  )
  expect(named.length).toBeGreaterThan(50)
  expect(named.filter(({ option }) => !known.has(option) && !fields.has(option))).toEqual([])
})
