import { describe, expect, test } from 'vitest'
import type { FinishReason } from '../../../src/canonical/response.ts'
import {
  createStreamTranslator,
  type ProtocolName as Protocol,
  translateResponse,
} from '../../../src/index.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'

const { decodeResponse, encodeResponse } = generateContent
const response = (finishReason: unknown, parts: object[] = [{ text: 'hi' }]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason }],
})
const read = (finishReason: unknown, parts?: object[]) =>
  decodeResponse(response(finishReason, parts)).value.candidates[0]?.finish
const called = [{ functionCall: { name: 'look', args: {} } }]

test.each<[wire: unknown, reason: FinishReason]>([
  ['STOP', 'stop'],
  ['MAX_TOKENS', 'length'],
  ['SAFETY', 'content_filter'],
  ['BLOCKLIST', 'content_filter'],
  ['PROHIBITED_CONTENT', 'content_filter'],
  ['SPII', 'content_filter'],
  ['IMAGE_SAFETY', 'content_filter'],
  ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
  ['MODEL_ARMOR', 'content_filter'],
  ['RECITATION', 'recitation'],
  ['IMAGE_RECITATION', 'recitation'],
  ['MALFORMED_FUNCTION_CALL', 'malformed_tool_call'],
  ['UNEXPECTED_TOOL_CALL', 'malformed_tool_call'],
  ['TOO_MANY_TOOL_CALLS', 'malformed_tool_call'],
  ['MISSING_THOUGHT_SIGNATURE', 'malformed_tool_call'],
  ['CONTINUATION', 'pause'],
  ['LANGUAGE', 'other'],
  ['NO_IMAGE', 'other'],
  ['FINISH_REASON_UNSPECIFIED', 'other'],
  ['A_WORD_OF_TOMORROW', 'other'],
  [1, 'stop'],
  [2, 'length'],
])('%s means %s', (wire, reason) => {
  expect(read(wire)?.reason).toBe(reason)
})

test('maps STOP to tool calls when the response has a call', () => {
  expect(read('STOP', called)).toMatchObject({ reason: 'tool_calls', raw: 'STOP' })
  expect(read('MAX_TOKENS', called)?.reason).toBe('length')
})

test('treats a missing finish reason as unknown', () => {
  expect(read(undefined)).toBeUndefined()
  expect(read('')).toBeUndefined()
})

describe('a response of another protocol', () => {
  const write = (
    finish: { reason: FinishReason; message?: string },
    parts: object[] = [{ type: 'text', text: 'hi' }],
  ) => {
    const value = {
      candidates: [
        { index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish },
      ],
    }
    const { wire, notes } = encodeResponse(value as Parameters<typeof encodeResponse>[0])
    const [candidate] = (wire as { candidates: { finishReason: string; finishMessage?: string }[] })
      .candidates
    return {
      reason: candidate?.finishReason,
      message: candidate?.finishMessage,
      notes: notes.map(({ code }) => code),
    }
  }
  const call = [{ type: 'tool-call', id: 'c1', name: 'look', kind: 'function', input: '{}' }]

  test.each<[reason: FinishReason, wire: string, exact: boolean]>([
    ['stop', 'STOP', true],
    ['stop_sequence', 'STOP', false],
    ['length', 'MAX_TOKENS', true],
    ['context_window', 'MAX_TOKENS', false],
    ['content_filter', 'SAFETY', true],
    ['refusal', 'SAFETY', false],
    ['recitation', 'RECITATION', true],
    ['pause', 'OTHER', false],
    ['compaction', 'OTHER', false],
    ['malformed_tool_call', 'MALFORMED_FUNCTION_CALL', true],
    ['cancelled', 'OTHER', false],
    ['other', 'OTHER', true],
  ])('that ended with %s ends with %s (exactly so: %s)', (reason, wire, exact) => {
    const reported = write({ reason })
    expect(reported.reason).toBe(wire)
    expect(reported.notes).toEqual(exact ? [] : ['finish.approximated'])
  })

  test('that calls ends with STOP, and that is exact', () => {
    expect(write({ reason: 'tool_calls' }, call)).toMatchObject({ reason: 'STOP', notes: [] })
  })

  test('that was paused has a finish message', () => {
    expect(write({ reason: 'pause' }).message).toMatch(/paused/)
  })

  test('that failed is an error', () => {
    const value = {
      candidates: [
        { index: 0, messages: [], finish: { reason: 'error' as const, message: 'Broke' } },
      ],
    }
    expect(encodeResponse(value).wire).toEqual({
      error: { code: 500, message: 'Broke', status: 'INTERNAL' },
    })
  })

  test('without a finish reason is refused, or ends as length, as requested', () => {
    const value = { candidates: [{ index: 0, messages: [] }] }
    expect(() => encodeResponse(value)).toThrow(expect.objectContaining({ code: 'truncated' }))
    expect(encodeResponse(value, { truncated: 'length' }).wire).toMatchObject({
      candidates: [{ finishReason: 'MAX_TOKENS' }],
    })
  })
})

test('a blocked prompt keeps its reason, both ways', () => {
  const wire = {
    promptFeedback: { blockReason: 'SAFETY', blockReasonMessage: 'No.', safetyRatings: [] },
  }
  const { value } = decodeResponse(wire)
  expect(value.promptBlocked).toMatchObject({ reason: 'SAFETY', message: 'No.' })
  expect(encodeResponse(value).wire).toEqual(wire)
  expect(encodeResponse({ candidates: [], promptBlocked: { reason: 'OTHER' } }).wire).toEqual({
    promptFeedback: { blockReason: 'OTHER' },
  })
})

describe('a candidate that failed', () => {
  const failures = [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
    'OTHER',
    'LANGUAGE',
    'NO_IMAGE',
    'IMAGE_OTHER',
  ]
  const targets = ['chat-completions', 'responses', 'messages'] as const
  const body = (
    finishReason: string,
    parts: object[],
    more: object = { finishMessage: 'print(look())' },
  ) => ({
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason, ...more }],
    modelVersion: 'm',
    responseId: 'r1',
  })
  const stream = (to: Protocol, ...wires: object[]) => {
    const translator = createStreamTranslator({ from: 'generate-content', to })
    const text =
      wires.map(wire => translator.push(`data: ${JSON.stringify(wire)}\r\n\r\n`)).join('') +
      translator.end()
    return { text, translator, codes: translator.notes.map(({ code }) => code) }
  }

  test.each(failures)('is an error when %s comes without content', word => {
    for (const parts of [[], [{ text: '' }], [{ text: 'hm', thought: true }]])
      for (const to of targets) {
        const { body: wire } = translateResponse(body(word, parts), {
          from: 'generate-content',
          to,
        })
        expect(wire).toMatchObject({ error: { message: 'print(look())' } })
        const { text, translator } = stream(to, body(word, parts))
        expect(translator.failedEnd ?? translator.error).toMatchObject({
          status: 502,
          message: 'print(look())',
        })
        expect(text).toContain('print(look())')
        expect(text).toMatch(/"error":\{/)
      }
  })

  test('names the finish reason in the error when there is no message', () => {
    const { body: wire } = translateResponse(body('NO_IMAGE', [], {}), {
      from: 'generate-content',
      to: 'messages',
    })
    expect(wire).toMatchObject({
      error: { message: 'the model ended without a response: NO_IMAGE' },
    })
  })

  test.each(failures)('ends as a stop with a note when %s comes with content', word => {
    const parts = [{ text: 'so far' }]
    const endings = {
      'chat-completions': '"finish_reason":"stop"',
      responses: '"status":"completed"',
      messages: '"stop_reason":"end_turn"',
    }
    for (const to of targets) {
      const whole = translateResponse(body(word, parts), { from: 'generate-content', to })
      expect(JSON.stringify(whole.body)).toContain(endings[to])
      const { text, codes } = stream(to, body(word, parts))
      expect(text).toContain(endings[to])
      for (const noted of [whole.notes.map(({ code }) => code), codes])
        expect(noted).toContain('finish.approximated')
    }
  })

  test('is written unchanged for its own protocol', () => {
    for (const word of failures)
      for (const more of [{}, { finishMessage: 'why' }]) {
        const wire = body(word, [], more)
        expect(encodeResponse(decodeResponse(wire).value).wire).toEqual(wire)
      }
  })
})
