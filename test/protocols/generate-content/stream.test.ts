import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import type { CanonicalEvent } from '../../../src/canonical/event.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import type { Citation, Part } from '../../../src/canonical/message.ts'
import { createStreamTranslator } from '../../../src/index.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'
import { encodeStream, run } from '../../../src/testing/streams.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { collectStream, explodeResponse } from '../../../src/translate/fold.ts'

const strict = strictOf('generate-content')
const event = (parts: object[], more: object = {}, beside: object = {}) => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...more }],
  modelVersion: 'm',
  responseId: 'r1',
  ...beside,
})
const stop = { finishReason: 'STOP' }

function read(...wires: unknown[]) {
  const { out, notes } = run<unknown, CanonicalEvent>(generateContent.streamDecoder, wires)
  expect(checkGrammar(out)).toEqual([])
  const { response, clean } = collect(out)
  const bare = ({ at: _, ext: __, ...part }: Part) => part
  return {
    events: out,
    response,
    clean,
    notes,
    parts: response.candidates[0]?.messages.flatMap(({ parts }) => parts.map(bare)) ?? [],
  }
}

describe('decoding a stream', () => {
  test('continues a text', () => {
    expect(read(event([{ text: 'He' }]), event([{ text: 'llo' }], stop)).parts).toEqual([
      { type: 'text', text: 'Hello' },
    ])
  })

  test('separates reasoning and texts', () => {
    const { parts } = read(
      event([{ text: 'hm', thought: true }]),
      event([{ text: 'm', thought: true }]),
      event([{ text: 'yes' }], stop),
    )
    expect(parts).toEqual([
      { type: 'reasoning', segments: [{ kind: 'summary', text: 'hmm' }] },
      { type: 'text', text: 'yes' },
    ])
  })

  test('a signature on an empty text belongs to the text before it', () => {
    const { parts } = read(
      event([{ text: 'yes' }]),
      event([{ text: '', thoughtSignature: 'QUJD' }], stop),
    )
    expect(parts).toEqual([
      {
        type: 'text',
        text: 'yes',
        signature: { value: 'QUJD', issuer: 'generate-content', form: 'thought', model: 'm' },
      },
    ])
  })

  test('starts a new part after a signature', () => {
    const { parts } = read(
      event([{ text: 'a', thoughtSignature: 'QUJD' }]),
      event([{ text: 'b' }], stop),
    )
    expect(parts.map(part => (part.type === 'text' ? part.text : part))).toEqual(['a', 'b'])
  })

  test('decodes a complete call, and stops for it', () => {
    const { parts, response } = read(
      event([{ functionCall: { name: 'look', args: { a: 1 }, id: 'x1' } }]),
      event([{ text: '' }], stop),
    )
    expect(parts).toMatchObject([{ type: 'tool-call', id: 'x1', name: 'look', input: '{"a":1}' }])
    expect(response.candidates[0]?.finish?.reason).toBe('tool_calls')
  })

  test('creates distinct, stable ids for calls without one', () => {
    const two = () =>
      read(
        event([{ functionCall: { name: 'look' } }, { functionCall: { name: 'look' } }], stop),
      ).parts.map(part => part.type === 'tool-call' && part.id)
    expect(new Set(two()).size).toBe(2)
    expect(two()).toEqual(two())
  })

  test('joins argument chunks into one object', () => {
    const chunk = (jsonPath: string, value: object) =>
      event([{ functionCall: { partialArgs: [{ jsonPath, ...value }], willContinue: true } }])
    const { parts, notes } = read(
      event([{ functionCall: { name: 'write', willContinue: true }, thoughtSignature: 'QUJD' }]),
      chunk('$.items[0].name', { stringValue: 'ap', willContinue: true }),
      chunk('$.items[0].name', { stringValue: 'ple' }),
      chunk('$.items[0].price', { numberValue: 0.5 }),
      chunk("$.items[1]['a b']", { boolValue: true }),
      chunk('$.none', { nullValue: 'NULL_VALUE' }),
      event([{ functionCall: {} }]),
      event([{ text: '' }], stop),
    )
    expect(parts).toMatchObject([
      {
        type: 'tool-call',
        name: 'write',
        input: '{"items":[{"name":"apple","price":0.5},{"a b":true}],"none":null}',
        signature: { value: 'QUJD' },
      },
    ])
    expect(notes).toEqual([])
  })

  test('a call in chunks ends with the response where its end is missing, and a cut leaves it open', () => {
    const begun = [
      event([{ functionCall: { name: 'look', willContinue: true } }]),
      event([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.a', stringValue: 'b' }],
            willContinue: true,
          },
        },
      ]),
    ]
    expect(read(...begun, event([{ text: '' }], stop)).parts).toMatchObject([
      { input: '{"a":"b"}' },
    ])
    const { clean, events } = read(...begun)
    expect(clean).toBe(false)
    expect(events.some(({ type }) => type === 'part.end')).toBe(false)
  })

  test('changes no prototype through keys of arguments', () => {
    const { parts } = read(
      event(
        [
          {
            functionCall: {
              name: 'look',
              partialArgs: [{ jsonPath: '$.__proto__.polluted', stringValue: 'x' }],
            },
          },
        ],
        stop,
      ),
    )
    expect(parts).toMatchObject([{ input: '{"__proto__":{"polluted":"x"}}' }])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  test('metadata may come behind the finish reason, and cites the text that is open', () => {
    const grounding = {
      groundingChunks: [{ web: { uri: 'u', title: 't' } }],
      groundingSupports: [{ segment: { endIndex: 3 }, groundingChunkIndices: [0] }],
    }
    const { parts, clean } = read(
      event([{ text: 'yes' }], stop),
      event([], { groundingMetadata: grounding }),
    )
    expect(parts).toMatchObject([
      { text: 'yes', citations: [{ kind: 'url', url: 'u', start: 0, end: 3 }] },
    ])
    expect(clean).toBe(true)
  })

  test('numbers sources across chunks', () => {
    const grounding = (uri: string, index: number) => ({
      groundingMetadata: {
        groundingChunks: [{ web: { uri } }],
        groundingSupports: [{ segment: { endIndex: 1 }, groundingChunkIndices: [index] }],
      },
    })
    const { parts } = read(
      event([{ text: 'y' }], grounding('a', 0)),
      event([{ text: '' }], { ...grounding('b', 1), ...stop }),
    )
    expect(parts).toMatchObject([{ citations: [{ url: 'a' }, { url: 'b' }] }])
  })

  test.each<[what: string, wires: unknown[], clean: boolean]>([
    ['a stream without a finish reason', [event([{ text: 'a' }])], false],
    ['a stream with one', [event([{ text: 'a' }], stop)], true],
    [
      'one that sends it with every event',
      [event([{ text: 'a' }], stop), event([{ text: 'b' }], stop)],
      true,
    ],
    ['a prompt that was blocked', [{ promptFeedback: { blockReason: 'SAFETY' } }], true],
    ['nothing at all', [], false],
    ['counts alone', [{ usageMetadata: { promptTokenCount: 1 } }], false],
    ['a mark of the end that is no event', [event([{ text: 'a' }], stop), '[DONE]'], true],
    [
      'one of two candidates that has not ended',
      [
        event([{ text: 'a' }], stop),
        { candidates: [{ index: 1, content: { parts: [{ text: 'b' }] } }] },
      ],
      false,
    ],
  ])('reports whether %s is clean', (_, wires, clean) => {
    expect(read(...wires).clean).toBe(clean)
  })

  test('ends at an error', () => {
    const { response, clean } = read(
      event([{ text: 'a' }]),
      { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } },
      event([{ text: 'b' }], stop),
    )
    expect(response.error).toMatchObject({ status: 503, message: 'Overloaded' })
    expect(clean).toBe(false)
  })

  test('several candidates are distinguished by their index', () => {
    const { response } = read({
      candidates: [
        { index: 0, content: { parts: [{ text: 'a' }] }, ...stop },
        { index: 1, content: { parts: [{ text: 'b' }] }, ...stop },
      ],
    })
    expect(
      response.candidates.map(({ index, messages }) => [
        index,
        messages[0]?.parts.map(part => part.type === 'text' && part.text),
      ]),
    ).toEqual([
      [0, ['a']],
      [1, ['b']],
    ])
  })

  test('decodes snake_case alike', () => {
    const { parts, clean, response } = read({
      candidates: [
        {
          content: {
            parts: [{ text: 'a' }, { function_call: { name: 'look', args: { a_b: 1 } } }],
          },
          finish_reason: 'STOP',
        },
      ],
      usage_metadata: { prompt_token_count: 3 },
      model_version: 'm',
    })
    expect(parts).toMatchObject([{ text: 'a' }, { name: 'look', input: '{"a_b":1}' }])
    expect([clean, response.model, response.usage?.input]).toEqual([true, 'm', 3])
  })

  test('emits counts at the start and at the end', () => {
    const counts = (candidatesTokenCount: number) => ({
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount },
    })
    const { events, response } = read(
      event([{ text: 'a' }], {}, counts(1)),
      event([{ text: 'b' }], {}, counts(2)),
      event([{ text: 'c' }], stop, counts(5)),
    )
    expect(events.filter(({ type }) => type === 'usage').length).toBe(2)
    expect(response.usage).toMatchObject({ input: 3, output: 5 })
  })
})

describe('dialects of servers', () => {
  test('recognizes snake_case by any key of a part', () => {
    const { parts } = read(
      {
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { text: 'a' },
                { function_call: { name: 'look', args: { a_b: 1 } }, thought_signature: 'QUJD' },
              ],
            },
          },
        ],
      },
      {
        candidates: [
          {
            content: { parts: [{ inline_data: { mime_type: 'image/png', data: 'iVBORw0=' } }] },
            finishReason: 'STOP',
          },
        ],
      },
    )
    expect(parts).toMatchObject([
      { type: 'text', text: 'a' },
      { type: 'tool-call', name: 'look', input: '{"a_b":1}', signature: { value: 'QUJD' } },
      { type: 'media', source: { mime: 'image/png' } },
    ])
  })

  test('recognizes snake_case at any depth', () => {
    const { response } = read({
      ...event([{ text: 'a' }], stop),
      usageMetadata: { prompt_token_count: 3, candidates_token_count: 2 },
    })
    expect(response.usage).toMatchObject({ input: 3, output: 2 })
  })

  test('ends at a block in the middle of a response', () => {
    const { response, clean, parts } = read(event([{ text: 'a' }]), {
      promptFeedback: { blockReason: 'PROHIBITED_CONTENT', blockReasonMessage: 'no' },
    })
    expect({
      clean,
      parts,
      finish: response.candidates[0]?.finish?.reason,
      blocked: response.promptBlocked?.message,
    }).toEqual({
      clean: true,
      parts: [{ type: 'text', text: 'a' }],
      finish: 'content_filter',
      blocked: 'no',
    })
  })

  test.each([
    [['MAX_TOKENS', 'STOP'], 'MAX_TOKENS'],
    [['SAFETY', 'FINISH_REASON_UNSPECIFIED'], 'SAFETY'],
    [['STOP', 'MAX_TOKENS'], 'MAX_TOKENS'],
    [['STOP', 'MALFORMED_FUNCTION_CALL'], 'MALFORMED_FUNCTION_CALL'],
    [['FINISH_REASON_UNSPECIFIED', 'STOP'], 'STOP'],
    [['CONTINUATION', 'STOP'], 'STOP'],
  ])('of the finish reasons %j uses %s', (words, raw) => {
    const { response, clean } = read(
      event([{ text: 'a' }]),
      ...words.map(finishReason => event([{ text: '' }], { finishReason })),
    )
    expect({ clean, raw: response.candidates[0]?.finish?.raw }).toEqual({ clean: true, raw })
  })

  test.each<[string, object, object]>([
    [
      'an error with its number as a text',
      { error: { code: '503', message: 'full', status: 'UNAVAILABLE' } },
      { status: 503, message: 'full' },
    ],
    ['an error in one word', { error: 'full' }, { status: 500, message: 'full' }],
    [
      'an error in the list that a stream without frames is',
      [{ error: { code: 429, message: 'full', status: 'RESOURCE_EXHAUSTED' } }],
      { status: 429 },
    ],
    [
      'an error behind the finish reason',
      { error: { code: 500, message: 'late', status: 'INTERNAL' } },
      { message: 'late' },
    ],
  ])('%s fails the stream', (_, wire, error) => {
    const { response, clean } = read(event([{ text: 'a' }], stop), wire)
    expect(clean).toBe(false)
    expect(response.error).toMatchObject(error)
  })

  test('a response may be in no content at all, in one without parts, and be complete', () => {
    expect(read({ candidates: [{ finishReason: 'SAFETY' }] })).toMatchObject({
      clean: true,
      parts: [],
    })
    expect(
      read(
        { candidates: null },
        { candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] },
      ),
    ).toMatchObject({ clean: true, parts: [] })
  })

  test('does not end at an intermediate checkpoint', () => {
    expect(read(event([{ text: 'a' }], { continuationToken: 'dG9r' })).clean).toBe(false)
    const { response } = read(
      event([{ text: 'a' }], { continuationToken: 'dG9r' }),
      event([{ text: '' }], { finishReason: 'CONTINUATION', continuationToken: 'dG9s' }),
    )
    expect(response.candidates[0]).toMatchObject({
      finish: { reason: 'pause' },
      ext: { 'generate-content': { fields: { continuationToken: 'dG9s' } } },
    })
  })

  test('candidates without an index are distinguished by their position', () => {
    const two = (...more: object[]) => ({ candidates: more })
    const { response } = read(
      two({ content: { parts: [{ text: 'a' }] } }, { content: { parts: [{ text: 'b' }] } }),
      two(
        { content: { parts: [{ text: 'a' }] }, ...stop },
        { content: { parts: [{ text: 'b' }] }, ...stop },
      ),
    )
    expect(
      response.candidates.map(({ messages }) =>
        messages[0]?.parts.map(part => part.type === 'text' && part.text),
      ),
    ).toEqual([['aa'], ['bb']])
  })
})

describe('encoding a stream', () => {
  const write = (parts: Part[], more: object = {}) => {
    const events = explode({
      id: 'r1',
      model: 'm',
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant', origin: 'message', parts }],
          finish: { reason: 'stop' },
        },
      ],
      ...more,
    })
    const { wires, notes, text } = encodeStream(generateContent, events)
    expect(strict.checkStream(wires)).toEqual([])
    return {
      wires: wires as { candidates: { content: { parts: object[] }; finishReason?: string }[] }[],
      notes,
      text,
    }
  }
  const partsOf = ({ wires }: ReturnType<typeof write>) =>
    wires.map(({ candidates }) => candidates[0]?.content.parts)

  test('writes neither event names nor an end marker', () => {
    const { text } = write([{ type: 'text', text: 'a' }])
    expect(text).toMatch(/^(data: \{[^\r\n]*\}\r\n\r\n){2}$/)
  })

  test('an empty name of the model and an empty id are left out', () => {
    const { wires } = write([{ type: 'text', text: 'a' }], { id: '', model: '' })
    expect(Object.keys(wires[0] ?? {})).toEqual(['candidates'])
  })

  test('writes counts and a part into the last event', () => {
    const { wires } = write([{ type: 'text', text: 'a' }], { usage: { input: 3, output: 2 } })
    expect(wires.at(-1)).toEqual({
      candidates: [
        { index: 0, content: { role: 'model', parts: [{ text: '' }] }, finishReason: 'STOP' },
      ],
      usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 2, totalTokenCount: 5 },
      modelVersion: 'm',
      responseId: 'r1',
    })
  })

  test('a call is written whole, with its signature', () => {
    const signature = { value: 'QUJD', issuer: 'generate-content' }
    expect(
      partsOf(
        write([
          {
            type: 'tool-call',
            id: 'x1',
            name: 'look',
            kind: 'function',
            input: '{"a":1}',
            signature,
          },
        ]),
      ),
    ).toEqual([
      [{ functionCall: { name: 'look', args: { a: 1 }, id: 'x1' }, thoughtSignature: 'QUJD' }],
      [{ text: '' }],
    ])
  })

  test('a signature of a text is on the part that ends the response', () => {
    expect(
      partsOf(
        write([
          { type: 'text', text: 'a', signature: { value: 'QUJD', issuer: 'generate-content' } },
        ]),
      ),
    ).toEqual([[{ text: 'a' }], [{ text: '', thoughtSignature: 'QUJD' }]])
  })

  test('writes a signature of a text before the next part', () => {
    const parts = partsOf(
      write([
        { type: 'text', text: 'a', signature: { value: 'QUJD', issuer: 'generate-content' } },
        { type: 'text', text: 'b' },
      ]),
    )
    expect(parts).toEqual([
      [{ text: 'a' }],
      [{ text: '', thoughtSignature: 'QUJD' }],
      [{ text: 'b' }],
      [{ text: '' }],
    ])
  })

  test('does not separate a text from its sources by empty parts', () => {
    const { wires } = write([
      {
        type: 'text',
        text: 'a',
        citations: [
          { kind: 'url', url: 'https://one.test', protocol: 'chat-completions', raw: {} },
        ],
      },
      { type: 'reasoning', segments: [] },
    ])
    expect(wires).toMatchObject([
      {},
      {
        candidates: [
          {
            finishReason: 'STOP',
            groundingMetadata: { groundingChunks: [{ web: { uri: 'https://one.test' } }] },
          },
        ],
      },
    ])
  })

  test('parts that come at once are written one after the other', () => {
    const at = (part: number, text: string): CanonicalEvent => ({
      type: 'part.delta',
      candidate: 0,
      part,
      delta: { kind: 'text', text },
    })
    const head: Part = { type: 'text', text: '' }
    const { wires } = encodeStream(generateContent, [
      { type: 'start', model: 'm' },
      { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
      { type: 'part.start', candidate: 0, message: 0, part: 0, head },
      { type: 'part.start', candidate: 0, message: 0, part: 1, head },
      at(1, 'b'),
      at(0, 'a'),
      { type: 'part.end', candidate: 0, part: 1 },
      { type: 'part.end', candidate: 0, part: 0 },
      { type: 'message.end', candidate: 0, message: 0 },
      { type: 'finish', candidate: 0, finish: { reason: 'stop' } },
      { type: 'end', clean: true },
    ])
    expect(
      collect(run<unknown, CanonicalEvent>(generateContent.streamDecoder, wires).out).response
        .candidates[0]?.messages[0]?.parts,
    ).toMatchObject([{ text: 'a' }, { text: 'b' }])
  })

  test('writes citations after the text of a refusal', () => {
    const citations: Citation[] = [
      { kind: 'url', url: 'https://example.org', start: 0, end: 1, protocol: 'messages', raw: {} },
    ]
    const { wires } = write([
      { type: 'refusal', text: 'no' },
      { type: 'text', text: 'über', citations },
    ])
    expect(
      wires.flatMap(({ candidates: [candidate] }) =>
        candidate && 'groundingMetadata' in candidate ? [candidate.groundingMetadata] : [],
      ),
    ).toMatchObject([
      {
        groundingSupports: [
          { segment: { startIndex: 2, endIndex: 4, text: 'ü' }, groundingChunkIndices: [0] },
        ],
      },
    ])
  })

  test('all candidates end at once, so that a cut is seen', () => {
    const one = (index: number) => ({
      index,
      messages: [{ role: 'assistant' as const, origin: 'message' as const, parts: [] }],
      finish: { reason: 'stop' as const },
    })
    const { wires } = write([], { candidates: [one(0), one(1)] })
    expect(wires.at(-1)?.candidates.map(({ finishReason }) => finishReason)).toEqual([
      'STOP',
      'STOP',
    ])
  })

  test.each<[what: string, options: object, last: object]>([
    ['fails', {}, { error: { code: 502 } }],
    [
      'ends as length, as requested',
      { truncated: 'length' },
      { candidates: [{ finishReason: 'MAX_TOKENS' }] },
    ],
  ])('reports a cut-off stream: %s', (_, options, last) => {
    const { wires } = encodeStream(
      generateContent,
      [
        { type: 'start', model: 'm' },
        { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
        {
          type: 'part.start',
          candidate: 0,
          message: 0,
          part: 0,
          head: { type: 'text', text: 'a' },
        },
        { type: 'end', clean: false },
      ],
      options,
    )
    expect(wires.at(-1)).toMatchObject(last)
  })
})

const grounded = {
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [
          { text: 'hm', thought: true },
          { text: 'Zürich 🙂', thoughtSignature: 'QUJD' },
        ],
      },
      finishReason: 'STOP',
      safetyRatings: [{ category: 'HARM_CATEGORY_HARASSMENT', probability: 'NEGLIGIBLE' }],
      avgLogprobs: -0.5,
      logprobsResult: {
        chosenCandidates: [{ token: 'Z', logProbability: -0.5, tokenId: 7 }],
        logProbabilitySum: -0.5,
      },
      groundingMetadata: {
        webSearchQueries: ['q'],
        groundingChunks: [{ web: { uri: 'u', title: 't' } }],
        groundingSupports: [
          {
            segment: { endIndex: 7, text: 'Zürich' },
            groundingChunkIndices: [0],
            confidenceScores: [0.9],
          },
        ],
      },
    },
  ],
  usageMetadata: {
    promptTokenCount: 3,
    candidatesTokenCount: 2,
    thoughtsTokenCount: 1,
    totalTokenCount: 6,
    serviceTier: 'standard',
  },
  modelVersion: 'm',
  responseId: 'r1',
}

test('restores a complete response from its stream', async () => {
  const { body, notes } = await collectStream(
    [explodeResponse(grounded, generateContent, {}).text],
    generateContent,
    {},
  )
  expect(body).toEqual(grounded)
  expect(notes).toEqual([])
})

/** Citations of a response of this protocol, sent as a stream and collected again. */
describe('sources are written once, with their text', () => {
  const web = (uri: string) => ({ web: { uri, title: uri } })
  const support = (partIndex: number, chunk: number) => ({
    segment: { partIndex, endIndex: 1, text: 'a' },
    groundingChunkIndices: [chunk],
  })
  const grounded = (parts: object[], groundingSupports: object[]) =>
    generateContent.decodeResponse({
      candidates: [
        {
          index: 0,
          content: { role: 'model', parts },
          finishReason: 'STOP',
          groundingMetadata: {
            webSearchQueries: ['q'],
            groundingChunks: [web('https://one.test'), web('https://two.test')],
            groundingSupports,
          },
        },
      ],
      modelVersion: 'm',
      responseId: 'r1',
    }).value
  const call = { functionCall: { id: 'x1', name: 'look', args: {} } }

  test.each<[what: string, parts: object[], cited: string[][]]>([
    [
      'between two texts is a call',
      [{ text: 'a' }, call, { text: 'a' }],
      [['https://one.test'], ['https://two.test']],
    ],
    [
      'a part that says nothing follows the text',
      [{ text: 'a' }, { text: '', thought: true }, call, { text: 'a' }],
      [['https://one.test'], ['https://two.test']],
    ],
  ])('%s', (_, parts, cited) => {
    const response = grounded(parts, [support(0, 0), support(parts.length - 1, 1)])
    const { wires } = encodeStream(generateContent, explode(response))
    const reported = wires.flatMap(
      wire =>
        (wire as { candidates: { groundingMetadata?: { groundingChunks?: object[] } }[] })
          .candidates,
    )
    expect(
      reported.flatMap(({ groundingMetadata }) => groundingMetadata?.groundingChunks ?? []),
    ).toEqual([web('https://one.test'), web('https://two.test')])
    expect(
      read(...wires).parts.flatMap(part =>
        part.type === 'text' && part.text ? [part.citations?.map(({ url }) => url)] : [],
      ),
    ).toEqual(cited)
  })
})

describe('consecutive texts and reasoning', () => {
  const written = (parts: Part[]) =>
    encodeStream(
      generateContent,
      explode({
        id: 'r1',
        model: 'm',
        candidates: [
          {
            index: 0,
            messages: [{ role: 'assistant', origin: 'message', parts }],
            finish: { reason: 'stop' },
          },
        ],
      }),
    )
  const thought = (...texts: string[]): Part => ({
    type: 'reasoning',
    segments: texts.map(text => ({ kind: 'summary', text })),
  })
  const text = (message: string): Part => ({ type: 'text', text: message })

  test.each<[string, Part[]]>([
    ['two texts', [text('a'), text('b')]],
    [
      'a text after one with a signature',
      [
        {
          type: 'text',
          text: 'a',
          signature: { value: 'QUJD', issuer: 'generate-content', form: 'thought', model: 'm' },
        },
        text('b'),
      ],
    ],
    ['two parts of reasoning', [thought('a'), thought('b')]],
    ['segments of a thought', [thought('a', 'b'), text('c')]],
    ['segments of two parts', [thought('a', 'b'), thought('c', 'd')]],
    [
      'segments of a thought with a signature from elsewhere',
      [{ ...thought('a', 'b'), signature: { value: 'p', issuer: 'elsewhere' } }, thought('c')],
    ],
  ])('%s', (_, parts) => {
    const { wires, notes } = written(parts)
    expect(notes).toEqual([])
    expect(strict.checkStream(wires)).toEqual([])
    expect(read(...wires).parts).toEqual(parts)
  })

  test('an empty text before another begins a new one, and one alone is nothing', () => {
    const texts = (...chunks: object[][]) =>
      read(...chunks.map(chunk => event(chunk)), event([{ text: '' }], stop)).parts.map(
        part => part.type === 'text' && part.text,
      )
    expect(texts([{ text: 'a' }], [{ text: '' }, { text: 'b' }])).toEqual(['a', 'b'])
    expect(texts([{ text: 'a' }], [{ text: '' }], [{ text: 'b' }])).toEqual(['ab'])
    expect(texts([{ text: '' }, { text: 'a' }], [{ text: 'b' }])).toEqual(['ab'])
    expect(texts([{ text: 'a' }, { text: 'b' }])).toEqual(['ab'])
  })
})

test('a synthesized media type is noted at its path in its event', () => {
  const parts: Part[] = [{ type: 'media', kind: 'audio', source: { type: 'base64', data: 'AAAA' } }]
  const { wires, notes } = encodeStream(
    generateContent,
    explode({
      id: 'r1',
      model: 'm',
      candidates: [
        {
          index: 0,
          messages: [{ role: 'assistant', origin: 'message', parts }],
          finish: { reason: 'stop' },
        },
      ],
    }),
  )
  expect(wires[0]).toMatchObject({
    candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/wav' } }] } }],
  })
  expect(notes.map(({ code, path }) => [code, path])).toEqual([
    ['media.mime', '/candidates/0/content/parts/0/inlineData/mimeType'],
  ])
})

test('every event has the same model, even if another one comes later', () => {
  const events: CanonicalEvent[] = [
    { type: 'start', id: 'r1' },
    { type: 'message.start', candidate: 0, message: 0, role: 'assistant' },
    { type: 'part.start', candidate: 0, message: 0, part: 0, head: { type: 'text', text: 'a' } },
    { type: 'start', id: 'r2', model: 'm' },
    { type: 'part.end', candidate: 0, part: 0 },
    { type: 'message.end', candidate: 0, message: 0 },
    { type: 'finish', candidate: 0, finish: { reason: 'stop' } },
    { type: 'end', clean: true },
  ]
  expect(
    encodeStream(generateContent, events).wires.map(wire => [
      (wire as { responseId?: string }).responseId,
      'modelVersion' in (wire as object),
    ]),
  ).toEqual([
    ['r1', false],
    ['r1', false],
  ])
})

test('unknown fields that come one after the other are all in the last event', () => {
  const event = (more: object) => ({
    candidates: [
      { content: { role: 'model', parts: [{ text: 'a' }] }, finishReason: 'STOP', index: 0 },
    ],
    ...more,
  })
  const status = { modelStage: 'LEGACY' }
  const events = run(generateContent.streamDecoder, [
    event({ modelStatus: status }),
    event({ trailer: 'x' }),
  ]).out
  expect(encodeStream(generateContent, events).wires.at(-1)).toMatchObject({
    modelStatus: status,
    trailer: 'x',
  })
})

test('notes on what a folded stream loses lead to the names that this protocol has for it', async () => {
  const parts = [{ inlineData: { mimeType: 'image/png', data: 'QQ==', displayName: 'a' } }]
  const frame = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    modelVersion: 'm',
    responseId: 'r',
  }
  const { notes } = await collectStream([generateContent.frames.write(frame)], generateContent, {})
  expect(notes.map(({ path }) => path)).toEqual([
    '/candidates/0/content/parts/0/inlineData/displayName',
  ])
})

test.each(['chat-completions', 'messages', 'responses'] as const)(
  'the only requested candidate is the first one in a stream, whatever its index, for %s',
  to => {
    const chunk = (index: number, text: string, more = {}) => ({
      candidates: [{ index, content: { role: 'model', parts: [{ text }] }, ...more }],
    })
    const received = (candidateCount?: number) => {
      const request = { messages: [], ...(candidateCount !== undefined && { candidateCount }) }
      const translator = createStreamTranslator({
        from: 'generate-content',
        to,
        context: { from: to, to: 'generate-content', request },
      })
      const wires = [
        chunk(1, 'Good '),
        chunk(1, 'morning.'),
        chunk(1, '', { finishReason: 'STOP' }),
      ]
      const text =
        wires.map(wire => translator.push(`data: ${JSON.stringify(wire)}\n\n`)).join('') +
        translator.end()
      return {
        finished: translator.finished,
        isComplete: text.includes('Good ') && text.includes('morning.'),
        isFirst: text.includes('"index":0'),
      }
    }
    expect(received()).toMatchObject({ finished: true, isComplete: true })
    if (to === 'chat-completions')
      expect([received().isFirst, received(2).isFirst]).toEqual([true, false])
  },
)

describe('an error without `data:`, as Google sends it in mid-stream', () => {
  const error = { error: { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' } }
  const frame = (wire: unknown) => `data: ${JSON.stringify(wire)}\r\n\r\n`
  const spelled = [
    JSON.stringify(error),
    `${JSON.stringify(error, null, 2)}\n`,
    `${JSON.stringify(error, null, 2).replaceAll('\n', '\r\n')}\r\n\r\n`,
  ]

  test.each(['chat-completions', 'responses', 'messages', 'generate-content'] as const)(
    'fails the stream toward %s, also after a finish reason',
    to => {
      for (const more of [{}, stop])
        for (const bare of spelled) {
          const translator = createStreamTranslator({ from: 'generate-content', to })
          const out =
            translator.push(frame(event([{ text: 'half' }], more)) + bare) + translator.end()
          expect(translator.finished).toBe(false)
          expect(translator.error).toMatchObject({ status: 503, message: error.error.message })
          expect(out).toMatch(/data: .*The model is overloaded/)
        }
    },
  )

  test('reaches clients of the same protocol in a frame that they read', () => {
    for (const bare of spelled)
      for (const model of [undefined, 'other']) {
        const translator = createStreamTranslator({
          from: 'generate-content',
          to: 'generate-content',
          ...(model && { model }),
        })
        const out =
          translator.push(frame(event([{ text: 'half' }], stop)) + bare) + translator.end()
        expect(out.trim().split(/\r?\n/).at(-1)).toBe(`data: ${JSON.stringify(error)}`)
      }
  })

  test('gives a failed response a code of the list that the OpenAI SDK knows', () => {
    const translator = createStreamTranslator({ from: 'generate-content', to: 'responses' })
    const out =
      translator.push(
        frame(event([{ text: 'half' }])) +
          JSON.stringify({ error: { code: 500, message: 'boom', status: 'INTERNAL' } }),
      ) + translator.end()
    expect(out).toContain('"error":{"code":"server_error","message":"boom"}')
  })
})
