import { translateRequest, translateResponse } from 'wireglot'

// A chat client asks …
const { body, notes, context } = translateRequest(
  { model: 'some-model', seed: 7, messages: [{ role: 'user', content: 'Hello' }] },
  { from: 'chat-completions', to: 'messages' },
)
console.log(body) // { model: 'some-model', max_tokens: 32000, messages: [ … ] }
for (const { kind, path, code } of notes) console.log(kind, path, code) // synthesized /max_tokens …, dropped /seed …

// … and the upstream's response is translated back.
const response = translateResponse(
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'some-model',
    content: [{ type: 'text', text: 'Hi!' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 8, output_tokens: 3 },
  },
  { from: 'messages', to: 'chat-completions', context },
)
console.log(response.body) // { id: 'msg_1', object: 'chat.completion', choices: [ … ], … }
