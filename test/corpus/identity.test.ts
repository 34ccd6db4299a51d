import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateRequest, translateResponse } from '../../src/api.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { canonicalJson } from '../../src/testing/json.ts'
import { corpusFiles, corpusOf, recordedStreams, shared, skipReason } from './data.ts'
import { type Exceptions, tally } from './tally.ts'

const none: Exceptions = {}

const named = (files: { file: string; text: string }[]) =>
  files.map(({ file, text }) => ({ name: file, text }))

describe.skipIf(!shared).each(protocolNames)(
  `captured %s traffic for a client of the same (${skipReason})`,
  protocol => {
    const {
      decodeRequest,
      encodeRequest,
      decodeResponse,
      encodeResponse,
      decodeError,
      encodeError,
      fieldNames,
    } = protocols[protocol]
    const same = { from: protocol, to: protocol }

    test('requests are the same JSON, passed on or read and written again, and nothing is noted', async () => {
      await tally(
        `same requests ${protocol}`,
        named(corpusFiles(protocol, 'requests')),
        none,
        ({ text }) => {
          const passed = translateRequest(JSON.parse(text), same)
          expect([JSON.stringify(passed.body), passed.notes]).toEqual([
            JSON.stringify(JSON.parse(text)),
            [],
          ])
          const { value, notes } = decodeRequest(JSON.parse(text))
          const again = encodeRequest(value, { fieldNames })
          // A request that only counts tokens has no limit; a request that generates needs one.
          const made = again.notes.filter(({ code }) => code === 'max-tokens.default').length
          expect(again.notes).toHaveLength(made)
          expect(
            notes.filter(({ kind }) => kind !== 'approximated'),
            'only repairs are noted',
          ).toEqual([])
          const wire = made > 0 ? { ...(again.wire as object), max_tokens: undefined } : again.wire
          expect(canonicalJson(wire)).toBe(canonicalJson(JSON.parse(text)))
        },
      )
    })

    test('responses are the same JSON without notes, passed through or decoded and encoded', async () => {
      await tally(
        `same responses ${protocol}`,
        named(corpusFiles(protocol, 'responses')),
        none,
        ({ text }) => {
          const passed = translateResponse(JSON.parse(text), same)
          expect([JSON.stringify(passed.body), passed.notes]).toEqual([
            JSON.stringify(JSON.parse(text)),
            [],
          ])
          const { value, notes } = decodeResponse(JSON.parse(text))
          const again =
            value.error && !value.candidates.length
              ? { ...encodeError(value.error), wire: encodeError(value.error).wire.body }
              : encodeResponse(value, { fieldNames })
          expect(canonicalJson(again.wire)).toBe(canonicalJson(JSON.parse(text)))
          expect(again.notes).toEqual([])
          expect(
            notes.filter(({ kind }) => kind !== 'approximated'),
            'only repairs are noted',
          ).toEqual([])
        },
      )
    })

    test('streams are the same bytes; one that was cut off has a failure behind them', async () => {
      await tally(
        `same streams ${protocol}`,
        named([...corpusFiles(protocol, 'streams'), ...recordedStreams(protocol)]),
        none,
        ({ text }) => {
          const translator = createStreamTranslator(same)
          const out = translator.push(new TextEncoder().encode(text)) + translator.end()
          expect(out.slice(0, text.length) === text).toBe(true)
          if (translator.finished) expect(out.length).toBe(text.length)
          else
            expect(out.length > text.length || translator.error?.protocol === protocol).toBe(true)
        },
      )
    })

    test('error bodies are the same', async () => {
      await tally(
        `same errors ${protocol}`,
        named(corpusFiles(protocol, 'errors')),
        none,
        ({ text }) => {
          const body: unknown = parse(text)
          expect(
            canonicalJson(
              encodeError(decodeError({ status: 400, headers: {}, body }).value).wire.body,
            ),
          ).toBe(canonicalJson(body))
        },
      )
    })
  },
)

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

describe.skipIf(!shared).each(protocolNames)(
  `what captured %s traffic does against its own documents (${skipReason})`,
  protocol => {
    test('is decoded without an exception', async () => {
      const { files } = JSON.parse(
        readFileSync(join(corpusOf(shared ?? '', protocol), 'deviations.json'), 'utf8'),
      ) as { files: Record<string, string[]> }
      const kinds = ['requests', 'responses', 'streams', 'errors'] as const
      const odd = kinds.flatMap(kind =>
        corpusFiles(protocol, kind)
          .filter(({ file }) => Object.hasOwn(files, file))
          .map(({ file, text }) => ({ name: file, kind, text })),
      )
      await tally(`deviations ${protocol}`, odd, none, ({ kind, text, name }) => {
        for (const to of protocolNames) {
          if (kind === 'requests')
            expect(protocols[protocol].decodeRequest(JSON.parse(text)).value).toBeDefined()
          else if (kind === 'responses')
            expect(protocols[protocol].decodeResponse(JSON.parse(text)).value).toBeDefined()
          else if (kind === 'streams') {
            const translator = createStreamTranslator({ from: protocol, to })
            translator.push(text)
            translator.end()
            // Only what holds no end, or two beginnings, is a failure.
            const failed = (files[name] ?? []).some(id =>
              /second_message_start|edited|doc_example|shortened/.test(id),
            )
            if (!failed) expect(translator.error?.message, to).toBe(undefined)
          }
        }
      })
    })
  },
)
