import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  type ProtocolName,
  translateError,
  translateRequest,
  translateResponse,
} from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { corpusFiles, type Kind, shared, skipReason } from './data.ts'

/**
 * What is made of captured traffic that is not as its protocol says: a note on the repair, a
 * failure, or the reason why nothing is repaired.
 */
const repairs: Record<string, { note: RegExp } | { fails: RegExp } | { none: string }> = {
  'messages.end_turn_with_tool_use': { note: /^finish\.(approximated|tool-use) \/stop_reason$/ },
  'messages.whole_message_in_start': {
    none: 'the start of a message may hold all of it: everything is read, nothing is guessed',
  },
  'messages.second_message_start': { fails: /another message begins/ },
  'messages.block_not_closed': {
    none: 'the vendor leaves a call open that its limit has cut off, and says so in the stop reason',
  },
  'chat.error_shape': {
    none: 'an error has no fixed shape: kind, message and status are read from wherever they stand',
  },
  'responses.arguments_without_delta': {
    none: 'the complete value in the event at the end replaces deltas that never came',
  },
  'responses.event_not_in_doc': { note: /^(event\.unknown|stream\.event) / },
  'responses.no_sequence_number': {
    none: 'the order is that of the frames, the numbers are only written',
  },
  'responses.shortened': {
    none: 'the complete value at the end wins over the deltas before it; a difference from emitted text is noted',
  },
  'responses.status_complete': { note: /^finish\.approximated \/status$/ },
  'responses.request_own_output_replayed': {
    none: 'status and result of an item of history say nothing that is needed to read it',
  },
  'responses.item_never_done': {
    none: 'a completed response ends its items, and its last event lists them',
  },
  'responses.foreign_items': {
    note: /^(part\.unknown|part\.unsupported|server-tool\.(dropped|search)|tool\.server) /,
  },
  'responses.item_id_repeated': {
    none: 'items are distinguished by their position, not by their id',
  },
  'responses.edited': { none: 'nothing that is missing is needed' },
  'responses.no_event_line': { none: 'the type is in the data as well' },
  'responses.doc_example': { none: 'nothing that was cut out is needed' },
}

type File = { from: ProtocolName; kind: Kind; text: string; name: string }

function translated(
  { from, kind, text }: File,
  to: ProtocolName,
): { notes: string[]; error?: string } {
  const options = { from, to, onUnresolvable: 'note' } as const
  const report = (notes: readonly { code: string; path: string }[]) =>
    notes.map(({ code, path }) => `${code} ${path}`)
  if (kind === 'requests')
    return { notes: report(translateRequest(JSON.parse(text), options).notes) }
  if (kind === 'responses')
    return { notes: report(translateResponse(JSON.parse(text), options).notes) }
  if (kind === 'errors')
    return {
      notes: report(translateError({ status: 400, headers: {}, body: text }, options).notes),
    }
  const translator = createStreamTranslator(options)
  translator.push(text)
  translator.end()
  return {
    notes: report(translator.notes),
    ...(translator.error && { error: translator.error.message }),
  }
}

describe.skipIf(!shared)(
  `what captured traffic does against its own documents (${skipReason})`,
  () => {
    const { files } = shared
      ? (JSON.parse(readFileSync(join(shared, 'corpus/deviations.json'), 'utf8')) as {
          files: Record<string, string[]>
        })
      : { files: {} }
    const odd = (['responses', 'messages'] as const).flatMap(from =>
      (['requests', 'responses', 'streams', 'errors'] as const).flatMap(kind =>
        corpusFiles(from, kind).flatMap(({ file: name, text }) =>
          (files[name] ?? []).map(id => ({ id, file: { from, kind, text, name } })),
        ),
      ),
    )

    test('has an entry for each known deviation, and no others', () => {
      expect(new Set(odd.map(({ id }) => id))).toEqual(new Set(Object.keys(repairs)))
    })

    test.each(Object.entries(repairs))(
      '%s is repaired with a note, fails, or needs neither',
      (id, repair) => {
        const found = odd.filter(one => one.id === id)
        expect(found.length).toBeGreaterThan(0)
        for (const { file } of found)
          for (const to of protocolNames.filter(name => name !== file.from)) {
            const { notes, error } = translated(file, to)
            if ('fails' in repair) expect(error, file.name).toMatch(repair.fails)
            else expect(error, file.name).toBe(undefined)
            if ('note' in repair)
              expect(notes, `${file.name} → ${to}`).toEqual(
                expect.arrayContaining([expect.stringMatching(repair.note)]),
              )
          }
      },
    )
  },
)
