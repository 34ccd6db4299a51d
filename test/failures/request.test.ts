import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/api.ts'
import { TranslationError } from '../../src/errors.ts'
import { type Covered, covered } from '../support/covered.ts'
import {
  assistant,
  call,
  calling,
  content,
  each,
  item,
  pdf,
  png,
  type Row,
  received,
  reported,
  response,
  result,
  spoken,
  text,
  use,
  user,
  type Wire,
} from './asking.ts'

const x: Record<Covered, Wire> = {
  'chat-completions': { messages: [user('x')] },
  messages: { messages: [user('x')] },
  responses: { input: [item('user', 'x')] },
  'generate-content': { contents: [content('user', { text: 'x' })] },
}
const system = (content: unknown) => ({ role: 'system', content })
const developer = (content: unknown) => ({ role: 'developer', content })
const jpeg = '/9j/4AAQ'
const shape = {
  type: 'object',
  properties: { a: { type: 'integer' } },
  required: ['a'],
  additionalProperties: false,
}
const mark = { cache_control: { type: 'ephemeral' } }
const breakpoint = { prompt_cache_breakpoint: { mode: 'explicit' } }

const rows: Row[] = [
  ...['HALT', ['HALT']].map(
    (stop): Row => [
      `a stop sequence (${JSON.stringify(stop)}) stops, or is noted`,
      'chat-completions',
      { ...x['chat-completions'], stop },
      {
        messages: [{ ...x.messages, stop_sequences: ['HALT'] }],
        responses: [x.responses, 'dropped /stop field.unsupported'],
      },
    ],
  ),
  [
    'five stop sequences become four where no more are accepted, with a note',
    'messages',
    { ...x.messages, stop_sequences: ['A', 'B', 'C', 'D', 'E'] },
    {
      'chat-completions': [
        { ...x['chat-completions'], stop: ['A', 'B', 'C', 'D'] },
        'approximated /stop_sequences stop.too-many',
      ],
      responses: [x.responses, 'dropped /stop_sequences field.unsupported'],
    },
  ],
  [
    'a fraction that only Google takes is left out toward servers that refuse one',
    'generate-content',
    { ...x['generate-content'], generationConfig: { topK: 0.5 } },
    {
      messages: [{ ...x.messages, stream: false }, 'dropped /generationConfig/topK field.unknown'],
    },
  ],
  [
    'a budget for reasoning that is a fraction is no budget',
    'chat-completions',
    { ...x['chat-completions'], thinking_budget: 0.5 },
    { 'generate-content': [x['generate-content'], 'dropped /thinking_budget field.unknown'] },
  ],
  [
    'no stop sequences are no list that a server refuses',
    'messages',
    { ...x.messages, stop_sequences: [] },
    { 'chat-completions': [x['chat-completions']], responses: [x.responses] },
  ],
  [
    'an unsupported lifetime of a mark is noted at its path',
    'messages',
    { system: [text('S', { cache_control: { type: 'ephemeral', ttl: '1h' } })], ...x.messages },
    {
      'chat-completions': [
        { messages: [system([text('S', breakpoint)]), user('x')] },
        'approximated /system/0/cache_control/ttl cache.ttl',
      ],
      responses: [
        {
          input: [
            item('system', { type: 'input_text', text: 'S', ...breakpoint }),
            item('user', 'x'),
          ],
        },
        'approximated /system/0/cache_control/ttl cache.ttl',
      ],
    },
    { chatCompletions: { cacheMarks: 'write' } },
  ],
  [
    'an instruction in mid-conversation stays where it is',
    'messages',
    { messages: [user('a'), assistant('b'), system('N'), user('c')] },
    {
      'chat-completions': [
        { messages: [user('a'), assistant('b'), user([text('<system>N</system>'), text('c')])] },
        'approximated /messages/2 system.mid-conversation-as-user',
      ],
      responses: [
        { input: [item('user', 'a'), spoken('b'), item('system', 'N'), item('user', 'c')] },
      ],
    },
  ],
  [
    'an instruction in mid-conversation is marked text for servers that know none there',
    'chat-completions',
    { messages: [system('S'), user('a'), assistant('b'), system('N'), user('c')] },
    {
      messages: [
        {
          system: 'S',
          messages: [user('a'), assistant('b'), user([text('<system>N</system>'), text('c')])],
        },
        'approximated /messages/3 system.mid-conversation-as-user',
      ],
      responses: [
        {
          input: [
            item('system', 'S'),
            item('user', 'a'),
            spoken('b'),
            item('system', 'N'),
            item('user', 'c'),
          ],
        },
      ],
    },
  ],
  [
    'every instruction before the conversation arrives once, in order',
    'chat-completions',
    { messages: [system('S-1 👋🏽'), developer('D-2'), user('x')] },
    {
      messages: [
        { system: [text('S-1 👋🏽'), text('D-2')], ...x.messages },
        'approximated /messages/1/role system.developer-role',
      ],
      responses: [
        { input: [item('system', 'S-1 👋🏽'), item('developer', 'D-2'), item('user', 'x')] },
      ],
    },
  ],
  [
    'developer items beside instructions are not lost',
    'responses',
    {
      instructions: 'I',
      input: [item('developer', 'P-1', 'P-2'), item('developer', 'P-3'), item('user', 'x')],
    },
    {
      'chat-completions': [
        { messages: [system([text('I'), text('P-1'), text('P-2'), text('P-3')]), user('x')] },
        'approximated /input/0/role system.developer-role',
        'approximated /input/0 system.joined',
        'approximated /input/1 system.joined',
      ],
      messages: [
        { system: [text('I'), text('P-1'), text('P-2'), text('P-3')], ...x.messages },
        'approximated /input/0/role system.developer-role',
      ],
    },
  ],
  [
    'a system prompt of blocks is not turned into its JSON',
    'messages',
    { system: [text('S'), text('T')], ...x.messages },
    {
      'chat-completions': [{ messages: [system([text('S'), text('T')]), user('x')] }],
      responses: [{ input: [item('system', 'S', 'T'), item('user', 'x')] }],
    },
  ],
  [
    'text of nothing beside a call is no block that is refused for ever',
    'chat-completions',
    {
      messages: [
        user('x'),
        { ...calling(call('a')), content: '' },
        response('a', [text(''), text('r')]),
      ],
    },
    { messages: [{ messages: [user('x'), assistant([use('a')]), user([result('a', 'r')])] }] },
  ],
  [
    'text of blanks alone is left out, with a note',
    'chat-completions',
    { messages: [user('x'), { ...calling(call('a')), content: ' \n' }, response('a', 'r')] },
    {
      messages: [
        { messages: [user('x'), assistant([use('a')]), user([result('a', 'r')])] },
        'dropped /messages/1/content text.blank',
      ],
    },
  ],
  [
    'an image that was pasted without text is only an image',
    'chat-completions',
    {
      messages: [
        user([
          text(''),
          { type: 'image_url', image_url: { url: `data:image/webp;base64,${png}` } },
        ]),
      ],
    },
    {
      messages: [
        {
          messages: [
            user([
              { type: 'image', source: { type: 'base64', media_type: 'image/webp', data: png } },
            ]),
          ],
        },
      ],
    },
  ],
  ...[
    [`data:image/jpg;base64,${jpeg}`, 'image/jpeg', jpeg],
    [`DATA:IMAGE/PNG;BASE64,${png}`, 'image/png', png],
    [`data:;base64,${png}`, 'image/png', png],
    [`data:image/jpeg;charset=utf-8;base64,${jpeg}`, 'image/jpeg', jpeg],
    ['data:image/gif,GIF89a%00', 'image/gif', 'R0lGODlhAA=='],
  ].map(
    ([url = '', media_type = '', data = '']): Row => [
      `an image in the spelling ${url.slice(0, 24)}… is bytes and a type that servers know`,
      'chat-completions',
      { messages: [user([{ type: 'image_url', image_url: { url } }])] },
      {
        messages: [
          { messages: [user([{ type: 'image', source: { type: 'base64', media_type, data } }])] },
        ],
        responses: [
          {
            input: [
              item('user', {
                type: 'input_image',
                image_url: `data:${media_type};base64,${data}`,
                detail: 'auto',
              }),
            ],
          },
        ],
      },
    ],
  ),
  ...['data:image/png', 'data:image/svg+xml,<svg/>'].map(
    (url): Row => [
      `an image that is invalid here (${url}) is no URL, and noted`,
      'chat-completions',
      { messages: [user([text('a'), { type: 'image_url', image_url: { url } }])] },
      { messages: [{ messages: [user('a')] }, 'dropped /messages/0/content/1 media.unsupported'] },
    ],
  ),
  [
    'an image by URL stays one, with commas or not',
    'chat-completions',
    {
      messages: [user([{ type: 'image_url', image_url: { url: 'https://images.test/a,b.png' } }])],
    },
    {
      messages: [
        {
          messages: [
            user([{ type: 'image', source: { type: 'url', url: 'https://images.test/a,b.png' } }]),
          ],
        },
      ],
      responses: [
        {
          input: [
            item('user', {
              type: 'input_image',
              image_url: 'https://images.test/a,b.png',
              detail: 'auto',
            }),
          ],
        },
      ],
    },
  ],
  [
    'a document is not left out of the question',
    'chat-completions',
    {
      messages: [
        user([
          {
            type: 'file',
            file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${pdf}` },
          },
          text('sum'),
        ]),
      ],
    },
    {
      messages: [
        {
          messages: [
            user([
              {
                type: 'document',
                source: { type: 'base64', media_type: 'application/pdf', data: pdf },
                title: 'a.pdf',
              },
              text('sum'),
            ]),
          ],
        },
        'approximated /messages/0/content/0/file/filename media.filename-as-title',
      ],
      responses: [
        {
          input: [
            item(
              'user',
              {
                type: 'input_file',
                filename: 'a.pdf',
                file_data: `data:application/pdf;base64,${pdf}`,
              },
              'sum',
            ),
          ],
        },
      ],
    },
  ],
  [
    'a document by URL is kept or noted',
    'responses',
    { input: [item('user', { type: 'input_file', file_url: 'https://papers.test/a.pdf' }, 'sum')] },
    {
      messages: [
        {
          messages: [
            user([
              { type: 'document', source: { type: 'url', url: 'https://papers.test/a.pdf' } },
              text('sum'),
            ]),
          ],
        },
      ],
      'chat-completions': [
        { messages: [user('sum')] },
        'dropped /input/0/content/0 part.unsupported',
      ],
    },
  ],
  [
    'marks for the cache are kept where they are allowed, and noted elsewhere',
    'messages',
    {
      system: [text('S', mark)],
      messages: [user([text('x', mark)]), assistant([text('a', mark)]), user('y')],
    },
    {
      'chat-completions': [
        {
          messages: [
            system([text('S', breakpoint)]),
            user([text('x', breakpoint)]),
            assistant('a'),
            user('y'),
          ],
        },
        'dropped /messages/1/content/0/cache_control cache.unsupported',
      ],
      responses: [
        {
          input: [
            item('system', { type: 'input_text', text: 'S', ...breakpoint }),
            item('user', { type: 'input_text', text: 'x', ...breakpoint }),
            spoken('a'),
            item('user', 'y'),
          ],
        },
        'dropped /messages/1/content/0/cache_control cache.unsupported',
      ],
    },
    { chatCompletions: { cacheMarks: 'write' } },
  ],
  [
    'of six marks for the cache four are kept: that of the instructions and the last ones',
    'chat-completions',
    {
      messages: [
        system([text('S', breakpoint)]),
        user([text('1', breakpoint), text('2', breakpoint)]),
        assistant('a'),
        user(['3', '4', '5'].map(of => text(of, breakpoint))),
      ],
    },
    {
      messages: [
        {
          system: [text('S', mark)],
          messages: [
            user([text('1'), text('2')]),
            assistant('a'),
            user(['3', '4', '5'].map(of => text(of, mark))),
          ],
        },
        'dropped /messages/1/content/0/prompt_cache_breakpoint cache.too-many',
        'dropped /messages/1/content/1/prompt_cache_breakpoint cache.too-many',
      ],
    },
  ],
  [
    'no marks are written for servers that are not known to accept them',
    'messages',
    { system: [text('S', { cache_control: { type: 'ephemeral', ttl: '1h' } })], ...x.messages },
    {
      'chat-completions': [
        { messages: [system('S'), user('x')] },
        'dropped /system/0/cache_control cache.unsupported',
      ],
    },
  ],
  [
    'a temperature above the highest becomes the highest, with a note',
    'chat-completions',
    { ...x['chat-completions'], temperature: 1.7 },
    {
      messages: [
        { ...x.messages, temperature: 1 },
        'approximated /temperature sampling.temperature-clamped',
      ],
      responses: [{ ...x.responses, temperature: 1.7 }],
    },
  ],
  [
    'no temperature is sent beside thinking',
    'chat-completions',
    { ...x['chat-completions'], temperature: 0.7, reasoning_effort: 'high' },
    {
      messages: [
        { ...x.messages, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
        'dropped /temperature sampling.with-thinking',
      ],
    },
  ],
]

test.each(each(rows))('$seen: $from → $to', ({ from, to, asks, options, wanted }) => {
  expect(reported(from, to, asks, options)).toEqual(wanted)
})

const between = covered.flatMap(from => covered.filter(to => to !== from).map(to => ({ from, to })))

describe.each(between)('$from → $to', ({ from, to }) => {
  const formats: Record<Covered, Wire> = {
    'chat-completions': {
      response_format: { type: 'json_schema', json_schema: { name: 'result', schema: shape } },
    },
    responses: { text: { format: { type: 'json_schema', name: 'result', schema: shape } } },
    messages: { output_config: { format: { type: 'json_schema', schema: shape } } },
    'generate-content': {
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: shape },
    },
  }
  test('never drops a response schema', () => {
    const { body, notes, faults } = reported(from, to, { ...x[from], ...formats[from] })
    const names = (protocol: Covered) => JSON.stringify(formats[protocol]).includes('"result"')
    const named = JSON.parse(
      JSON.stringify(formats[to]).replace('"result"', names(from) ? '"result"' : '"response"'),
    ) as Wire
    expect(body).toMatchObject(named)
    const made = to === 'responses' ? '/text/format/name' : '/response_format/json_schema/name'
    expect({ notes, faults }).toEqual({
      notes: !names(from) && names(to) ? [`synthesized ${made} schema.name`] : [],
      faults: [],
    })
  })

  const limits: Record<Covered, string> = {
    'chat-completions': 'max_completion_tokens',
    responses: 'max_output_tokens',
    messages: 'max_tokens',
    'generate-content': 'maxOutputTokens',
  }
  const limited = (limit: Wire): Wire =>
    from === 'generate-content' ? { generationConfig: limit } : limit
  test('sends the output limit once, under the name that the target expects', () => {
    const { body, faults } = received(from, to, {
      ...x[from],
      ...limited({ [limits[from]]: 1_234 }),
    })
    const places = { ...body, ...(body['generationConfig'] as Wire | undefined) }
    const found = [
      'max_tokens',
      'max_completion_tokens',
      'max_output_tokens',
      'maxOutputTokens',
    ].flatMap(key => (key in places ? [[key, places[key]]] : []))
    expect({ found, faults }).toEqual({ found: [[limits[to], 1_234]], faults: [] })
  })

  test('adds a required limit to every request, and `store: false`', () => {
    const { body, notes } = received(from, to, x[from])
    const { messages: _m, input: _i, contents: _c, ...rest } = body
    const given = {
      'chat-completions': [from === 'messages' ? { max_completion_tokens: 1_000 } : {}],
      responses: [
        {
          ...(from === 'messages' && { max_output_tokens: 1_000 }),
          store: false,
          include: ['reasoning.encrypted_content'],
        },
        'synthesized /store store.default',
        'synthesized /include reasoning.include-encrypted',
      ],
      messages: [{ max_tokens: 32_000 }, 'synthesized /max_tokens max-tokens.default'],
      'generate-content': [
        from === 'messages' ? { generationConfig: { maxOutputTokens: 1_000 } } : {},
      ],
    }[to] as [Wire, ...string[]]
    expect({ rest, notes }).toEqual({
      rest: {
        ...(to !== 'generate-content' && { model: 'm-1' }),
        ...given[0],
        ...(from === 'generate-content' && { stream: false }),
      },
      notes: given.slice(1),
    })
  })
})

test.each<[param: string, asks: Wire]>([
  ['/previous_response_id', { input: 'x', previous_response_id: 'resp_1' }],
  ['/conversation', { input: 'x', conversation: 'conv_1' }],
  ['/prompt', { input: 'x', prompt: { id: 'pmpt_1' } }],
  ['/background', { input: 'x', background: true }],
  ['/input/1', { input: [user('x'), { type: 'item_reference', id: 'msg_1' }] }],
])('refuses to continue a conversation that only its provider stores (%s)', (param, asks) => {
  for (const to of covered.filter(name => name !== 'responses')) {
    let thrown: unknown
    try {
      translateRequest({ model: 'm-1', ...asks }, { from: 'responses', to })
    } catch (error) {
      thrown = error
    }
    expect(TranslationError.is(thrown) && { code: thrown.code, path: thrown.path }).toEqual({
      code: 'inexpressible',
      path: param,
    })
  }
})

test.each<[field: string, value: unknown, lost: Covered[]]>([
  ['n', 3, ['messages', 'responses']],
  ['seed', 7, ['messages', 'responses']],
  ['logit_bias', { 50256: -100 }, ['messages', 'responses', 'generate-content']],
  ['frequency_penalty', 0.5, ['messages', 'responses']],
  ['presence_penalty', 0.5, ['messages', 'responses']],
  ['stop', ['END'], ['responses']],
  ['metadata', { run: '7' }, ['messages', 'generate-content']],
  ['verbosity', 'low', ['messages', 'generate-content']],
  ['prediction', { type: 'content', content: 'p' }, ['messages', 'responses', 'generate-content']],
  ['prompt_cache_key', 'k', ['messages', 'generate-content']],
  ['newest_field', 1, ['messages', 'responses', 'generate-content']],
])('drops %s with a note, and strict refuses it', (field, value, lost) => {
  for (const to of covered.filter(name => name !== 'chat-completions')) {
    const asks = { ...x['chat-completions'], [field]: value }
    const { notes } = reported('chat-completions', to, asks)
    const dropped = notes.filter(note => note.startsWith(`dropped /${field} `))
    expect({ to, dropped: dropped.length, all: notes.length }).toEqual(
      lost.includes(to) ? { to, dropped: 1, all: 1 } : { to, dropped: 0, all: 0 },
    )
    const refused = () => reported('chat-completions', to, asks, { strict: true })
    if (lost.includes(to)) expect(refused).toThrow(TranslationError)
    else expect(refused).not.toThrow()
  }
})
