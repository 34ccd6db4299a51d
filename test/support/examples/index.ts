import { commonNotes, sharedNotes } from '../../../src/kit/notes/shared.ts'
import type { NoteTable } from '../../../src/protocol.ts'
import { protocolNames, protocols } from '../../../src/protocols/index.ts'
import { translateNotes } from '../../../src/translate/notes.ts'
import type { Example } from './example.ts'
import { shown } from './shown.ts'

/**
 * `notes`: those that only this group makes, and the shared ones that it has examples of. `table`
 * and `file`: where the codes and their examples stand.
 */
export type NoteGroup = {
  name: string
  notes: NoteTable
  examples: Record<string, Example>
  table: string
  file: string
}

/**
 * Every note there is, with an example of each: what docs/notes.md shows and `notes.test.ts`
 * demands.
 */
export const noteGroups: NoteGroup[] = await Promise.all([
  ...protocolNames.map(name => group(name, protocols[name].notes, `src/protocols/${name}/own.ts`)),
  group('any', commonNotes, 'src/kit/notes/shared.ts', 'common'),
  group('translate', translateNotes, 'src/translate/notes.ts'),
])

async function group(
  name: string,
  notes: NoteTable,
  table: string,
  file = name,
): Promise<NoteGroup> {
  const { examples } = (await import(new URL(`./${file}.ts`, import.meta.url).href)) as {
    examples: Record<string, Example>
  }
  const places = new Map(Object.entries(shown[name] ?? {}))
  const placed = Object.entries(examples).map(([code, example]) => {
    const target = places.get(code)
    return [
      code,
      target === undefined ? example : { ...example, shows: { ...example.shows, target } },
    ] as const
  })
  const ofSeveral = Object.entries(sharedNotes).filter(([code]) => Object.hasOwn(examples, code))
  return {
    name,
    notes: { ...Object.fromEntries(ofSeveral), ...notes },
    examples: Object.fromEntries(placed),
    table,
    file: `test/support/examples/${file}.ts`,
  }
}
