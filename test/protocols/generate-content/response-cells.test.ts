import { describe, expect, test } from 'vitest'
import { type ProtocolName, translateResponse } from '../../../src/index.ts'

/** `written`: what of the other body has to be so. */
type Row = [
  cell: string,
  way: `${ProtocolName} → ${ProtocolName}`,
  given: object,
  written: object,
  notes: string[],
]

const reported = (way: Row[1], body: object) => {
  const [from, to] = way.split(' → ') as [ProtocolName, ProtocolName]
  const { body: written, notes } = translateResponse(body, { from, to, onUnresolvable: 'note' })
  return {
    written,
    notes: notes
      .filter(({ kind }) => kind !== 'synthesized')
      .map(({ code, path }) => `${code} ${path}`),
  }
}
const holds = ([, way, given, expected, notes]: Row) => {
  const { written, notes: made } = reported(way, given)
  expect(written).toMatchObject(expected)
  expect(made).toEqual(notes)
}

const says = (...parts: object[]) => ({
  responseId: 'r',
  modelVersion: 'm',
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }],
})
const part = '/candidates/0/content/parts/0'
const responses = (message: object) => ({
  id: 'c',
  object: 'chat.completion',
  created: 0,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
})

describe('media of a response', () => {
  test.each<Row>([
    [
      'audio has no type',
      'generate-content → chat-completions',
      says({ inlineData: { mimeType: 'audio/wav', data: 'QQ==' } }),
      { choices: [{ message: { audio: { data: 'QQ==' } } }] },
      [`audio.type ${part}/inlineData/mimeType`],
    ],
    [
      'audio that only its provider can look up is dropped',
      'generate-content → chat-completions',
      says({ fileData: { fileUri: 'gs://bucket/a.wav', mimeType: 'audio/wav' } }),
      { choices: [{ message: { content: null } }] },
      [`part.unsupported ${part}`],
    ],
    [
      'the id of audio is valid for its own provider only',
      'chat-completions → generate-content',
      responses({
        content: null,
        audio: { id: 'audio_1', data: 'QQ==', expires_at: 5, transcript: 'hi' },
      }),
      {
        candidates: [
          { content: { parts: [{ inlineData: { mimeType: 'audio/wav', data: 'QQ==' } }] } },
        ],
      },
      [
        'field.unsupported /choices/0/message/audio/id',
        'field.unsupported /choices/0/message/audio/transcript',
        'field.unsupported /choices/0/message/audio/expires_at',
      ],
    ],
    [
      'a dropped image takes its signature with it',
      'generate-content → messages',
      says(
        { inlineData: { mimeType: 'image/png', data: 'QQ==' }, thoughtSignature: 'QQ==' },
        { text: 'there' },
      ),
      { content: [{ type: 'text', text: 'there' }] },
      [`media.unsupported ${part}`],
    ],
    [
      'the name of a file stays at its path',
      'generate-content → responses',
      says({ text: 'a' }, { fileData: { fileUri: 'https://example.org/a.png', displayName: 'A' } }),
      {},
      ['media.unsupported /candidates/0/content/parts/1'],
    ],
  ])('%s', (...row) => holds(row))
})

describe('the finish reason of a response', () => {
  test.each<Row>([
    [
      'SAFETY without content is a refusal',
      'generate-content → responses',
      { ...says(), candidates: [{ finishReason: 'SAFETY' }] },
      {
        status: 'completed',
        incomplete_details: null,
        output: [{ content: [{ type: 'refusal' }] }],
      },
      ['finish.approximated /candidates/0/finishReason'],
    ],
    [
      'SAFETY behind a text cuts it off',
      'generate-content → responses',
      {
        ...says(),
        candidates: [
          { finishReason: 'SAFETY', content: { role: 'model', parts: [{ text: 'Well' }] } },
        ],
      },
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      [],
    ],
    [
      'a more special word does',
      'generate-content → responses',
      { ...says(), candidates: [{ finishReason: 'SPII' }] },
      { status: 'completed', output: [{ content: [{ type: 'refusal' }] }] },
      ['finish.approximated /candidates/0/finishReason'],
    ],
    [
      'a call by an empty name gets one, and is noted',
      'messages → generate-content',
      {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'tool_use', id: 't', name: '', input: {} }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 1 },
      },
      { candidates: [{ finishReason: 'STOP' }] },
      ['tool-call.empty-name /content/0', 'finish.approximated /stop_reason'],
    ],
  ])('%s', (...row) => holds(row))
})

describe('logprobs and counts', () => {
  const logprobs = (one: object) => ({
    ...says({ text: 'a' }),
    candidates: [
      {
        ...says({ text: 'a' }).candidates[0],
        logprobsResult: {
          chosenCandidates: [{ token: 'a', logProbability: -1 }],
          topCandidates: [{ candidates: [{ token: 'a', logProbability: -1, ...one }] }],
        },
      },
    ],
  })
  test.each<Row>([
    [
      'a token id that is null is none',
      'generate-content → chat-completions',
      logprobs({ tokenId: null }),
      {},
      [],
    ],
    [
      'a token id has no place elsewhere, and only it',
      'generate-content → chat-completions',
      logprobs({ tokenId: 7 }),
      { choices: [{ logprobs: { content: [{ top_logprobs: [{ token: 'a', logprob: -1 }] }] } }] },
      ['field.unknown /candidates/0/logprobsResult/topCandidates/0/candidates/0/tokenId'],
    ],
    [
      'the bytes of a token are those of its text',
      'generate-content → chat-completions',
      logprobs({ token: 'é' }),
      {
        choices: [
          {
            logprobs: {
              content: [{ bytes: [97], top_logprobs: [{ token: 'é', bytes: [195, 169] }] }],
            },
          },
        ],
      },
      [],
    ],
    [
      'more reasoning than output: the output grows',
      'messages → generate-content',
      {
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [{ type: 'text', text: 'a' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 1, output_tokens: 2, output_tokens_details: { thinking_tokens: 5 } },
      },
      { usageMetadata: { candidatesTokenCount: 0, thoughtsTokenCount: 5 } },
      ['usage.overlap /usage/output_tokens'],
    ],
  ])('%s', (...row) => holds(row))
})

test('citations of a result have no place, at any path, and are no source of the response', () => {
  const cited = {
    type: 'output_text',
    text: 'hello',
    annotations: [
      { type: 'url_citation', url: 'https://a.test', title: 'a', start_index: 0, end_index: 2 },
    ],
  }
  const body = {
    id: 'r',
    object: 'response',
    status: 'completed',
    model: 'm',
    output: [{ type: 'function_call_output', call_id: 'c', output: [cited] }],
  }
  const { written, notes } = reported('responses → generate-content', body)
  expect(written).toMatchObject({
    candidates: [
      { content: { parts: [{ functionResponse: { id: 'c', response: { output: 'hello' } } }] } },
    ],
  })
  expect(JSON.stringify(written)).not.toContain('a.test')
  expect(notes).toEqual(['citation.unsupported /output/0/output/0/annotations'])
})

test('keeps the id of reasoning that returns to its provider', () => {
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 0,
    model: 'm',
    status: 'completed',
    output: [{ type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'x' }],
  }
  const { written } = reported(
    'generate-content → responses',
    reported('responses → generate-content', response).written as object,
  )
  expect(written).toMatchObject({
    output: [{ type: 'reasoning', id: 'rs_1', encrypted_content: 'x' }],
  })
})
