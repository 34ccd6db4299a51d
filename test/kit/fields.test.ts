import { expect, test } from 'vitest'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import { fieldTable, rowFor } from '../../src/kit/fields/fields.ts'
import { createReport } from '../../src/kit/notes/report.ts'

const row = rowFor<string[]>()
const nothing = { wire: [], fields: [] }
const table = fieldTable({ wire: ['tools', 'text/format'], fields: ['tools', 'output.format'] }, [
  row('model', 'model'),
  row('top_p', 'sampling.topP'),
  row('top_k', 'sampling.topK', { read: value => (value === 40 ? undefined : Number(value)) }),
  row('text/verbosity', 'output.verbosity'),
  row('max_tokens', 'maxOutputTokens', {
    write: (limit, notes, field) => {
      if (limit >= 16) return limit
      notes.push(`${field} is too low`)
      return undefined
    },
  }),
])

test('fields are read into their groups, and null means absence', () => {
  const into: CanonicalRequest = { messages: [] }
  const unknown = table.read(
    {
      model: 'm',
      top_p: 0.5,
      top_k: null,
      max_tokens: 0,
      tools: [{ other: 1 }],
      other: null,
      text: { verbosity: 'low', format: { other: 1 }, other: 1 },
    },
    into,
  )
  expect(unknown).toEqual({ text: { other: 1 } })
  expect(into).toEqual({
    messages: [],
    model: 'm',
    sampling: { topP: 0.5 },
    maxOutputTokens: 0,
    output: { verbosity: 'low' },
  })
  const odd: CanonicalRequest = { messages: [] }
  expect(table.read({ text: 'no object', top_k: 40, other: 1 }, odd)).toEqual({
    text: 'no object',
    top_k: 40,
    other: 1,
  })
  expect(odd).toEqual({ messages: [] })
})

test('fields are written where the wire has them', () => {
  const notes: string[] = []
  const body = table.write(
    {
      messages: [],
      model: 'm',
      sampling: { topP: 0, seed: 1 },
      output: { verbosity: 'high' },
      maxOutputTokens: 9,
    },
    notes,
  )
  expect(body).toEqual({ model: 'm', top_p: 0, text: { verbosity: 'high' } })
  expect(notes).toEqual(['maxOutputTokens is too low'])
})

test('fields are written behind those of the body so far, and into its objects', () => {
  const request: CanonicalRequest = {
    messages: [],
    model: 'm',
    output: { verbosity: 'high' },
    sampling: { topP: 1 },
  }
  const body = table.write(request, [], { model: undefined, input: [], text: { format: 1 } })
  expect(JSON.stringify(body)).toBe(
    '{"model":"m","input":[],"text":{"format":1,"verbosity":"high"},"top_p":1}',
  )
})

test('the paths of notes follow from the rows', () => {
  expect(table.names).toEqual({
    model: 'model',
    'sampling.topP': 'top_p',
    'sampling.topK': 'top_k',
    'output.verbosity': 'text/verbosity',
    maxOutputTokens: 'max_tokens',
  })
})

const deep = fieldTable(nothing, [
  rowFor<string[]>()('config/topK', 'sampling.topK', {
    read: (value, { isOff }) => {
      if (isOff) return null
      if (value === 40) return undefined
      return Number(value)
    },
  }),
  rowFor<string[]>()('config/speech/voice', 'output.verbosity', {
    read: value => (typeof value === 'string' ? value : undefined),
    write: (value, notes, field) => {
      notes.push(field)
      return value
    },
  }),
])

test('fields are in objects at any depth', () => {
  const into: CanonicalRequest = { messages: [] }
  expect(deep.read({ config: { topK: 1, speech: { voice: 'v', other: 1 } } }, into)).toEqual({
    config: { speech: { other: 1 } },
  })
  expect(into).toEqual({ messages: [], sampling: { topK: 1 }, output: { verbosity: 'v' } })
  const notes: string[] = []
  expect(deep.write(into, notes)).toEqual({ config: { topK: 1, speech: { voice: 'v' } } })
  expect(notes).toEqual(['output.verbosity'])
  expect(deep.names).toEqual({
    'sampling.topK': 'config/topK',
    'output.verbosity': 'config/speech/voice',
  })
})

test('values without a meaning are returned where they were, and those that mean absence are not', () => {
  const into: CanonicalRequest = { messages: [] }
  expect(deep.read({ config: { topK: 40, speech: { voice: 5 } } }, into)).toEqual({
    config: { topK: 40, speech: { voice: 5 } },
  })
  expect(deep.read({ config: { topK: 40, isOff: true, speech: 'no object' } }, into)).toEqual({
    config: { isOff: true, speech: 'no object' },
  })
  expect(into).toEqual({ messages: [] })
})

test('a field may have an older name, and one wire field may be written from several', () => {
  const older = fieldTable(nothing, [
    row('max_tokens', 'maxOutputTokens', { write: false }),
    row('limit', 'maxOutputTokens'),
    row('tier', 'serviceTier.tier'),
    row('tier', 'serviceTier.speed', { read: 'never' }),
  ])
  const read = (body: object) => {
    const into: CanonicalRequest = { messages: [] }
    older.read({ ...body }, into)
    return into
  }
  expect(read({ max_tokens: 1, tier: 'flex' })).toEqual({
    messages: [],
    maxOutputTokens: 1,
    serviceTier: { tier: 'flex' },
  })
  expect(read({ limit: 2, max_tokens: 1 })).toEqual({ messages: [], maxOutputTokens: 2 })
  expect(read({ limit: null, max_tokens: 1 })).toEqual({ messages: [], maxOutputTokens: 1 })
  expect(
    older.write({ messages: [], maxOutputTokens: 3, serviceTier: { speed: 'fast' } }, []),
  ).toEqual({ limit: 3, tier: 'fast' })
  expect(older.names).toEqual({ maxOutputTokens: 'limit', 'serviceTier.tier': 'tier' })
})

test('what is neither in a row nor written by code is noted', () => {
  const report = createReport('test', {})
  table.leave(
    {
      messages: [],
      model: 'm',
      tools: [],
      candidateCount: 2,
      output: { format: { type: 'json' }, verbosity: 'low', modalities: ['audio'] },
      sampling: { topP: 1, seed: 1, frequencyPenalty: 0 },
    },
    report,
  )
  expect(report.notes.map(({ code, path }) => [code, path])).toEqual([
    ['field.unsupported', '/candidateCount'],
    ['field.unsupported', '/output/modalities'],
    ['field.unsupported', '/sampling/seed'],
  ])
})
