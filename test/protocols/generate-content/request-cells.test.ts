import { describe, expect, test } from 'vitest'
import { type ProtocolName, translateRequest } from '../../../src/index.ts'

type Options = Partial<Parameters<typeof translateRequest>[1]>
/** `written`: what of the other body has to be so. */
type Row = [
  cell: string,
  way: `${ProtocolName} → ${ProtocolName}`,
  given: object,
  written: object,
  notes: string[],
  options?: Options,
]

const reported = (way: Row[1], body: object, options: Options = {}) => {
  const [from, to] = way.split(' → ') as [ProtocolName, ProtocolName]
  const { body: written, notes } = translateRequest(body, {
    from,
    to,
    onUnresolvable: 'note',
    ...options,
  })
  return {
    written,
    notes: notes
      .filter(({ kind }) => kind !== 'synthesized')
      .map(({ code, path }) => `${code} ${path}`),
  }
}
const holds = ([, way, given, expected, notes, options]: Row) => {
  const { written, notes: made } = reported(way, given, options)
  expect(written).toMatchObject(expected)
  expect(made).toEqual(notes)
}
/** Nothing is written under this key. */
const absent = (key: string): object => expect.not.objectContaining({ [key]: expect.anything() })

const contents = (...parts: object[]) => ({ contents: [{ role: 'user', parts }] })
const declares = (...functionDeclarations: object[]) => ({
  ...contents({ text: 'hi' }),
  tools: [{ functionDeclarations }],
})
const file = { fileData: { fileUri: 'https://example.org/a.png', displayName: 'A' } }

describe('paths of notes', () => {
  test.each<Row>([
    [
      'a role that no server takes',
      'generate-content → responses',
      { contents: [{ role: 'assistant', parts: [{ text: 'a' }] }] },
      {},
      ['field.unknown /contents/0/role'],
    ],
    [
      'the role of older results',
      'generate-content → responses',
      { contents: [{ role: 'function', parts: [{ text: 'a' }] }] },
      {},
      [],
    ],
    [
      'the name of a function that is allowed and not declared',
      'generate-content → chat-completions',
      {
        ...declares({ name: 'f' }),
        tool_config: { function_calling_config: { mode: 'ANY', allowedFunctionNames: ['a b'] } },
      },
      {},
      ['tool.renamed /tool_config/function_calling_config/allowedFunctionNames'],
    ],
    [
      'the name of a file that is referred to',
      'generate-content → responses',
      contents(file),
      {},
      ['field.unsupported /contents/0/parts/0/fileData/displayName'],
    ],
    [
      'and of one that is there, in the other spelling',
      'generate-content → responses',
      contents({ inline_data: { mime_type: 'image/png', data: 'QQ==', display_name: 'A' } }),
      {},
      ['field.unsupported /contents/0/parts/0/inline_data/display_name'],
    ],
    [
      'the schema of results, for each function at its path',
      'generate-content → chat-completions',
      declares(
        { name: 'a', response: { type: 'OBJECT' } },
        { name: 'b', responseJsonSchema: { type: 'object' } },
      ),
      {},
      [
        'field.unsupported /tools/0/functionDeclarations/0/response',
        'field.unsupported /tools/0/functionDeclarations/1/responseJsonSchema',
      ],
    ],
    [
      'a signature in the other spelling',
      'generate-content → responses',
      contents({ text: 'hi', thought_signature: 'QQ==' }),
      {},
      ['reasoning.foreign-signature /contents/0/parts/0/thought_signature'],
    ],
    [
      'fields next to a result among the instructions',
      'generate-content → messages',
      {
        contents: [
          {
            role: 'system',
            parts: [{ functionResponse: { name: 'f', response: {} }, thought: true }],
          },
          ...contents({ text: 'hi' }).contents,
        ],
      },
      {},
      [
        'system.not-text /contents/0/parts/0/functionResponse',
        'field.unknown /contents/0/parts/0/thought',
      ],
    ],
  ])('%s', (...row) => holds(row))
})

describe('an empty text and its signature', () => {
  const message = contents({ text: 'hi' }).contents
  const bare = { contents: [...contents({ thoughtSignature: 'QQ==' }).contents, ...message] }
  const lost = ['reasoning.foreign-signature /contents/0/parts/0/thoughtSignature']
  test.each<Row>([
    [
      'is no message',
      'generate-content → chat-completions',
      bare,
      { messages: [{ content: 'hi' }] },
      lost,
    ],
    [
      'is no item',
      'generate-content → responses',
      bare,
      { input: [{ content: [{ text: 'hi' }] }] },
      lost,
    ],
    ['is no block', 'generate-content → messages', bare, { messages: [{ content: 'hi' }] }, lost],
    [
      'without a signature it goes unsaid',
      'generate-content → chat-completions',
      { contents: [...contents({ text: '' }).contents, ...message] },
      { messages: [{ content: 'hi' }] },
      [],
    ],
    [
      'is no instruction',
      'generate-content → responses',
      { systemInstruction: { parts: [{ thoughtSignature: 'QQ==' }] }, contents: message },
      absent('instructions'),
      ['reasoning.foreign-signature /systemInstruction/parts/0/thoughtSignature'],
    ],
  ])('%s', (...row) => holds(row))

  test('keeps the position of an instruction with unknown fields', () => {
    const { written, notes } = reported('generate-content → responses', {
      systemInstruction: { parts: [{ text: 'Be terse.', thoughtSignature: 'QQ==', x_extra: 1 }] },
      contents: message,
    })
    expect(written).toMatchObject({
      instructions: 'Be terse.',
      input: [{ content: [{ text: 'hi' }] }],
    })
    expect(notes).toEqual([
      'field.unknown /systemInstruction/parts/0/x_extra',
      'reasoning.foreign-signature /systemInstruction/parts/0/thoughtSignature',
    ])
  })

  test('does not separate two texts by a part that is dropped', () => {
    const { written } = reported(
      'generate-content → responses',
      contents({ text: 'a' }, { x_odd: 1 }, { text: 'b' }),
    )
    expect(written).toMatchObject({
      input: [{ role: 'user', content: [{ text: 'a' }, { text: 'b' }] }],
    })
  })
})

describe('results and their names', () => {
  const call = { type: 'function_call', call_id: 'c', name: 'run', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'c', output: 'ok' }
  const nameOf = (name: string) => ({
    contents: expect.arrayContaining([
      expect.objectContaining({
        parts: [{ functionResponse: { id: 'c', name, response: { output: 'ok' } } }],
      }),
    ]),
  })
  test.each<Row>([
    [
      'a result is named after its call',
      'responses → generate-content',
      { input: [call, result] },
      nameOf('run'),
      [],
    ],
    [
      'and not after a namespace of its own',
      'responses → generate-content',
      { input: [call, { ...result, namespace: 'n' }] },
      nameOf('run'),
      ['field.unsupported /input/1/namespace'],
    ],
    [
      'a namespace alone is no name',
      'responses → generate-content',
      { input: [{ ...result, namespace: 'n' }] },
      nameOf('unknown_function'),
      ['field.unsupported /input/0/namespace'],
      { tools: { repair: 'keep' } },
    ],
  ])('%s', (...row) => holds(row))
})

describe('reasoning effort', () => {
  test.each<Row>([
    [
      'an unknown effort means nothing, and the budget applies',
      'messages → generate-content',
      {
        model: 'm',
        max_tokens: 9,
        messages: [{ role: 'user', content: 'hi' }],
        thinking: { type: 'enabled', budget_tokens: 2048 },
        output_config: { effort: 'odd' },
      },
      { generationConfig: { thinkingConfig: { thinkingBudget: 2048, includeThoughts: true } } },
      ['field.unsupported /output_config/effort', 'reasoning.shown /thinking/type'],
    ],
  ])('%s', (...row) => holds(row))
})

describe('penalties are below 2', () => {
  const ask = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
  const clamped = (...fields: string[]) => fields.map(field => `sampling.penalty-clamped /${field}`)
  test.each<Row>([
    [
      'the largest penalties of others',
      'chat-completions → generate-content',
      { ...ask, frequency_penalty: 2, presence_penalty: 2 },
      { generationConfig: { frequencyPenalty: 1.99, presencePenalty: 1.99 } },
      clamped('frequency_penalty', 'presence_penalty'),
    ],
    [
      'the smallest',
      'chat-completions → generate-content',
      { ...ask, frequency_penalty: -2, presence_penalty: 1.995 },
      { generationConfig: { frequencyPenalty: -2, presencePenalty: 1.995 } },
      [],
    ],
    [
      'a forbidden one, which the server refuses',
      'chat-completions → generate-content',
      { ...ask, frequency_penalty: 3 },
      { generationConfig: { frequencyPenalty: 3 } },
      [],
    ],
  ])('%s', (...row) => holds(row))
})

describe('strict functions', () => {
  const look = {
    type: 'object',
    properties: { q: { type: 'string' } },
    required: ['q'],
    additionalProperties: false,
  }
  const held = (...allowedFunctionNames: string[]) => ({
    ...declares(
      { name: 'a', parametersJsonSchema: look },
      {
        name: 'b',
        parametersJsonSchema: { ...look, properties: { q: { type: 'object', properties: {} } } },
      },
    ),
    toolConfig: {
      functionCallingConfig: {
        mode: 'VALIDATED',
        ...(allowedFunctionNames.length > 0 && { allowedFunctionNames }),
      },
    },
  })
  const asStrict = 'tool-choice.strict-tools /toolConfig/functionCallingConfig'
  const fn = (name: string) => ({ type: 'function', function: { name } })
  test.each<Row>([
    [
      'each tool with a closed schema says it',
      'generate-content → chat-completions',
      held(),
      {
        tools: [{ function: { name: 'a', strict: true } }, { function: { name: 'b' } }],
        tool_choice: 'auto',
      },
      [asStrict],
    ],
    [
      'each such flat tool says it',
      'generate-content → responses',
      held(),
      {
        tools: [
          { name: 'a', strict: true },
          { name: 'b', strict: false },
        ],
        tool_choice: 'auto',
      },
      [asStrict],
    ],
    [
      'each such tool of messages says it',
      'generate-content → messages',
      held(),
      {
        tools: [{ name: 'a', strict: true }, { name: 'b' }],
        tool_choice: { type: 'auto' },
      },
      [asStrict],
    ],
    [
      'and those that are named alone may be called',
      'generate-content → chat-completions',
      held('a'),
      {
        tools: [fn('a'), fn('b')],
        tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [fn('a')] } },
      },
      [asStrict],
    ],
    [
      'also among flat tools',
      'generate-content → responses',
      held('a', 'b'),
      {
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [
            { type: 'function', name: 'a' },
            { type: 'function', name: 'b' },
          ],
        },
      },
      [asStrict],
    ],
    [
      'or stand there alone',
      'generate-content → messages',
      held('a'),
      { tools: [{ name: 'a', strict: true }], tool_choice: { type: 'auto' } },
      [
        asStrict,
        'tool-choice.subset-filtered /toolConfig/functionCallingConfig',
        'tool-choice.subset-filtered /tools/0/functionDeclarations/1',
      ],
    ],
    [
      'a choice among some is the nearest to it',
      'responses → generate-content',
      {
        input: 'hi',
        tools: ['a', 'b'].map(name => ({
          type: 'function',
          name,
          parameters: look,
          strict: false,
        })),
        tool_choice: {
          type: 'allowed_tools',
          mode: 'auto',
          tools: [{ type: 'function', name: 'a' }],
        },
      },
      { toolConfig: { functionCallingConfig: { mode: 'VALIDATED', allowedFunctionNames: ['a'] } } },
      ['tool-choice.validated /tool_choice'],
    ],
  ])('%s', (...row) => holds(row))
})

describe('enum responses', () => {
  const wanted = (schema: object) => ({
    ...contents({ text: 'hi' }),
    generationConfig: { responseMimeType: 'text/x.enum', ...schema },
  })
  const older = wanted({ responseSchema: { type: 'STRING', enum: ['a', 'b'] } })
  const schema = { type: 'string', enum: ['a', 'b'] }
  const asJson = ['output.enum /generationConfig/responseMimeType']
  const wrapped = {
    type: 'object',
    properties: { value: schema },
    required: ['value'],
    additionalProperties: false,
  }
  const named = { type: 'json_schema', name: 'response', schema: wrapped }
  const inObject = [...asJson, 'output.wrapped /generationConfig/responseSchema']
  test.each<Row>([
    [
      'is JSON with such a schema',
      'generate-content → chat-completions',
      older,
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'response', schema: wrapped },
        },
      },
      inObject,
    ],
    [
      'among items, too',
      'generate-content → responses',
      older,
      { text: { format: named } },
      inObject,
    ],
    [
      'and among blocks',
      'generate-content → messages',
      older,
      { output_config: { format: { type: 'json_schema', schema } } },
      asJson,
    ],
    [
      'whatever the schema is called',
      'generate-content → responses',
      wanted({ responseJsonSchema: schema }),
      { text: { format: named } },
      [...asJson, 'output.wrapped /generationConfig/responseJsonSchema'],
    ],
    ['or stays what it is', 'generate-content → generate-content', older, older, []],
    [
      'without words it is nothing that others know',
      'generate-content → responses',
      wanted({}),
      absent('text'),
      ['field.unknown /generationConfig/responseMimeType'],
    ],
  ])('%s', (...row) => holds(row))
})

describe('the voice of a response', () => {
  const inVoice = (more: object = {}) => ({
    ...contents({ text: 'hi' }),
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } }, ...more },
    },
  })
  const voice = '/generationConfig/speechConfig/voiceConfig/prebuiltVoiceConfig/voiceName'
  const named = { modalities: ['audio'], audio: { voice: 'Kore', format: 'wav' } }
  const two = { multiSpeakerVoiceConfig: { speakerVoiceConfigs: [] } }
  test.each<Row>([
    [
      'is named there',
      'generate-content → chat-completions',
      inVoice(),
      named,
      [`output.voice ${voice}`],
    ],
    [
      'without the language of it',
      'generate-content → chat-completions',
      inVoice({ languageCode: 'de' }),
      named,
      ['field.unknown /generationConfig/speechConfig/languageCode', `output.voice ${voice}`],
    ],
    [
      'also in the other spelling',
      'generate-content → chat-completions',
      {
        ...contents({ text: 'hi' }),
        generation_config: {
          speech_config: { voice_config: { prebuilt_voice_config: { voice_name: 'Kore' } } },
        },
      },
      { audio: named.audio },
      [
        'output.voice /generation_config/speech_config/voice_config/prebuilt_voice_config/voice_name',
      ],
    ],
    [
      'of several speakers is nothing that others know',
      'generate-content → chat-completions',
      { ...contents({ text: 'hi' }), generationConfig: { speechConfig: two } },
      absent('audio'),
      ['field.unknown /generationConfig/speechConfig/multiSpeakerVoiceConfig'],
    ],
    [
      'images are requested with a value that some servers support',
      'generate-content → chat-completions',
      { ...contents({ text: 'hi' }), generationConfig: { responseModalities: ['TEXT', 'IMAGE'] } },
      { modalities: ['text', 'image'] },
      ['output.modality /generationConfig/responseModalities'],
    ],
    [
      'an unspecified kind is the default',
      'generate-content → chat-completions',
      {
        ...contents({ text: 'hi' }),
        generationConfig: { responseModalities: ['MODALITY_UNSPECIFIED'] },
      },
      absent('modalities'),
      [],
    ],
    [
      'text alone is the default for responses, and many chat servers refuse fields that they do not support',
      'generate-content → chat-completions',
      { ...contents({ text: 'hi' }), generationConfig: { responseModalities: ['TEXT'] } },
      absent('modalities'),
      [],
    ],
    [
      'and comes from there',
      'chat-completions → generate-content',
      {
        model: 'm',
        messages: [{ role: 'user', content: 'hi' }],
        modalities: ['text', 'audio'],
        audio: { voice: 'alloy', format: 'wav' },
      },
      {
        generationConfig: {
          responseModalities: ['TEXT', 'AUDIO'],
          speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'alloy' } } },
        },
      },
      ['output.voice /audio'],
    ],
    [
      'is lost among items',
      'generate-content → responses',
      inVoice(),
      {},
      [`field.unsupported ${voice}`, 'field.unsupported /generationConfig/responseModalities'],
    ],
    [
      'and among blocks',
      'generate-content → messages',
      inVoice(),
      {},
      [`field.unsupported ${voice}`, 'field.unsupported /generationConfig/responseModalities'],
    ],
  ])('%s', (...row) => holds(row))

  test('sends the streaming audio format for a stream', () => {
    const { written } = reported('generate-content → chat-completions', inVoice(), {
      path: '/v1beta/models/m:streamGenerateContent',
    })
    expect(written).toMatchObject({ audio: { voice: 'Kore', format: 'pcm16' }, stream: true })
  })
})

test.each([
  ['application/pdf', true],
  ['image/PNG', true],
  ['image/bmp', false],
  ['text/csv', false],
  ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', false],
])('messages fetch an address of type %s: %s', (mimeType, fetched) => {
  const at = '/contents/0/parts/1'
  const { written, notes } = reported(
    'generate-content → messages',
    contents({ text: 'see' }, { fileData: { fileUri: 'https://example.org/a', mimeType } }),
  )
  expect(JSON.stringify(written).includes('https://example.org/a')).toBe(fetched)
  expect(notes).toEqual(fetched ? [] : [`media.unsupported ${at}`])
})
