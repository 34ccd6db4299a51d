import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateRequest, translateResponse } from '../../src/index.ts'
import { dataOf } from '../gateway/support.ts'

const contents = [{ role: 'user', parts: [{ text: 'hi' }] }]
const ask = (generationConfig: object, to: 'chat-completions' | 'responses') =>
  translateRequest({ contents, generationConfig }, { from: 'generate-content', to, model: 'm' })
const json = 'application/json'
const list = {
  responseMimeType: json,
  responseSchema: { type: 'ARRAY', items: { type: 'STRING' } },
}
const word = {
  responseMimeType: 'text/x.enum',
  responseSchema: { type: 'STRING', enum: ['a', 'b'] },
}

const chatResponse = (content: string) => ({
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
})
const responsesResponse = (text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'm',
  output: [
    {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
})
const responses = { 'chat-completions': chatResponse, responses: responsesResponse }
const textOf = (body: unknown) =>
  (body as { candidates: { content: { parts: { text: string }[] } }[] }).candidates
    .flatMap(({ content }) => content?.parts?.map(({ text }) => text) ?? [])
    .join('')

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

describe.each(['chat-completions', 'responses'] as const)(
  'a Gemini schema whose root is no object, toward %s',
  to => {
    test.each([
      ['a list', list, { type: 'array', items: { type: 'string' } }],
      [
        'a list or nothing',
        { ...list, responseSchema: { ...list.responseSchema, nullable: true } },
        { type: ['array', 'null'], items: { type: 'string' } },
      ],
      ['one of some words', word, { type: 'string', enum: ['a', 'b'] }],
    ])('is wrapped in an object when it is %s', (_, config, value) => {
      const { body, notes, context } = ask(config, to)
      const schema = {
        type: 'object',
        properties: { value },
        required: ['value'],
        additionalProperties: false,
      }
      expect(JSON.stringify(body)).toContain(JSON.stringify(schema.properties))
      expect(body).toMatchObject(
        to === 'responses'
          ? { text: { format: { schema } } }
          : { response_format: { json_schema: { schema } } },
      )
      expect(notes.map(({ code }) => code)).toContain('output.wrapped')
      expect(context.output).toBe(config === word ? 'word' : 'value')
    })

    test('keeps shared definitions at the root', () => {
      const $defs = { A: { type: 'string' } }
      const { body } = ask(
        {
          responseMimeType: json,
          responseJsonSchema: { $defs, type: 'array', items: { $ref: '#/$defs/A' } },
        },
        to,
      )
      const schema = {
        $defs,
        properties: { value: { type: 'array', items: { $ref: '#/$defs/A' } } },
      }
      expect(body).toMatchObject(
        to === 'responses'
          ? { text: { format: { schema } } }
          : { response_format: { json_schema: { schema } } },
      )
    })

    test.each([
      ['of a list', list, '{"value": ["a}","b\\"]"]}', '["a}","b\\"]"]'],
      [
        'of a number',
        { responseMimeType: json, responseSchema: { type: 'NUMBER' } },
        ' { "value" : 12345678901234567890 } ',
        '12345678901234567890 ',
      ],
      ['of one word', word, '{"value":"a"}', 'a'],
    ])('has the value of the response unwrapped: %s', (_, config, reported, expected) => {
      const { context } = ask(config, to)
      const { body, notes } = translateResponse(responses[to](reported), {
        from: to,
        to: 'generate-content',
        context,
      })
      expect(textOf(body)).toBe(expected)
      expect(notes.map(({ code }) => code)).not.toContain('output.unwrap-failed')
    })

    test('leaves a response of another form unchanged, with a note', () => {
      const { context } = ask(list, to)
      const { body, notes } = translateResponse(responses[to]('["a"]'), {
        from: to,
        to: 'generate-content',
        context,
      })
      expect(textOf(body)).toBe('["a"]')
      expect(notes.map(({ code }) => code)).toContain('output.unwrap-failed')
    })
  },
)

describe('a stream of a wrapped value', () => {
  test.each([
    ['a list', list, '{"value": ["a}","b\\"]", {"c": []}]\n}', '["a}","b\\"]", {"c": []}]\n'],
    ['one word', word, '{"value":"a"}', 'a'],
    ['another text', list, '{"valve": []}', '{"valve": []}'],
    ['the beginning of an object', list, '{"val', '{"val'],
  ])('has the content of a complete response: %s', (_, config, reported, expected) => {
    const { context } = ask(config, 'chat-completions')
    const options = { from: 'chat-completions', to: 'generate-content', context } as const
    for (const chunks of [[reported], [...reported]]) {
      const translator = createStreamTranslator(options)
      const frames = [
        chunk({ role: 'assistant', content: '' }),
        ...chunks.map(content => chunk({ content })),
        chunk({}, 'stop'),
        'data: [DONE]\n\n',
      ]
      const out = frames.map(frame => translator.push(frame)).join('') + translator.end()
      expect(dataOf(out.replaceAll('\r\n', '\n')).map(textOf).join('')).toBe(expected)
      expect(translator.notes.some(({ code }) => code === 'output.unwrap-failed')).toBe(
        reported === expected,
      )
    }
    expect(textOf(translateResponse(chatResponse(reported), options).body)).toBe(expected)
  })
})
