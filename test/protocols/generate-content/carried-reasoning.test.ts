import { expect, test } from 'vitest'
import type { Part } from '../../../src/canonical/message.ts'
import {
  carryReasoning,
  nothingGathered,
  restoreReasoning,
} from '../../../src/protocols/generate-content/content/reasoning.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'
import type { GenerateContentWrittenPart } from '../../../src/protocols/generate-content/written.ts'

/**
 * A history of a client that keeps only texts and the call, which carries reasoning after so many
 * units of text.
 */
function historyOf(texts: readonly string[], reasoning: [after: number, thought: string][]) {
  const call: GenerateContentWrittenPart = { functionCall: { id: 'c1', name: 'look', args: {} } }
  const gathered = nothingGathered()
  for (const [after, text] of reasoning)
    gathered.reasoning.push([after, { segments: [{ kind: 'raw', text }] }])
  carryReasoning(
    gathered,
    { type: 'tool-call', id: 'c1', idOrigin: 'wire', name: 'look', kind: 'function', input: '{}' },
    [call],
  )
  return generateContent
    .decodeRequest({
      contents: [{ role: 'model', parts: [...texts.map(text => ({ text })), call] }],
    })
    .value.messages.flatMap(({ parts }) => parts)
}

test('splits no character when the client has edited the text', () => {
  const texts = historyOf(['ab😀'], [[3, 'thought']]).flatMap(part =>
    part.type === 'text' ? [part.text] : [],
  )
  expect(texts).toEqual(['ab', '😀'])
})

test('a signature of a text stays with its end, once', () => {
  const before: Part[] = [
    { type: 'text', text: 'onetwo', signature: { value: 'signature', issuer: 'generate-content' } },
  ]
  restoreReasoning([[3, { segments: [] }]], before, '/contents/0/parts/1')
  expect(before).toMatchObject([
    { text: 'one' },
    { type: 'reasoning' },
    { text: 'two', signature: { value: 'signature' } },
  ])
  expect(before[0]).not.toHaveProperty('signature')
})

test('decodes the maximum number of parts quickly', () => {
  const count = 300_000
  const texts = Array.from({ length: count }, () => 'x')
  expect(historyOf(texts, [[count, 'last']])).toHaveLength(count + 2)
})
