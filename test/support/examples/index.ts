import { commonNotes } from '../../../src/kit/report.ts'
import type { NoteTable } from '../../../src/protocol.ts'
import { type ProtocolName, protocolNames, protocols } from '../../../src/protocols/index.ts'
import { translateNotes } from '../../../src/translate/notes.ts'
import { chatCompletionsExamples } from './chat-completions.ts'
import { commonExamples } from './common.ts'
import type { Example } from './example.ts'
import { generateContentExamples } from './generate-content.ts'
import { messagesExamples } from './messages.ts'
import { responsesExamples } from './responses.ts'
import { shown } from './shown.ts'
import { translateExamples } from './translate.ts'

const examplesOf: Record<ProtocolName, Record<string, Example>> = {
  'chat-completions': chatCompletionsExamples,
  responses: responsesExamples,
  messages: messagesExamples,
  'generate-content': generateContentExamples,
}

/** `table` and `file`: where the codes and their examples stand. */
export type NoteGroup = { name: string; notes: NoteTable; examples: Record<string, Example>; table: string; file: string }

/** Every note there is, with an example of each: what docs/notes.md shows and `notes.test.ts` demands. */
export const noteGroups: NoteGroup[] = [
  ...protocolNames.map(name => group(name, protocols[name].notes, examplesOf[name], `src/protocols/${name}/notes.ts`)),
  group('any', commonNotes, commonExamples, 'src/kit/report.ts', 'common'),
  group('translate', translateNotes, translateExamples, 'src/translate/notes.ts'),
]

function group(name: string, notes: NoteTable, examples: Record<string, Example>, table: string, file = name): NoteGroup {
  const places = new Map(Object.entries(shown[name] ?? {}))
  const placed = Object.entries(examples).map(([code, example]) => {
    const target = places.get(code)
    return [code, target === undefined ? example : { ...example, shows: { ...example.shows, target } }] as const
  })
  return { name, notes, examples: Object.fromEntries(placed), table, file: `test/support/examples/${file}.ts` }
}
