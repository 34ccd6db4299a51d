import { expect, test } from 'vitest'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'

const { decodeResponse, encodeResponse } = generateContent
const response = (usageMetadata: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] }, finishReason: 'STOP' }],
  usageMetadata,
})
const read = (usageMetadata: object) => decodeResponse(response(usageMetadata)).value
const written = (usage: object, serviceTier?: string) => {
  const value = { candidates: read({}).candidates, usage, ...(serviceTier && { serviceTier }) }
  const { wire, notes } = encodeResponse(value)
  return {
    counts: (wire as { usageMetadata?: unknown }).usageMetadata,
    notes: notes.map(({ code }) => code),
  }
}

test('sums tokens of all kinds, also when a part is larger than the total', () => {
  expect(written({ input: 20, output: 1, reasoning: 3 })).toEqual({
    counts: {
      promptTokenCount: 20,
      candidatesTokenCount: 0,
      thoughtsTokenCount: 3,
      totalTokenCount: 23,
    },
    notes: ['usage.overlap'],
  })
})

test.each([
  [{ input: 10, output: 5, inputImage: 15 }],
  [{ input: 10, output: 5, inputImage: 6, inputAudio: 5 }],
  [{ input: 10, output: 5, inputImage: 6, toolPrompt: 5 }],
  [{ input: 10, output: 5, outputAudio: 4, reasoning: 2 }],
])('notes parts that are larger than the total: %j', usage => {
  const { counts, notes } = written(usage)
  const { ext: _, ...back } = read(counts as object).usage ?? {}
  expect(back).not.toMatchObject(usage)
  expect(notes).toEqual(['usage.overlap'])
})

test.each<[what: string, wire: object, ours: object]>([
  [
    'reasoning is outside of candidates',
    { promptTokenCount: 9, candidatesTokenCount: 55, thoughtsTokenCount: 32 },
    { input: 9, output: 87, reasoning: 32 },
  ],
  [
    'tokens of tools are outside of the prompt',
    { promptTokenCount: 9, toolUsePromptTokenCount: 96, candidatesTokenCount: 1 },
    { input: 105, output: 1, toolPrompt: 96 },
  ],
  [
    'cached tokens are part of the prompt',
    { promptTokenCount: 9, cachedContentTokenCount: 4, candidatesTokenCount: 1 },
    { input: 9, output: 1, cacheRead: 4 },
  ],
  [
    'a counter of 0 is left out by servers',
    { promptTokenCount: 9, totalTokenCount: 9 },
    { input: 9, output: 0 },
  ],
  ['absent counts are unknown', { trafficType: 'ON_DEMAND' }, {}],
  [
    'audio is counted by modality',
    {
      promptTokenCount: 9,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 4 },
        { modality: 'AUDIO', tokenCount: 5 },
      ],
    },
    { input: 9, output: 1, inputAudio: 5 },
  ],
  [
    'images are counted by modality',
    {
      promptTokenCount: 9,
      candidatesTokenCount: 1,
      promptTokensDetails: [
        { modality: 'TEXT', tokenCount: 2 },
        { modality: 'IMAGE', tokenCount: 4 },
        { modality: 'AUDIO', tokenCount: 3 },
      ],
    },
    { input: 9, output: 1, inputAudio: 3, inputImage: 4 },
  ],
  [
    'what is no count is not counted',
    { promptTokenCount: 0.5, candidatesTokenCount: 2 },
    { input: 0, output: 2 },
  ],
])('%s', (_, wire, ours) => {
  const { ext: __, ...usage } = read(wire).usage ?? {}
  expect(usage).toEqual(ours)
})

test.each<[what: string, wire: object, left: string[]]>([
  [
    'a total that is the sum',
    { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 3 },
    [],
  ],
  [
    'a total that is no sum',
    { promptTokenCount: 1, candidatesTokenCount: 2, totalTokenCount: 4 },
    ['totalTokenCount'],
  ],
  [
    'a list of text that adds up',
    { promptTokenCount: 1, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 1 }] },
    [],
  ],
  [
    'a list that does not',
    { promptTokenCount: 1, promptTokensDetails: [{ modality: 'TEXT', tokenCount: 2 }] },
    ['promptTokensDetails'],
  ],
  [
    'a list with images',
    { promptTokenCount: 1, promptTokensDetails: [{ modality: 'IMAGE', tokenCount: 1 }] },
    [],
  ],
  [
    'a list with films',
    { promptTokenCount: 1, promptTokensDetails: [{ modality: 'VIDEO', tokenCount: 1 }] },
    ['promptTokensDetails'],
  ],
  [
    'a list with generated images',
    { candidatesTokenCount: 1, candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1 }] },
    ['candidatesTokensDetails'],
  ],
  [
    'where the traffic is paid from',
    { promptTokenCount: 1, trafficType: 'ON_DEMAND' },
    ['trafficType'],
  ],
])('keeps %s only if it adds information', (_, wire, left) => {
  expect(Object.keys(read(wire).usage?.ext?.['generate-content']?.fields ?? {})).toEqual(left)
})

test('writes counts with separate parts and a total', () => {
  expect(written({ input: 120, cacheRead: 100, output: 30, reasoning: 12 }).counts).toEqual({
    promptTokenCount: 120,
    cachedContentTokenCount: 100,
    candidatesTokenCount: 18,
    thoughtsTokenCount: 12,
    totalTokenCount: 150,
  })
})

test('writes to the cache are not distinguished, which is noted once', () => {
  expect(
    written({ input: 5, output: 1, cacheWrite: 3, cacheWriteByTtl: { '5m': 3 } }).notes,
  ).toEqual(['usage.merged'])
})

test('the tier of a response is among the counts', () => {
  expect(read({ promptTokenCount: 1, serviceTier: 'standard' }).serviceTier).toBe('default')
  expect(written({ input: 1, output: 1 }, 'default').counts).toMatchObject({
    serviceTier: 'standard',
  })
})
