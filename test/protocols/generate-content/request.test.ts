import { describe, expect, test } from 'vitest'
import type { CanonicalRequest } from '../../../src/canonical/request.ts'
import { wrapSignatureInBase64 } from '../../../src/kit/signatures/envelope.ts'
import { generateContent } from '../../../src/protocols/generate-content/index.ts'
import type { GenerateContentOptions } from '../../../src/protocols/generate-content/options.ts'
import { leaves } from '../../../src/testing/json.ts'
import { strictOf } from '../../../src/testing/strict/index.ts'
import { translateRequest, translateResponse } from '../../support/untyped.ts'

type Body = Record<string, unknown>

const read = (body: Body) => generateContent.decodeRequest({ contents: [], ...body }).value
const again = (body: Body) => {
  const { value, notes, fieldNames } = generateContent.decodeRequest(body)
  const written = generateContent.encodeRequest(value, {
    fieldNames: { ...generateContent.fieldNames, ...fieldNames },
  })
  return { wire: written.wire, notes: [...notes, ...written.notes] }
}
const user = (...parts: Body[]) => ({ role: 'user', parts })
const model = (...parts: Body[]) => ({ role: 'model', parts })
const call = (name: string, id?: string) => ({
  functionCall: { name, args: {}, ...(id && { id }) },
})
const result = (name: string, message: string, id?: string) => ({
  functionResponse: { name, response: { output: message }, ...(id && { id }) },
})
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QQ==' } }

describe('restores a request body', () => {
  test.each<[what: string, body: Body]>([
    [
      'in the other spelling',
      {
        contents: [{ parts: [{ inline_data: { mime_type: 'image/png', data: 'QQ==' } }] }],
        generation_config: { top_p: 0.5 },
      },
    ],
    [
      'with arguments whose names look like fields',
      {
        contents: [
          model({ functionCall: { name: 'f', args: { mime_type: 'x', inline_data: 1 } } }),
        ],
      },
    ],
    [
      'with calls and results without ids',
      { contents: [model(call('f'), call('f')), user(result('f', 'a'), result('f', 'b'))] },
    ],
    [
      'with a response in the frames of a stream',
      { contents: [model({ text: 'He' }), model({ text: 'llo' }), model({ text: '' })] },
    ],
    [
      'with a result that is any object',
      {
        contents: [
          model(call('f', 'a')),
          user({ functionResponse: { id: 'a', name: 'f', response: { error: { x: 1 } } } }),
        ],
      },
    ],
    ['with an empty part', { contents: [user({})] }],
    ['with a signature alone', { contents: [model({ thoughtSignature: 'QQ==' })] }],
    [
      'with the placeholder that clients write',
      { contents: [model({ ...call('f'), thoughtSignature: 'skip_thought_signature_validator' })] },
    ],
    [
      'with several entries of tools',
      {
        contents: [],
        tools: [
          { functionDeclarations: [{ name: 'a' }] },
          { googleSearch: {} },
          { functionDeclarations: [{ name: 'b' }] },
        ],
      },
    ],
    [
      'with an older schema',
      {
        contents: [],
        tools: [
          {
            functionDeclarations: [
              { name: 'a', parameters: { type: 'OBJECT', nullable: true, minProperties: '1' } },
            ],
          },
        ],
      },
    ],
    [
      'with words in lower case',
      {
        contents: [],
        toolConfig: { functionCallingConfig: { mode: 'any' } },
        generationConfig: { thinkingConfig: { thinkingLevel: 'low' } },
      },
    ],
    [
      'with VALIDATED',
      {
        contents: [],
        toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['a'] } },
      },
    ],
    [
      'with VALIDATED for all',
      {
        contents: [],
        toolConfig: { functionCallingConfig: { mode: 'validated', allowedFunctionNames: [] } },
      },
    ],
    [
      'with a response that is one of some values',
      {
        contents: [],
        generationConfig: {
          responseMimeType: 'text/x.enum',
          responseSchema: { type: 'STRING', enum: ['a'] },
        },
      },
    ],
    [
      'with a voice, its language and unknown fields',
      {
        contents: [],
        generationConfig: {
          speechConfig: {
            languageCode: 'de',
            voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore', x: 1 }, y: null },
            z: null,
          },
        },
      },
    ],
    [
      'with a voice in the other spelling',
      {
        contents: [],
        generation_config: {
          speech_config: { voice_config: { prebuilt_voice_config: { voice_name: 'Kore' } } },
        },
      },
    ],
    ['with no voice', { contents: [], generationConfig: { speechConfig: null } }],
    [
      'with an empty voice',
      {
        contents: [],
        generationConfig: {
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: '' } } },
        },
      },
    ],
    [
      'that counts tokens',
      { generateContentRequest: { model: 'models/m', contents: [user({ text: 'x' })] } },
    ],
    [
      'that counts tokens, in the other spelling',
      { generate_content_request: { contents: [user({ text: 'x' })] }, note: 1 },
    ],
    [
      'with a lone entry of tools',
      { contents: [], tools: { functionDeclarations: [{ name: 'a' }] } },
    ],
  ])('%s', (_, body) => {
    expect(again(body)).toEqual({ wire: body, notes: [] })
  })
})

describe('decoding a request', () => {
  test('results find their calls by id, else by name and order, over all contents of a turn', () => {
    const { messages } = read({
      contents: [
        model(call('f')),
        model({ text: '' }),
        model(call('g'), call('f')),
        user(result('f', '1'), result('f', '2'), result('g', '3')),
      ],
    })
    const parts = messages.flatMap(message => message.parts)
    const ids = Object.fromEntries(
      parts.flatMap(part => (part.type === 'tool-call' ? [[part.id, part.name]] : [])),
    )
    const responses = parts.flatMap(part => (part.type === 'tool-result' ? [part.callId] : []))
    expect(responses.map(id => ids[id])).toEqual(['f', 'f', 'g'])
    expect(new Set(responses).size).toBe(3)
  })

  test.each<[what: string, calls: Body[], results: Body[], matched: string[]]>([
    [
      'by id, in whatever order they come',
      [call('f', 'a'), call('f', 'b')],
      [result('f', '2', 'b'), result('f', '1', 'a')],
      ['b', 'a'],
    ],
    [
      'by id, also under another name',
      [call('f', 'a'), call('g', 'b')],
      [result('f', '2', 'b'), result('g', '1', 'a')],
      ['b', 'a'],
    ],
    [
      'in their order, without other hints',
      [call('f', 'a'), call('g', 'b')],
      ['1', '2'].map(output => ({ functionResponse: { response: { output } } })),
      ['a', 'b'],
    ],
    ['in no way, without a call', [call('f', 'a')], [result('g', '1', 'z')], ['z']],
  ])('results find their calls %s', (_, calls, results, responded) => {
    const { messages } = read({
      contents: [user({ text: 'x' }), model(...calls), user(...results)],
    })
    expect(
      messages.flatMap(({ parts }) =>
        parts.flatMap(part => (part.type === 'tool-result' ? [part.callId] : [])),
      ),
    ).toEqual(responded)
  })

  test.each<[response: Body, text: string, isError: boolean]>([
    [{ output: 'a' }, 'a', false],
    [{ result: 'a' }, 'a', false],
    [{ error: 'a' }, 'a', true],
    [{ error: { code: 1 } }, '{"code":1}', true],
    [{ output: 1 }, '{"output":1}', false],
    [{ output: 'a', error: 'b' }, '{"output":"a","error":"b"}', false],
  ])('decodes the result %j to %j, an error: %j', (response, text, isError) => {
    const [, , outcome] = read({
      contents: [
        user({ text: 'x' }),
        model(call('f', 'a')),
        user({ functionResponse: { id: 'a', name: 'f', response } }),
      ],
    }).messages
    expect(outcome?.parts).toMatchObject([
      { type: 'tool-result', content: [{ type: 'text', text }], structured: response },
    ])
    expect(
      outcome?.parts.map(part => part.type === 'tool-result' && part.isError === true),
    ).toEqual([isError])
  })

  test.each<[what: string, frames: Body[][], expected: string[]]>([
    ['one chunk each', [[{ text: 'He' }], [{ text: 'llo' }]], ['text Hello']],
    [
      'a text that ends before another begins',
      [[{ text: 'He' }], [{ text: '' }, { text: 'llo' }], [{ text: ' you' }]],
      ['text He', 'text llo you'],
    ],
    [
      'two texts at once, of which the last continues',
      [[{ text: 'He' }, { text: 'llo' }], [{ text: ' you' }]],
      ['text He', 'text llo you'],
    ],
    [
      'the end of a thought and the beginning of a text',
      [
        [{ text: 'h', thought: true }],
        [{ text: 'm', thought: true }, { text: 'He' }],
        [{ text: 'llo' }],
      ],
      ['reasoning hm', 'text Hello'],
    ],
    [
      'a signature, after which nothing continues',
      [[{ text: 'He', thoughtSignature: 'c2ln' }], [{ text: 'llo' }]],
      ['text He', 'text llo'],
    ],
    [
      'nothing, after which nothing continues',
      [[{ text: 'He' }], [], [{ text: 'llo' }]],
      ['text He', 'text llo'],
    ],
  ])(
    'the frames of a stream in the history are the parts that they were cut of: %s',
    (_, frames, message) => {
      const body = {
        contents: [
          user({ text: 'x' }),
          ...frames.map(parts => model(...parts)),
          user({ text: 'y' }),
        ],
      }
      const { messages } = read(body)
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
      const reported = messages[1]?.parts.map(part => {
        if (part.type === 'text') return `text ${part.text}`
        if (part.type === 'reasoning')
          return `reasoning ${part.segments.map(({ text }) => text).join('')}`
        return part.type
      })
      expect(reported).toEqual(message)
      expect(again(body).wire).toMatchObject(body)
    },
  )

  test.each<[what: string, schema: Body, wanted: Body]>([
    [
      'types',
      { type: 'OBJECT', properties: { type: { type: 'STRING' } } },
      { type: 'object', properties: { type: { type: 'string' } } },
    ],
    [
      'a type that is not specified',
      { type: 'TYPE_UNSPECIFIED', description: 'any' },
      { description: 'any' },
    ],
    ['what may be null', { type: 'INTEGER', nullable: true }, { type: ['integer', 'null'] }],
    [
      'big numbers',
      { type: 'ARRAY', items: { type: 'NUMBER' }, minItems: '2' },
      { type: 'array', items: { type: 'number' }, minItems: 2 },
    ],
    ['words', { type: 'STRING', format: 'enum', enum: ['a'] }, { type: 'string', enum: ['a'] }],
    [
      'an order of properties',
      {
        type: 'OBJECT',
        properties: { a: { type: 'STRING' }, b: { type: 'STRING' }, c: { type: 'STRING' } },
        propertyOrdering: ['c', 'a', 'odd'],
      },
      {
        type: 'object',
        properties: { c: { type: 'string' }, a: { type: 'string' }, b: { type: 'string' } },
      },
    ],
    [
      'a property of that name',
      { type: 'OBJECT', properties: { propertyOrdering: { type: 'STRING' } } },
      { type: 'object', properties: { propertyOrdering: { type: 'string' } } },
    ],
    [
      'choices',
      { anyOf: [{ type: 'STRING' }], nullable: true },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
    ],
  ])('schemas of the older kind: %s', (_, schema, wanted) => {
    const [tool] =
      read({ tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }] }).tools ?? []
    expect(tool).toMatchObject({ type: 'function' })
    // The order in which properties stand is the one they are written in.
    expect(JSON.stringify(tool?.type === 'function' && tool.parameters)).toBe(
      JSON.stringify(wanted),
    )
    expect(
      again({
        contents: [],
        tools: [{ functionDeclarations: [{ name: 'f', parameters: schema }] }],
      }).wire,
    ).toMatchObject({
      tools: [{ functionDeclarations: [{ parameters: schema }] }],
    })
  })

  test.each<[what: string, body: Body, path: string]>([
    ['contents that are a text', { contents: 'x' }, '/contents'],
    ['a lone content', { contents: user({ text: 'x' }) }, '/contents'],
    [
      'functions that stand where tools do',
      { tools: [{ googleSearch: {} }, { name: 'f', parameters: { type: 'OBJECT' } }] },
      '/tools/1',
    ],
    [
      'a part of a known kind with a fault',
      { contents: [user({ inlineData: { mimeType: 'image/png' } })] },
      '/contents/0/parts/0/inlineData/data',
    ],
  ])('%s are refused with their place', (_, body, path) => {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'malformed', path }))
  })

  test.each<[calling: Body, choice: Body]>([
    [{ mode: 'AUTO' }, { mode: 'auto' }],
    [{ mode: 'NONE' }, { mode: 'none' }],
    [{ mode: 'ANY' }, { mode: 'required' }],
    [
      { mode: 'ANY', allowedFunctionNames: ['f'] },
      { mode: 'tool', kind: 'function', name: 'f' },
    ],
    [
      { mode: 'ANY', allowedFunctionNames: ['f', 'g'] },
      { mode: 'allowed', require: true, tools: [{ name: 'f' }, { name: 'g' }] },
    ],
    [
      { mode: 'VALIDATED', allowedFunctionNames: ['f'] },
      { mode: 'validated', tools: ['f'] },
    ],
    [{ mode: 'validated' }, { mode: 'validated' }],
  ])('the choice %j', (functionCallingConfig, choice) => {
    expect(read({ toolConfig: { functionCallingConfig } }).toolChoice).toMatchObject(choice)
  })
})

describe('translating a request', () => {
  const translate = (body: Body, options = {}) => {
    const { body: wire, notes } = translateRequest(
      { model: 'gemini-3-pro', ...body },
      { from: 'chat-completions', to: 'generate-content', ...options },
    )
    expect(strictOf('generate-content').checkRequest(wire)).toEqual([])
    return {
      wire: wire as Body,
      notes: notes.map(({ kind, code, path }) => `${kind} ${code} ${path}`),
    }
  }
  const calls = (...ids: string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map(id => ({
      id,
      type: 'function',
      function: { name: 'look', arguments: '{}' },
    })),
  })
  const outcome = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

  test('writes all results of a turn apart in the order of the calls, and later instructions as user text', () => {
    const { wire, notes } = translate({
      messages: [
        { role: 'system', content: 'S' },
        { role: 'user', content: 'go' },
        calls('a', 'b'),
        outcome('b', '2'),
        outcome('a', '1'),
        { role: 'user', content: 'so?' },
        { role: 'system', content: 'T' },
      ],
    })
    expect(wire['systemInstruction']).toEqual({ parts: [{ text: 'S' }] })
    expect(wire['contents']).toMatchObject([
      user({ text: 'go' }),
      {
        role: 'model',
        parts: [
          { functionCall: { id: 'a' }, thoughtSignature: 'skip_thought_signature_validator' },
          { functionCall: { id: 'b' } },
        ],
      },
      user(result('look', '1', 'a'), result('look', '2', 'b')),
      user({ text: 'so?' }, { text: '<system>T</system>' }),
    ])
    expect(new Set(notes)).toEqual(
      new Set([
        'approximated system.mid-conversation-as-user /messages/6',
        'synthesized reasoning.placeholder-signature /contents/1/parts/0/thoughtSignature',
      ]),
    )
  })

  test('a result is under its key: the response or the error, and its images next to it', () => {
    const use = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
    const body = {
      model: 'gemini-flash-latest',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'go' },
        { role: 'assistant', content: [use('a'), use('b')] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'a', content: 'broken', is_error: true },
            {
              type: 'tool_result',
              tool_use_id: 'b',
              content: [{ type: 'text', text: 'seen' }, image],
            },
          ],
        },
      ],
    }
    const { body: wire, notes } = translateRequest(body, {
      from: 'messages',
      to: 'generate-content',
    })
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'QQ==' } }]
    expect(wire).toMatchObject({
      contents: [
        {},
        {},
        user(
          { functionResponse: { id: 'a', name: 'look', response: { error: 'broken' } } },
          { functionResponse: { id: 'b', name: 'look', response: { output: 'seen' }, parts } },
        ),
      ],
    })
    expect(notes.map(({ code }) => code)).toEqual(['reasoning.placeholder-signature'])
  })

  test.each([
    ['says nothing', undefined, []],
    ['says nothing with a word', '', []],
    ['says the same', 'look', []],
    ['says another name', 'Look it up', ['dropped /messages/1/name field.unsupported']],
  ])('a result that %s gets the name of its call', (_, message, noted) => {
    const calls = [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }]
    const messages = [
      { role: 'assistant', tool_calls: calls },
      { role: 'tool', tool_call_id: 'a', name: message, content: 'seen' },
    ]
    const { body, notes } = translateRequest(
      { model: 'gemini-2.5-pro', messages },
      {
        from: 'chat-completions',
        to: 'generate-content',
        generateContent: { leadingUser: 'keep' },
      },
    )
    expect(body).toMatchObject({ contents: [{}, user(result('look', 'seen', 'a'))] })
    expect(notes.map(({ kind, path, code }) => `${kind} ${path} ${code}`)).toEqual(noted)
  })

  // Servers of this protocol read both alphabets, and the official Python SDK writes the url-safe
  // one.
  test('media in url-safe base64 is standard base64 elsewhere, and here unchanged', () => {
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgr__vs-' } }]
    const called = { role: 'model', parts: [{ functionCall: { id: 'a', name: 'look', args: {} } }] }
    const contents = [
      user(...parts),
      called,
      user({ functionResponse: { id: 'a', name: 'look', response: { output: 'seen' }, parts } }),
    ]
    const written = (to: 'chat-completions' | 'responses' | 'messages') =>
      JSON.stringify(translateRequest({ contents }, { from: 'generate-content', to }).body)
    const png = 'iVBORw0KGgr//vs+'
    expect(written('chat-completions').split(`"url":"data:image/png;base64,${png}"`)).toHaveLength(
      3,
    )
    expect(written('responses').split(`"image_url":"data:image/png;base64,${png}"`)).toHaveLength(3)
    expect(written('messages').split(`"data":"${png}"`)).toHaveLength(3)
    expect(again({ contents })).toEqual({ wire: { contents }, notes: [] })
  })

  test('media in a search result that a tool found stand beside its text', () => {
    const found = {
      type: 'search_result',
      source: 's',
      title: 't',
      content: [{ type: 'document', source: { type: 'base64', data: 'QQ==' } }],
    }
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [found] }] },
    ]
    const { body, notes } = translateRequest(
      { model: 'gemini-flash-latest', max_tokens: 9, messages },
      { from: 'messages', to: 'generate-content', generateContent: { leadingUser: 'keep' } },
    )
    const parts = [{ inlineData: { mimeType: 'application/pdf', data: 'QQ==' } }]
    expect(body).toMatchObject({
      contents: [{}, user({ functionResponse: { response: { output: 't (s)' }, parts } })],
    })
    expect(notes.map(({ path }) => path)).toContain(
      '/contents/1/parts/0/functionResponse/parts/0/inlineData/mimeType',
    )
  })

  test('a document of parts that a tool found gives its text to the text of the result, and its images next to it', () => {
    const source = { type: 'content', content: [{ type: 'text', text: 'two' }, image] }
    const found = [
      { type: 'text', text: 'one' },
      { type: 'document', source },
      { type: 'text', text: 'three' },
    ]
    const messages = [
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: found }] },
    ]
    const { body, notes } = translateRequest(
      { model: 'gemini-flash-latest', max_tokens: 9, messages },
      { from: 'messages', to: 'generate-content', generateContent: { leadingUser: 'keep' } },
    )
    const parts = [{ inlineData: { mimeType: 'image/png', data: 'QQ==' } }]
    expect(body).toMatchObject({
      contents: [
        {},
        user({ functionResponse: { response: { output: ['one', 'two', 'three'] }, parts } }),
      ],
    })
    expect(notes.map(({ path, code }) => `${path} ${code}`)).toEqual([
      '/messages/1/content/0/content/1 media.flattened',
      '/contents/0/parts/0/thoughtSignature reasoning.placeholder-signature',
    ])
  })

  test.each(['exaAiSearch', 'parallelAiSearch'])(
    'the validator accepts the tool %s, which the codec knows',
    key => {
      const body = {
        contents: [user({ text: 'go' })],
        tools: [{ [key]: { apiKey: 'k', customConfigs: {} } }],
      }
      expect(strictOf('generate-content').checkRequest(body)).toEqual([])
    },
  )

  test.each(['gemini-2.5-pro', 'gemini-2.0-flash', 'models/gemini-1.5-pro'])(
    'media of a result follow it when the model is %s',
    model => {
      const messages = [
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: {} }] },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'a',
              content: [{ type: 'text', text: 'seen' }, image],
            },
          ],
        },
      ]
      const { body, notes } = translateRequest(
        { model, max_tokens: 9, messages },
        { from: 'messages', to: 'generate-content', generateContent: { leadingUser: 'keep' } },
      )
      const [, responded] = (body as { contents: unknown[] }).contents
      expect(responded).toEqual(
        user(result('look', 'seen', 'a'), { inlineData: { mimeType: 'image/png', data: 'QQ==' } }),
      )
      expect(notes.map(({ kind, path, code }) => `${kind} ${path} ${code}`)).toContain(
        'approximated /messages/1/content/0/content tool-result.media-moved',
      )
    },
  )

  test.each([
    { type: 'text', media_type: 'text/plain', data: '' },
    { type: 'base64', media_type: 'application/pdf', data: '' },
  ])('drops an empty document with a note: $type', source => {
    const messages = [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'read' },
          { type: 'document', source },
        ],
      },
    ]
    const { body, notes } = translateRequest(
      { model: 'gemini-2.5-pro', max_tokens: 9, messages },
      { from: 'messages', to: 'generate-content' },
    )
    expect(body).toMatchObject({ contents: [user({ text: 'read' })] })
    expect(notes).toMatchObject([
      { kind: 'dropped', code: 'media.unsupported', path: '/messages/0/content/1' },
    ])
  })

  test('writes no placeholder for models without signatures', () => {
    const { wire, notes } = translate({
      model: 'gemini-2.5-flash',
      messages: [{ role: 'user', content: 'go' }, calls('a'), outcome('a', '1')],
    })
    expect(JSON.stringify(wire)).not.toContain('skip_thought')
    expect(notes).toEqual([])
  })

  test.each<[choice: Body, config: Body]>([
    [{ type: 'any' }, { mode: 'ANY' }],
    [
      { type: 'tool', name: 'bash' },
      { mode: 'ANY', allowedFunctionNames: ['bash'] },
    ],
    [{ type: 'none' }, { mode: 'NONE' }],
  ])(
    'the choice %j holds for a tool that the client runs, where that is a function here',
    (choice, functionCallingConfig) => {
      const body = {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ type: 'bash_20250124', name: 'bash' }],
        tool_choice: choice,
      }
      for (const option of [{ serverTools: 'map' }, { expandClientTools: true }] as const) {
        const { body: wire, notes } = translateRequest(body, {
          from: 'messages',
          to: 'generate-content',
          tools: option,
        })
        expect(wire).toMatchObject({
          tools: [{ functionDeclarations: [{ name: 'bash' }] }],
          toolConfig: { functionCallingConfig },
        })
        expect(notes.map(({ code }) => code)).toEqual(['tool.server-mapped'])
      }
    },
  )

  test.each([
    [
      { mimeType: 'application/json', schema: { type: 'object' } },
      { type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } },
    ],
    [{ mimeType: 'application/json' }, { type: 'json_object' }],
    [{ mimeType: 'text/plain' }, { type: 'text' }],
  ])('the newer format may name its type as a media type: %j', (text, format) => {
    const body = {
      contents: [{ role: 'user', parts: [{ text: 'hi' }] }],
      generationConfig: { responseFormat: [{ text }] },
    }
    const { body: wire, notes } = translateRequest(body, {
      from: 'generate-content',
      to: 'chat-completions',
      model: 'm',
    })
    expect((wire as Body)['response_format']).toEqual(format)
    expect(notes.filter(({ kind }) => kind !== 'synthesized')).toEqual([])
  })

  const chunks = (...responses: Body[]) => ({
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      { role: 'model', parts: [{ functionCall: { id: 'c1', name: 'look', args: {} } }] },
      ...responses.map(response => ({
        role: 'user',
        parts: [{ functionResponse: { id: 'c1', name: 'look', ...response } }],
      })),
    ],
    tools: [{ functionDeclarations: [{ name: 'look', behavior: 'NON_BLOCKING' }] }],
  })
  const inChunks = chunks(
    { response: { output: 'one ' }, willContinue: true },
    { response: { output: 'two ' }, willContinue: true },
    { response: { output: 'three' }, scheduling: 'SILENT' },
  )

  test.each(['chat-completions', 'responses', 'messages'] as const)(
    'joins the results of a call for %s when each announces the next',
    to => {
      const { body: wire, notes } = translateRequest(inChunks, {
        from: 'generate-content',
        to,
        model: 'm',
      })
      const results = leaves(wire).filter(({ value }) => /one|two|three/.test(String(value)))
      expect(results.map(({ value }) => value).join('')).toBe('one two three')
      expect(notes.map(({ code, path }) => `${code} ${path}`)).toEqual(
        expect.arrayContaining([
          'tool-result.duplicate /contents/2/parts/0/functionResponse',
          'tool-result.duplicate /contents/3/parts/0/functionResponse',
          'field.unknown /contents/4/parts/0/functionResponse/scheduling',
        ]),
      )
    },
  )

  test('keeps only the last result of a call when none announces another', () => {
    const { body: wire } = translateRequest(
      chunks({ response: { output: 'one' } }, { response: { output: 'two' } }),
      {
        from: 'generate-content',
        to: 'messages',
        model: 'm',
      },
    )
    expect(JSON.stringify(wire)).not.toContain('one')
  })

  test('writes the results of a call unchanged when each announces the next', () => {
    const { value } = generateContent.decodeRequest(inChunks)
    expect(generateContent.encodeRequest(value).wire).toEqual(inChunks)
  })

  test('drops a provider tool when only client tools become functions', () => {
    const tools = [
      { type: 'bash_20250124', name: 'bash' },
      { type: 'web_search_20250305', name: 'web_search' },
    ]
    const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'hi' }], tools }
    const { body: wire, notes } = translateRequest(body, {
      from: 'messages',
      to: 'generate-content',
      tools: { expandClientTools: true },
    })
    expect(wire).toMatchObject({ tools: [{ functionDeclarations: [{ name: 'bash' }] }] })
    expect(notes).toMatchObject([
      { code: 'tool.server-mapped', path: '/tools/0' },
      { code: 'tool.server', path: '/tools/1' },
    ])
  })

  const look = { name: 'look', input_schema: { type: 'object' } }
  const search = { type: 'web_search_20250305', name: 'web_search' }
  // Gemini's own servers refuse functions beside their tools otherwise; Vertex AI does not know the
  // field.
  test.each<[tools: string, Body[], GenerateContentOptions, expected: boolean]>([
    [
      'is requested when there are functions next to tools of the provider',
      [look, search],
      {},
      true,
    ],
    [
      'is not requested from servers without the field',
      [look, search],
      { toolInvocations: 'omit' },
      false,
    ],
    [
      'is not requested for functions alone',
      [look, { type: 'bash_20250124', name: 'bash' }],
      {},
      false,
    ],
    [
      'is not requested for tools of the provider alone',
      [search, { type: 'code_execution_20250825', name: 'code_execution' }],
      {},
      false,
    ],
  ])('what the provider ran %s', (_, tools, options, received) => {
    const body = {
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'hi' }],
      tools,
      tool_choice: { type: 'auto' },
    }
    const { body: wire, notes } = translateRequest(body, {
      from: 'messages',
      to: 'generate-content',
      generateContent: options,
      tools: { serverTools: 'map' },
    })
    expect((wire as { toolConfig?: Body }).toolConfig?.['includeServerSideToolInvocations']).toBe(
      received || undefined,
    )
    expect(notes.filter(({ code }) => code === 'tool.invocations')).toEqual(
      received
        ? [
            expect.objectContaining({
              kind: 'synthesized',
              path: '/toolConfig/includeServerSideToolInvocations',
            }),
          ]
        : [],
    )
  })

  test('a ban on tool calls cannot be expressed for tools that the provider runs', () => {
    const reported = (tools: Body[]) => {
      const body = {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
        tools,
        tool_choice: { type: 'none' },
      }
      return translateRequest(body, {
        from: 'messages',
        to: 'generate-content',
        onUnresolvable: 'note',
        tools: { serverTools: 'map' },
      }).notes.map(({ code }) => code)
    }
    expect(reported([{ type: 'web_search_20250305', name: 'web_search' }])).toContain(
      'tool-choice.without-tools',
    )
    expect(reported([{ type: 'computer_toolset_20260801' }])).not.toContain(
      'tool-choice.without-tools',
    )
  })

  test.each<[model: string, effort: string, config: Body | undefined, ...notes: string[]]>([
    ['gemini-3-flash', 'low', { thinkingLevel: 'LOW' }],
    ['gemini-3-flash', 'minimal', { thinkingLevel: 'MINIMAL' }],
    [
      'gemini-3-flash',
      'xhigh',
      { thinkingLevel: 'HIGH' },
      'approximated reasoning.effort /reasoning_effort',
    ],
    [
      'gemini-3-flash',
      'none',
      { thinkingLevel: 'MINIMAL' },
      'approximated reasoning.effort /reasoning_effort',
    ],
    [
      'gemini-2.5-flash',
      'none',
      { thinkingBudget: 0 },
      'approximated reasoning.effort-as-budget /reasoning_effort',
    ],
    [
      'gemini-2.5-flash',
      'medium',
      { thinkingBudget: 8192 },
      'approximated reasoning.effort-as-budget /reasoning_effort',
    ],
    [
      'gemini-2.5-flash',
      'max',
      { thinkingBudget: 24_576 },
      'approximated reasoning.effort-as-budget /reasoning_effort',
    ],
  ])('%s thinks with effort %s', (name, effort, thinkingConfig, ...wanted) => {
    const { wire, notes } = translate({
      model: name,
      messages: [{ role: 'user', content: 'x' }],
      reasoning_effort: effort,
    })
    expect({ config: wire['generationConfig'], notes }).toEqual({
      config: { thinkingConfig },
      notes: wanted,
    })
  })

  test.each<[model: string, thinking: Body, config: Body, ...notes: string[]]>([
    ['gemini-2.5-flash', { type: 'disabled' }, { thinkingBudget: 0 }],
    [
      'gemini-3-flash',
      { type: 'disabled' },
      { thinkingLevel: 'MINIMAL' },
      'approximated reasoning.effort /thinking/type',
    ],
    [
      'gemini-2.5-flash',
      { type: 'between_tools' },
      { thinkingBudget: 0 },
      'approximated reasoning.mode /thinking/type',
    ],
    [
      'gemini-3-flash',
      { type: 'between_tools' },
      { thinkingLevel: 'MINIMAL' },
      'approximated reasoning.mode /thinking/type',
    ],
    ['gemini-3-flash', { type: 'adaptive' }, { thinkingBudget: -1 }],
  ])('%s, whose thinking is %j', (name, thinking, thinkingConfig, ...wanted) => {
    const body = {
      model: name,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
      thinking,
    }
    const { body: wire, notes } = translateRequest(body, {
      from: 'messages',
      to: 'generate-content',
    })
    expect(wire).toMatchObject({ generationConfig: { thinkingConfig } })
    expect(notes.map(({ kind, code, path }) => `${kind} ${code} ${path}`)).toEqual(wanted)
  })

  test('adds a user turn before a leading model turn, or keeps it on request', () => {
    const messages = [calls('a'), outcome('a', '1'), { role: 'user', content: 'x' }]
    const kept = translateRequest(
      { model: 'gemini-3-pro', messages },
      {
        from: 'chat-completions',
        to: 'generate-content',
        generateContent: { leadingUser: 'keep' },
      },
    )
    expect(kept.body).toMatchObject({
      contents: [{ role: 'model' }, { role: 'user' }, { role: 'user' }],
    })
    const { wire, notes } = translate({ messages }, { generateContent: { leadingUser: 'auto' } })
    expect(wire['contents']).toMatchObject([
      user({ text: '.' }),
      { role: 'model', parts: [{ functionCall: { id: 'a' } }] },
      { role: 'user' },
      { role: 'user' },
    ])
    expect(notes).toEqual([
      'synthesized message.leading-user /contents/0',
      'synthesized reasoning.placeholder-signature /contents/1/parts/0/thoughtSignature',
    ])
    const alone = translate(
      { messages: [{ role: 'system', content: 'S' }] },
      { generateContent: { leadingUser: 'synthesize' } },
    )
    expect(alone).toMatchObject({
      wire: { contents: [user({ text: '.' })] },
      notes: ['synthesized message.leading-user /contents/0'],
    })
    expect(
      translate(
        { messages: [{ role: 'user', content: 'x' }] },
        { generateContent: { leadingUser: 'synthesize' } },
      ).notes,
    ).toEqual([])
  })

  test('writes a complete schema when the server accepts all of it', () => {
    const parameters = {
      $schema: 's',
      type: 'object',
      additionalProperties: false,
      properties: { n: { type: 'number', exclusiveMinimum: 0 } },
    }
    const { wire } = translate({
      messages: [{ role: 'user', content: 'x' }],
      tools: [{ type: 'function', function: { name: 'f', parameters } }],
      response_format: { type: 'json_schema', json_schema: { name: 'a', schema: parameters } },
    })
    expect(wire).toMatchObject({
      tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: parameters }] }],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: parameters },
    })
  })

  test('restores names that the protocol refuses', () => {
    const tools = [{ type: 'function', function: { name: '1st thing' } }]
    const { body, context } = translateRequest(
      { model: 'm', messages: [{ role: 'user', content: 'x' }], tools },
      { from: 'chat-completions', to: 'generate-content' },
    )
    const [written = ''] = Object.keys(context.tools ?? {})
    expect(written).toMatch(/^[A-Za-z_][\w.:-]*$/)
    expect(body).toMatchObject({ tools: [{ functionDeclarations: [{ name: written }] }] })
    expect(context.tools?.[written]).toEqual({ name: '1st thing' })
  })

  test('refuses references to another provider with their path', () => {
    const request: CanonicalRequest = { messages: [], state: { previousId: 'resp_1' } }
    expect(() =>
      generateContent.encodeRequest(request, {
        fieldNames: { 'state.previousId': 'previous_response_id' },
      }),
    ).toThrow(expect.objectContaining({ code: 'inexpressible', path: '/previous_response_id' }))
  })
})

describe('a request inside one that counts tokens', () => {
  const inner = {
    model: 'models/gemini-3-pro',
    contents: [user({ text: 'x' }), model({ text: 'y' })],
    generation_config: { top_k: 3 },
    session_id: 's1',
  }
  const body = { generateContentRequest: inner, odd: 1 }

  test('is written inside it again', () => {
    const { value, notes } = generateContent.decodeRequest(body)
    expect(value.messages.map(({ at }) => at)).toEqual([
      '/generateContentRequest/contents/0',
      '/generateContentRequest/contents/1',
    ])
    expect([notes, generateContent.encodeRequest(value)]).toMatchObject([
      [],
      { wire: body, notes: [] },
    ])
    expect(generateContent.withModel(body, 'other')).toEqual({
      ...body,
      generateContentRequest: { ...inner, model: 'models/other' },
    })
  })

  test('has notes with such paths when counting tokens', () => {
    const { notes } = translateRequest(
      { generateContentRequest: inner },
      { from: 'generate-content', to: 'chat-completions' },
    )
    expect(notes.filter(({ kind }) => kind === 'dropped').map(({ path }) => path)).toContain(
      '/generateContentRequest/generation_config/top_k',
    )
  })
})

describe('reasoning that the signature of a call carries', () => {
  const carrying = (value: string) =>
    wrapSignatureInBase64({ signature: { value, issuer: 'generate-content' }, attach: 'reasoning' })
  const history = (thoughtSignature: string) => ({
    contents: [
      { role: 'user', parts: [{ text: 'q' }] },
      {
        role: 'model',
        parts: [
          { text: 'abcd' },
          { functionCall: { id: 'c', name: 'f', args: {} }, thoughtSignature },
        ],
      },
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'c', name: 'f', response: { output: 'r' } } }],
      },
    ],
  })
  const thought = (after: number, text: string) => [after, { segments: [{ kind: 'raw', text }] }]

  test('is restored at its position in the text', () => {
    const value = JSON.stringify({
      reasoning: [thought(0, 'x'), thought(2, 'y'), thought(4, 'z'), thought(9, 'late')],
    })
    const [, response] = generateContent.decodeRequest(history(carrying(value))).value.messages
    const message = response?.parts.map(part => {
      if (part.type === 'text') return part.text
      if (part.type === 'reasoning') return part.segments.map(({ text }) => text)
      return part.type
    })
    expect(message).toEqual([['x'], 'ab', ['y'], 'cd', ['z'], ['late'], 'tool-call'])
  })

  test.each([
    '',
    '7',
    '[]',
    '{}',
    '{"reasoning":7}',
    '{"reasoning":[1,[2],["a",{}],[null,{}]]}',
    '{"own":7}',
  ])('is ignored when it is unreadable: %s', value => {
    const { value: read } = generateContent.decodeRequest(history(carrying(value)))
    expect(read.messages[1]?.parts).toMatchObject([
      { type: 'text', text: 'abcd' },
      { type: 'tool-call' },
    ])
    expect(read.messages[1]?.parts[1]).not.toHaveProperty('signature')
  })

  test('leaves a placeholder for servers that require signed calls', () => {
    const { body } = translateRequest(
      history(carrying(JSON.stringify({ reasoning: [thought(0, 'x')] }))),
      {
        from: 'generate-content',
        to: 'generate-content',
        model: 'gemini-3-pro',
      },
    )
    expect(JSON.stringify(body)).toContain('"thoughtSignature":"skip_thought_signature_validator"')
  })

  test('keeps the own signature of the call', () => {
    const { value } = generateContent.decodeRequest(
      history(carrying(JSON.stringify({ reasoning: [], own: 'c2VhbA==' }))),
    )
    expect(value.messages[1]?.parts[1]).toMatchObject({
      type: 'tool-call',
      signature: { value: 'c2VhbA==', issuer: 'generate-content' },
    })
  })
})

test('notes unknown fields of a snake_case object at their path', () => {
  const body = {
    contents: [{ parts: [{ text: 'hi' }] }],
    generation_config: { zap: 1, thinking_config: { odd: 2 } },
    tool_config: { rare: 3 },
  }
  const { notes } = translateRequest(body, { from: 'generate-content', to: 'chat-completions' })
  expect(notes.filter(({ code }) => code === 'field.unknown').map(({ path }) => path)).toEqual([
    '/generation_config/zap',
    '/generation_config/thinking_config/odd',
    '/tool_config/rare',
  ])
})

describe('a GIF, which no model reads', () => {
  const base64 = { type: 'base64', media_type: 'image/gif', data: 'R0lGODlhAQABAAAAACw=' }
  test.each([base64, { type: 'url', url: 'https://example.com/a.gif' }])(
    'is left out of a request with a note: %j',
    source => {
      const content = [
        { type: 'text', text: 'look' },
        { type: 'image', source },
      ]
      const { body, notes } = translateRequest(
        { model: 'gemini-3-pro', max_tokens: 9, messages: [{ role: 'user', content }] },
        { from: 'messages', to: 'generate-content' },
      )
      expect(body).toMatchObject({ contents: [{ parts: [{ text: 'look' }] }] })
      expect(JSON.stringify(body)).not.toContain('gif')
      expect(notes).toMatchObject([
        { kind: 'dropped', code: 'media.unsupported', path: '/messages/0/content/1' },
      ])
    },
  )

  test('reaches a client that shows it', () => {
    const image_url = { url: `data:image/gif;base64,${base64.data}` }
    const { body } = translateResponse(
      {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            message: {
              role: 'assistant',
              content: 'here',
              images: [{ type: 'image_url', image_url, index: 0 }],
            },
          },
        ],
      },
      { from: 'chat-completions', to: 'generate-content' },
    )
    expect(JSON.stringify(body)).toContain('image/gif')
  })
})
