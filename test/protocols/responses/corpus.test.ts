import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import { isObject, type JsonObject } from '../../../src/kit/json/json.ts'
import { responses } from '../../../src/protocols/responses/index.ts'
import { createFrameParser } from '../../../src/sse/parse.ts'
import { decode, encode, faultsOf } from './support.ts'

const shared = process.env['WIREGLOT_SHARED']
const corpus = shared === undefined ? '' : join(shared, 'corpus')

/** Bodies that are read with a note, and why. */
const noted: Record<string, string> = {
  'tool.schema-normalized':
    'strict is the default of this wire, and the schema is not one that strict takes as it is',
  'tool.annotation': 'a mark for the servers of OpenAI, which all others refuse',
  'tool.expanded': 'a tool search that the client runs is a function for every other protocol',
  'tool.loaded': 'what such a search has found is loaded, as nothing else would load it',
  'reasoning.older-summary':
    'the older name of a field is read as the newer one, which other protocols see under that name',
}

const read = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

function filesOf(kind: string): { name: string; path: string }[] {
  if (!corpus) return []
  const index = read(join(corpus, 'index.json'))
  const files =
    isObject(index) && Array.isArray(index['files']) ? index['files'].filter(isObject) : []
  return files
    .filter(
      ({ protocol, kind: of, dialect }) =>
        protocol === 'responses' && of === kind && dialect !== 'fuzz',
    )
    .map(({ file }) => ({ name: String(file), path: join(corpus, String(file)) }))
}

function framesOf(text: string): unknown[] {
  const frames: unknown[] = []
  const parser = createFrameParser(({ data }) =>
    frames.push(data === '[DONE]' ? data : JSON.parse(data)),
  )
  parser.push(text)
  parser.end()
  return frames
}

function written(kind: 'requests' | 'responses', body: unknown) {
  if (kind === 'requests') {
    const { value, notes } = responses.decodeRequest(body)
    const encoded = responses.encodeRequest(value)
    return { wire: encoded.wire, notes: [...notes, ...encoded.notes] }
  }
  const { value, notes } = responses.decodeResponse(body)
  const encoded = responses.encodeResponse(value)
  return { wire: encoded.wire, notes: [...notes, ...encoded.notes] }
}

describe.skipIf(!corpus || !existsSync(corpus))(
  'recorded traffic, which is no part of this repository and lies where WIREGLOT_SHARED says',
  () => {
    describe.each(['requests', 'responses'] as const)('%s', kind => {
      test('are restored without a note', () => {
        const files = filesOf(kind)
        const exceptions = new Set<string>()
        for (const { name, path } of files) {
          const body = read(path)
          const { wire, notes } = written(kind, body)
          expect(wire, name).toEqual(body)
          for (const { code } of notes) {
            expect(Object.keys(noted), name).toContain(code)
            exceptions.add(name)
          }
        }
        expect(files.length).toBeGreaterThan(300)
        expect(exceptions.size / files.length).toBeLessThan(0.05)
      })
    })

    test('streams obey the grammar wherever they are cut, and are written legally', () => {
      const files = filesOf('streams')
      for (const { name, path } of files) {
        const frames = framesOf(readFileSync(path, 'utf8'))
        for (
          let length = 0;
          length <= frames.length;
          length += Math.max(1, Math.floor(frames.length / 12))
        ) {
          const { out } = decode(frames.slice(0, length))
          expect(checkGrammar(out), name).toEqual([])
          expect(faultsOf(encode(out).out), name).toEqual([])
        }
        const { out } = decode(frames)
        expect(checkGrammar(out), name).toEqual([])
        expect(faultsOf(encode(out).out), name).toEqual([])
      }
      expect(files.length).toBeGreaterThan(100)
    })

    test('errors are read with their message', () => {
      for (const { name, path } of filesOf('errors')) {
        const { value } = responses.decodeError({ status: 400, headers: {}, body: read(path) })
        expect(value.message, name).not.toMatch(/without a message/)
      }
    })

    test('restores the requests of real clients', () => {
      const folder = join(shared ?? '', 'recordings')
      let bodies = 0
      for (const client of readdirSync(folder).filter(name =>
        /^(codex|openai-responses|openai-agents-responses|opencode-responses|ai-sdk-openai-responses|langchain-openai-responses)/.test(
          name,
        ),
      ))
        for (const file of readdirSync(join(folder, client))) {
          const recording = read(join(folder, client, file))
          const exchanges =
            isObject(recording) && Array.isArray(recording['exchanges'])
              ? recording['exchanges'].filter(isObject)
              : []
          for (const { request, response } of exchanges) {
            const body = isObject(request) ? request['body'] : undefined
            const result: JsonObject = isObject(response) ? response : {}
            if (
              isObject(body) &&
              body['input'] !== undefined &&
              !JSON.stringify(body).includes('"$same_as"')
            ) {
              bodies++
              const { wire, notes } = written('requests', body)
              expect(wire, `${client}/${file}`).toEqual(body)
              for (const { code } of notes)
                expect(Object.keys(noted), `${client}/${file}`).toContain(code)
            }
            const events = Array.isArray(result['events'])
              ? result['events'].map(event =>
                  isObject(event) && 'data' in event ? event['data'] : event,
                )
              : []
            if (events.length > 0)
              expect(checkGrammar(decode(events).out), `${client}/${file}`).toEqual([])
          }
        }
      expect(bodies).toBeGreaterThan(10)
    })
  },
)
