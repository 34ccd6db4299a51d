import { type Example, makers } from './example.ts'
import { blocks, chat, detailed, items, overloaded } from './wires.ts'

const asks = makers('messages')
const user = { role: 'user', content: 'hi' }
const assistant = { role: 'assistant', content: 'yes' }

/** One for each note that all codecs may make. */
export const examples: Record<string, Example> = {
  'field.unsupported': asks.request('chat-completions')(chat.request({ seed: 7 })),
  'field.unknown': asks.request('chat-completions')(chat.request({ novelty: 1 })),
  'part.unsupported': makers('chat-completions').request('messages')(
    blocks.says({
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'document', source: { type: 'url', url: 'https://example.org/a.pdf' } },
      ],
    }),
  ),
  'part.unknown': asks.request('chat-completions')(
    chat.says({ role: 'user', content: [{ type: 'text', text: 'hi' }, { type: 'novelty' }] }),
  ),
  'part.foreign': asks.request('chat-completions')(
    chat.says({ role: 'user', content: [{ type: 'input_text', text: 'hi' }] }),
  ),
  'tool.unknown': asks.request('chat-completions')(
    chat.request({ tools: [chat.tool('look'), { type: 'novelty' }] }),
  ),
  'state.unresolvable': makers('chat-completions').request('responses')(
    items.request({ previous_response_id: 'resp_1' }),
    { onUnresolvable: 'note' },
  ),
  'system.developer-role': asks.request('chat-completions')(
    chat.says({ role: 'developer', content: 'be terse' }, user),
    {},
    [],
    {
      shows: { target: '/system' },
    },
  ),
  'system.joined': makers('chat-completions').request('responses')(
    items.says(
      { role: 'system', content: 'be terse' },
      { role: 'system', content: 'be kind' },
      user,
    ),
  ),
  'system.mid-conversation-as-user': asks.request('chat-completions')(
    chat.says(user, assistant, { role: 'system', content: 'be terse' }, user),
  ),
  'system.hoisted': asks.request('chat-completions')(
    chat.says(user, assistant, { role: 'system', content: 'be terse' }, user),
    {
      chatCompletions: { systemPlacement: 'hoist' },
      messages: { systemPlacement: 'hoist' },
      generateContent: { systemPlacement: 'hoist' },
    },
    [],
    {
      shows: { target: '/system' },
    },
  ),
  'tool.renamed': asks.request('chat-completions')(chat.request({ tools: [chat.tool('my tool')] })),
  'tool.namespace': asks.request('responses')(
    items.request({ tools: [{ type: 'namespace', name: 'n', tools: [items.tool('find')] }] }),
  ),
  'freeform.wrapped': asks.request('chat-completions')(
    chat.request({ tools: [{ type: 'custom', custom: { name: 'sh' } }] }),
  ),
  'tool-call.id': makers('messages').request('chat-completions')(
    chat.says(
      { role: 'user', content: 'hi' },
      { role: 'assistant', tool_calls: [chat.call('a b', '{}')] },
      { role: 'tool', tool_call_id: 'a b', content: 'done' },
    ),
  ),
  'tool-result.flattened': makers('chat-completions').request('messages')(
    blocks.says(
      { role: 'user', content: 'hi' },
      { role: 'assistant', content: [blocks.call('c1')] },
      {
        role: 'user',
        content: [blocks.result('c1', [{ type: 'tool_reference', tool_name: 'look' }])],
      },
    ),
  ),
  'tool-result.synthesized': makers('chat-completions').request('responses')(
    items.says({ role: 'user', content: 'hi' }, items.call('c1', '{}')),
  ),
  'event.progress': makers('chat-completions').stream('responses')([
    ...items.opening,
    { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1' },
    ...items.ending('yes'),
  ]),
  'event.unknown': makers('responses').stream('messages')(
    blocks.stream([{ type: 'novelty' }, ...blocks.block(0, { type: 'text', text: 'yes' })]),
    {},
    ['response.created'],
  ),
  'message.name': asks.request('chat-completions')(
    chat.says({ role: 'user', content: 'hi', name: 'alice' }),
  ),
  'message.envelope': asks.request('responses')(
    items.says(
      { ...items.text('yes'), id: 'msg_1', status: 'completed' },
      { role: 'user', content: 'hi' },
    ),
  ),
  'candidates.first-only': asks.request('chat-completions')(chat.request({ n: 2 })),
  'message.role': makers('chat-completions').response('responses')(
    items.response([{ ...items.text('yes'), role: 'user' }], { created_at: 1 }),
  ),
  'error.status': makers('chat-completions').error('messages')(overloaded),
  'error.details': makers('chat-completions').error('messages')(detailed),
}
