import { describe, expect, test } from 'vitest'
import {
  assistant,
  call,
  called,
  calling,
  each,
  item,
  output,
  pdf,
  png,
  type Row,
  reported,
  response,
  result,
  spoken,
  text,
  use,
  user,
} from './asking.ts'

const dataUrl = `data:image/png;base64,${png}`
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } }
const chatImage = { type: 'image_url', image_url: { url: dataUrl } }
const inputImage = { type: 'input_image', image_url: dataUrl, detail: 'auto' }

const order: Row[] = [
  [
    'a session is not poisoned by tool results that stand before the text of the user',
    'messages',
    {
      messages: [
        user('go'),
        assistant([use('a', { at: 'A' }), use('b', { at: 'B' })]),
        user([result('a', 'one'), result('b', 'two'), text('and?')]),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            calling(call('a', '{"at":"A"}'), call('b', '{"at":"B"}')),
            response('a', 'one'),
            response('b', 'two'),
            user('and?'),
          ],
        },
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            called('a', '{"at":"A"}'),
            called('b', '{"at":"B"}'),
            output('a', 'one'),
            output('b', 'two'),
            item('user', 'and?'),
          ],
        },
      ],
    },
  ],
  [
    'results after the text of the user are put before it, with a note',
    'messages',
    {
      messages: [user('go'), assistant([use('a')]), user([text('by the way'), result('a', 'one')])],
    },
    {
      'chat-completions': [
        { messages: [user('go'), calling(call('a')), response('a', 'one'), user('by the way')] },
        'approximated /messages/2/content/1 tool-result.moved',
      ],
      responses: [
        {
          input: [item('user', 'go'), called('a'), item('user', 'by the way'), output('a', 'one')],
        },
      ],
    },
  ],
  [
    'one user message for each result is no harm',
    'messages',
    {
      messages: [
        user('go'),
        assistant([use('a'), use('b')]),
        user([result('a', 'one')]),
        user([result('b', 'two')]),
        user('and?'),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            calling(call('a'), call('b')),
            response('a', 'one'),
            response('b', 'two'),
            user('and?'),
          ],
        },
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            called('a'),
            called('b'),
            output('a', 'one'),
            output('b', 'two'),
            item('user', 'and?'),
          ],
        },
      ],
    },
  ],
  [
    'an instruction between a call and its result does not part them',
    'messages',
    {
      messages: [
        user('go'),
        assistant([use('a')]),
        { role: 'system', content: 'be brief' },
        user([result('a', 'one')]),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            calling(call('a')),
            response('a', 'one'),
            user('<system>be brief</system>'),
          ],
        },
        'approximated /messages/3/content/0 tool-result.moved',
        'approximated /messages/2 system.mid-conversation-as-user',
      ],
      responses: [
        {
          input: [item('user', 'go'), called('a'), item('system', 'be brief'), output('a', 'one')],
        },
      ],
    },
  ],
  [
    'a word of the user between a call and its result does not part them',
    'responses',
    { input: [user('go'), called('a'), user('wait'), output('a', 'one')] },
    {
      'chat-completions': [
        { messages: [user('go'), calling(call('a')), response('a', 'one'), user('wait')] },
        'approximated /input/3 tool-result.moved',
      ],
      messages: [
        { messages: [user('go'), assistant([use('a')]), user([result('a', 'one'), text('wait')])] },
        'approximated /input/3 tool-result.moved',
      ],
    },
  ],
  [
    'results of parallel calls come back in one message, in the order of the calls, before the text',
    'chat-completions',
    {
      messages: [
        user('go'),
        { ...calling(call('a'), call('b')), content: 'ok' },
        response('b', 'two'),
        response('a', 'one'),
        user('so?'),
        user('hm?'),
      ],
    },
    {
      messages: [
        {
          messages: [
            user('go'),
            assistant([text('ok'), use('a'), use('b')]),
            user([result('a', 'one'), result('b', 'two'), text('so?'), text('hm?')]),
          ],
        },
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            spoken('ok'),
            called('a'),
            called('b'),
            output('b', 'two'),
            output('a', 'one'),
            item('user', 'so?'),
            item('user', 'hm?'),
          ],
        },
      ],
    },
  ],
  [
    'calls that came one message each are one turn, and their results one message',
    'chat-completions',
    {
      messages: [
        user('go'),
        calling(call('a')),
        calling(call('b')),
        response('a', 'one'),
        response('b', 'two'),
      ],
    },
    {
      messages: [
        {
          messages: [
            user('go'),
            assistant([use('a'), use('b')]),
            user([result('a', 'one'), result('b', 'two')]),
          ],
        },
      ],
    },
  ],
  [
    'items of parallel calls are one turn; their reasoning is no message of the user',
    'responses',
    {
      input: [
        user('go'),
        {
          type: 'reasoning',
          id: 'rs_1',
          summary: [{ type: 'summary_text', text: 'Two looks.' }],
          encrypted_content: 'gAAAA',
        },
        called('a'),
        called('b'),
        output('a', 'one'),
        output('b', 'two'),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            { ...calling(call('a'), call('b')), reasoning_content: 'Two looks.' },
            response('a', 'one'),
            response('b', 'two'),
          ],
        },
        'dropped /input/1/encrypted_content reasoning.foreign-signature',
        'dropped /input/1/id message.ids',
        'approximated /input/1 reasoning.dialect-field',
      ],
      messages: [
        {
          messages: [
            user('go'),
            assistant([use('a'), use('b')]),
            user([result('a', 'one'), result('b', 'two')]),
          ],
        },
        'dropped /input/1 reasoning.foreign-signature',
      ],
    },
  ],
  [
    'one call after another stays one turn after another',
    'responses',
    {
      input: [
        user('go'),
        { role: 'assistant', content: 'first' },
        called('a'),
        output('a', 'one'),
        called('b'),
        output('b', 'two'),
        user('so?'),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            { ...calling(call('a')), content: 'first' },
            response('a', 'one'),
            calling(call('b')),
            response('b', 'two'),
            user('so?'),
          ],
        },
      ],
      messages: [
        {
          messages: [
            user('go'),
            assistant([text('first'), use('a')]),
            user([result('a', 'one')]),
            assistant([use('b')]),
            user([result('b', 'two'), text('so?')]),
          ],
        },
      ],
    },
  ],
  [
    'an item of an unknown kind becomes no message of the user',
    'responses',
    { input: [user('go'), { type: 'newest_item', note: 1 }, called('a'), output('a', 'one')] },
    {
      'chat-completions': [
        { messages: [user('go'), calling(call('a')), response('a', 'one')] },
        'dropped /input/1 part.unknown',
      ],
      messages: [
        { messages: [user('go'), assistant([use('a')]), user([result('a', 'one')])] },
        'dropped /input/1 part.unknown',
      ],
    },
  ],
  [
    'text after a call is not dropped, the result still follows the call, and the changed order is noted',
    'messages',
    {
      messages: [
        user('go'),
        assistant([text('I look. '), use('a'), text('It runs.')]),
        user([result('a', 'one')]),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            { ...calling(call('a')), content: 'I look. It runs.' },
            response('a', 'one'),
          ],
        },
        'approximated /messages/1 parts.order-lost',
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            spoken('I look. '),
            called('a'),
            spoken('It runs.'),
            output('a', 'one'),
          ],
        },
      ],
    },
  ],
  [
    'text between two calls is not lost either',
    'responses',
    {
      input: [
        user('go'),
        called('a'),
        { role: 'assistant', content: 'one more' },
        called('b'),
        output('a', '1'),
        output('b', '2'),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            { ...calling(call('a'), call('b')), content: 'one more' },
            response('a', '1'),
            response('b', '2'),
          ],
        },
        'approximated /input/1 parts.order-lost',
      ],
      messages: [
        {
          messages: [
            user('go'),
            assistant([use('a'), text('one more'), use('b')]),
            user([result('a', '1'), result('b', '2')]),
          ],
        },
      ],
    },
  ],
]

const results: Row[] = [
  [
    'the model gets the image of a tool, and the results still follow the calls',
    'messages',
    {
      messages: [
        user('go'),
        assistant([use('a'), use('b')]),
        user([result('a', [text('shot'), image]), result('b', [image]), text('so?')]),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            calling(call('a'), call('b')),
            response('a', 'shot'),
            response('b', ''),
            user([text('[image for a]'), chatImage, text('[image for b]'), chatImage]),
            user('so?'),
          ],
        },
        'approximated /messages/2/content/0/content/1 tool-result.media-moved',
        'approximated /messages/2/content/1/content/0 tool-result.media-moved',
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            called('a'),
            called('b'),
            output('a', [{ type: 'input_text', text: 'shot' }, inputImage]),
            output('b', [inputImage]),
            item('user', 'so?'),
          ],
        },
      ],
    },
  ],
  [
    'the model reads the document that a tool gave',
    'messages',
    {
      messages: [
        user('go'),
        assistant([use('a')]),
        user([
          result('a', [
            {
              type: 'document',
              source: { type: 'base64', media_type: 'application/pdf', data: pdf },
            },
          ]),
        ]),
      ],
    },
    {
      'chat-completions': [
        {
          messages: [
            user('go'),
            calling(call('a')),
            response('a', ''),
            user([
              text('[document for a]'),
              {
                type: 'file',
                file: { file_data: `data:application/pdf;base64,${pdf}`, filename: 'file.pdf' },
              },
            ]),
          ],
        },
        'approximated /messages/2/content/0/content/0 tool-result.media-moved',
        'synthesized /messages/3/content/1/file/filename media.filename',
      ],
      responses: [
        {
          input: [
            item('user', 'go'),
            called('a'),
            output('a', [
              {
                type: 'input_file',
                file_data: `data:application/pdf;base64,${pdf}`,
                filename: 'file.pdf',
              },
            ]),
          ],
        },
        'synthesized /input/2/output/0/filename media.filename',
      ],
    },
  ],
  [
    'images in the output of a function arrive, also those by URL',
    'responses',
    {
      input: [
        user('go'),
        called('a'),
        output('a', [
          { type: 'input_text', text: 'shots' },
          inputImage,
          { type: 'input_image', image_url: 'https://images.test/b.png', detail: 'auto' },
        ]),
      ],
    },
    {
      messages: [
        {
          messages: [
            user('go'),
            assistant([use('a')]),
            user([
              result('a', [
                text('shots'),
                image,
                { type: 'image', source: { type: 'url', url: 'https://images.test/b.png' } },
              ]),
            ]),
          ],
        },
      ],
    },
  ],
  ...[undefined, null, '', [], [text('')]].map(
    (content): Row => [
      `a result of nothing (${JSON.stringify(content)}) is still a result`,
      'messages',
      { messages: [user('go'), assistant([use('a')]), user([result('a', content)])] },
      {
        'chat-completions': [{ messages: [user('go'), calling(call('a')), response('a', '')] }],
        responses: [{ input: [item('user', 'go'), called('a'), output('a', '')] }],
      },
    ],
  ),
  ...[undefined, null, '', []].map(
    (content): Row => [
      `a tool message of nothing (${JSON.stringify(content)}) is still a result`,
      'chat-completions',
      { messages: [user('go'), calling(call('a')), response('a', content)] },
      {
        messages: [
          {
            messages: [
              user('go'),
              assistant([use('a')]),
              user([{ type: 'tool_result', tool_use_id: 'a' }]),
            ],
          },
        ],
        responses: [{ input: [item('user', 'go'), called('a'), output('a', '')] }],
      },
    ],
  ),
  ...[undefined, null, '', []].map(
    (content): Row => [
      `an output of nothing (${JSON.stringify(content)}) is still a result`,
      'responses',
      { input: [user('go'), called('a'), output('a', content)] },
      {
        messages: [
          {
            messages: [
              user('go'),
              assistant([use('a')]),
              user([{ type: 'tool_result', tool_use_id: 'a' }]),
            ],
          },
        ],
        'chat-completions': [{ messages: [user('go'), calling(call('a')), response('a', '')] }],
      },
    ],
  ),
]

describe('calls and results', () => {
  test.each(each([...order, ...results]))(
    '$seen: $from → $to',
    ({ from, to, asks, options, wanted }) => {
      expect(reported(from, to, asks, options)).toEqual(wanted)
    },
  )
})
