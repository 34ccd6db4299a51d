import { describe, expect, test } from 'vitest'
import { explode } from '../../../src/canonical/explode.ts'
import { protocols } from '../../../src/protocols/index.ts'
import { encodeStream } from '../../../src/testing/streams.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'

const { responses, messages, 'chat-completions': chat, 'generate-content': generate } = protocols

const token = {
  token: 'hi',
  logprob: -0.5,
  bytes: [104, 105],
  top_logprobs: [{ token: 'ho', logprob: -1, bytes: [104, 111], rank: 2 }],
  x_id: 7,
}
const content = [{ type: 'output_text', text: 'hi', annotations: [], logprobs: [token] }]
const whole = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  model: 'm',
  status: 'completed',
  output: [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }],
}

describe('unknown keys of a token', () => {
  test('are restored within the protocol, also when the text next to them was changed', () => {
    const { value } = responses.decodeResponse(whole)
    expect(responses.encodeResponse(value)).toMatchObject({ wire: whole, notes: [] })
    const { wire } = responses.encodeResponse({
      ...value,
      candidates: structuredClone(value.candidates),
    })
    expect(wire).toMatchObject(whole)
  })

  test.each([chat, messages, generate])(
    'are noted for $name, once for each key',
    ({ encodeResponse }) => {
      const { value } = responses.decodeResponse(whole)
      const reported = encodeResponse(value, { fieldNames: responses.fieldNames }).notes.filter(
        ({ path }) => path.includes('/logprobs'),
      )
      const at = '/output/0/content/0/logprobs'
      if (encodeResponse === messages.encodeResponse)
        expect(reported.map(({ path }) => path)).toEqual([at])
      else
        expect(reported.map(({ path }) => path).sort()).toEqual(
          expect.arrayContaining([`${at}/0/top_logprobs/0/rank`, `${at}/0/x_id`]),
        )
    },
  )
})

test('a response that ends in calls and has only an image has a call, complete and streamed', () => {
  const output = [
    { type: 'image_generation_call', id: 'ig_1', result: 'aGk=', status: 'completed' },
  ]
  const { value } = responses.decodeResponse({ ...whole, output })
  const [candidate] = value.candidates
  const calls = {
    ...value,
    candidates: candidate ? [{ ...candidate, finish: { reason: 'tool_calls' as const } }] : [],
  }
  const reported = responses.encodeResponse(calls).notes.map(({ code }) => code)
  expect(encodeStream(responses, explode(calls)).notes.map(({ code }) => code)).toEqual(reported)
})

test.each([chat, messages, generate])(
  'drops the response that a cache is compared with for $name',
  ({ encodeRequest }) => {
    const wire = {
      model: 'm',
      input: 'hi',
      prompt_cache_options: { mode: 'implicit', comparison_response_id: 'resp_1' },
    }
    const { value } = responses.decodeRequest(wire)
    expect(responses.encodeRequest(value)).toMatchObject({ wire, notes: [] })
    const reported = encodeRequest(value, { fieldNames: responses.fieldNames }).notes.filter(
      ({ path }) => path.endsWith('/comparison_response_id'),
    )
    expect(reported).toMatchObject([
      { code: 'field.unsupported', path: '/prompt_cache_options/comparison_response_id' },
    ])
  },
)

test('writes an empty list or null for a token without bytes, and no infinite logprob', () => {
  const logprobs = {
    content: [
      {
        token: '<|x|>',
        bytes: null,
        logprob: -1,
        top_logprobs: [{ token: 'b', bytes: null, logprob: 'odd' }],
      },
    ],
    refusal: null,
  }
  const message = { id: 'c', object: 'chat.completion', created: 1, model: 'm' }
  const { value } = chat.decodeResponse({
    ...message,
    choices: [
      { index: 0, message: { role: 'assistant', content: 'x' }, finish_reason: 'stop', logprobs },
    ],
  })
  const { wire } = responses.encodeResponse(value)
  expect(strictOf('responses').checkResponse(wire)).toEqual([])
  expect(wire).toMatchObject({
    output: [
      { content: [{ logprobs: [{ bytes: [], top_logprobs: [{ bytes: [], logprob: -9999 }] }] }] },
    ],
  })
  const back = chat.encodeResponse(responses.decodeResponse(wire).value)
  expect(back).toMatchObject({
    wire: {
      choices: [{ logprobs: { content: [{ bytes: null, top_logprobs: [{ bytes: null }] }] } }],
    },
  })
})
