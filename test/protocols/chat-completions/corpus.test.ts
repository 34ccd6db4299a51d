import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { CanonicalResponse } from '../../../src/canonical/response.ts'
import { chatCompletions } from '../../../src/protocols/chat-completions/index.ts'
import { codes, decodeStream, encodeStream, parseStream } from './run.ts'

const shared = process.env['WIREGLOT_SHARED']
const root = shared ? join(shared, 'corpus') : ''
type Entry = { file: string; protocol: string; kind: string; dialect: string }
const entries: Entry[] =
  shared && existsSync(root) ? JSON.parse(readFileSync(join(root, 'index.json'), 'utf8')).files : []
const of = (kind: string) =>
  entries
    .filter(entry => entry.protocol === 'chat' && entry.kind === kind && entry.dialect !== 'fuzz')
    .map(({ file }) => file)
const text = (file: string) => readFileSync(join(root, file), 'utf8')

/** Bodies that are read with a note, each with its reason. */
const exceptions: Record<string, string> = {
  'google-openai.test_openai.test_compatible_api_with_tool_calls_without_id':
    'the total includes reasoning that no other count has, so the output was repaired',
  'ruby-llm__mistral.chat_audio_models':
    'the total counts audio that no other count has, so the output was repaired',
  'pydantic-ai__snowflake.test_snowflake': 'the finish reason is an empty text, with a note',
  'llm__openai.test_tools_streaming': 'no chunk has a finish reason before [DONE], with a note',
}

const excused = (file: string) => Object.keys(exceptions).some(name => file.includes(name))

describe.skipIf(!shared)(
  'recorded bodies (skipped without WIREGLOT_SHARED, the folder that holds them)',
  () => {
    test.each(of('requests').filter(file => !excused(file)))('%s comes back as it was', file => {
      const wire: unknown = JSON.parse(text(file))
      const { value, notes } = chatCompletions.decodeRequest(wire)
      const again = chatCompletions.encodeRequest(value)
      expect(again.wire).toEqual(wire)
      expect([...notes, ...again.notes]).toEqual([])
    })

    test.each(of('responses').filter(file => !excused(file)))('%s comes back as it was', file => {
      const wire: unknown = JSON.parse(text(file))
      const { value, notes } = chatCompletions.decodeResponse(wire)
      const again = chatCompletions.encodeResponse(value)
      expect(again.wire).toEqual(wire)
      expect([...notes, ...again.notes]).toEqual([])
    })

    test.each(of('errors'))('%s comes back as it was', file => {
      const body: unknown = JSON.parse(text(file))
      const { value } = chatCompletions.decodeError({ status: 400, headers: {}, body })
      expect(value.message.length).toBeGreaterThan(0)
      expect(chatCompletions.encodeError(value).wire).toMatchObject({ status: 400, body })
    })

    test.each(of('streams'))('%s obeys the grammar, also when encoded again', file => {
      const { events } = decodeStream(parseStream(text(file)))
      expect(checkGrammar(events)).toEqual([])
      if (excused(file)) return
      const { frames } = encodeStream(events)
      const again = decodeStream(frames)
      expect(checkGrammar(again.events)).toEqual([])
      expect(reported(collect(again.events).response)).toEqual(reported(collect(events).response))
      expect(codes(again.notes)).toEqual([])
    })

    test('allows only a few exceptions', () => {
      const all = [...of('requests'), ...of('responses')]
      expect(all.filter(excused).length).toBeLessThan(all.length * 0.05)
    })
  },
)

/** What a reader gets of a response: this wire does not mark where parts were cut. */
function reported({ id, model, createdAt, candidates, usage, error }: CanonicalResponse) {
  const responses = candidates.map(({ index, messages, finish }) => {
    const parts = messages.flatMap(message => message.parts)
    const of = <T extends string>(type: T) =>
      parts.filter(
        (part): part is Extract<(typeof parts)[number], { type: T }> => part.type === type,
      )
    return {
      index,
      finish,
      text: of('text')
        .map(part => part.text)
        .join(''),
      refusal: of('refusal')
        .map(part => part.text)
        .join(''),
      reasoning: of('reasoning')
        .flatMap(part => part.segments.map(segment => segment.text))
        .join(''),
      signatures: of('reasoning').flatMap(part => (part.signature ? [part.signature.value] : [])),
      calls: of('tool-call').map(part => [part.id, part.name, part.kind, part.input]),
      citations: of('text').flatMap(part => part.citations ?? []),
      logprobs: of('text').flatMap(part => part.logprobs ?? []),
    }
  })
  return { id, model, createdAt, candidates: responses, usage, error }
}
