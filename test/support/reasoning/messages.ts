import { chunks } from '../scripted.ts'
import { type Shape, signature, type Thinker } from './index.ts'

type Block = { type: string; [key: string]: unknown }

const thinking = (
  turn: number,
  text = `Let me think (${turn}).\n\n It continues, \u{1f914} twice.\n`,
  name = 'thinking',
): Block => ({
  type: 'thinking',
  thinking: text,
  signature: signature(name, turn),
})
const redacted = (turn: number): Block => ({
  type: 'redacted_thinking',
  data: signature('redacted', turn),
})
const text = (turn: number, message = 'Looking \u{1f50e}'): Block => ({
  type: 'text',
  text: `${message} ${turn}. `,
  citations: null,
})
const call = (turn: number, nth = 1): Block => ({
  type: 'tool_use',
  id: `toolu_${turn}_${nth}`,
  name: 'lookup',
  input: { turn, nth },
})

const shape = (name: string, content: (turn: number) => Block[]): Shape => ({
  name,
  response: turn => {
    const blocks = content(turn)
    return {
      id: `msg_${turn}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-4-5',
      content: blocks,
      stop_reason: blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 9 },
    }
  },
})

const frame = (type: string, rest: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

function emptied(block: Block): object {
  if (block.type === 'thinking') return { type: 'thinking', thinking: '', signature: '' }
  if (block.type === 'text') return { ...block, text: '' }
  return block.type === 'tool_use' ? { ...block, input: {} } : block
}

function blockFrames(block: Block, index: number): string {
  const { thinking: thought, signature, text: message, input } = block
  const empty = emptied(block)
  const deltas: object[] = []
  if (typeof thought === 'string')
    deltas.push(...chunks(thought).map(chunk => ({ type: 'thinking_delta', thinking: chunk })))
  if (signature !== undefined) deltas.push({ type: 'signature_delta', signature })
  if (typeof message === 'string')
    deltas.push(...chunks(message).map(chunk => ({ type: 'text_delta', text: chunk })))
  if (input !== undefined)
    deltas.push(
      ...['', ...chunks(JSON.stringify(input))].map(chunk => ({
        type: 'input_json_delta',
        partial_json: chunk,
      })),
    )
  return [
    frame('content_block_start', { index, content_block: empty }),
    ...deltas.map(delta => frame('content_block_delta', { index, delta })),
    frame('content_block_stop', { index }),
  ].join('')
}

type ModelResponse = { content: Block[]; stop_reason: string }

const bare = (content: unknown): unknown =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : (content as Block[]).map(({ citations: _, caller: __, ...block }) => block)

export const thinker: Thinker = {
  shapes: [
    shape('signed thinking, then a call', turn => [thinking(turn), call(turn)]),
    shape('signed thinking, a text and two calls', turn => [
      thinking(turn),
      text(turn),
      call(turn, 1),
      call(turn, 2),
    ]),
    shape('thinking, text, thinking, call', turn => [
      thinking(turn, `First ${turn}`, 'first'),
      text(turn),
      thinking(turn, `Second ${turn}`, 'second'),
      call(turn),
    ]),
    shape('thinking between calls', turn => [
      thinking(turn, 'One', 'first'),
      call(turn, 1),
      thinking(turn, 'Two', 'second'),
      call(turn, 2),
    ]),
    shape('redacted thinking, then a call', turn => [redacted(turn), call(turn)]),
    shape('redacted and signed thinking, then a call', turn => [
      redacted(turn),
      thinking(turn),
      text(turn),
      call(turn),
    ]),
    shape('thinking that shows nothing', turn => [thinking(turn, ''), call(turn)]),
    shape('two texts after thinking', turn => [
      thinking(turn),
      text(turn, 'One'),
      text(turn, 'Two'),
      call(turn),
    ]),
    shape('a text before thinking', turn => [text(turn), thinking(turn), call(turn)]),
    shape('signed thinking, then a text without a call', turn => [thinking(turn), text(turn)]),
  ],
  stream(response) {
    const { content, stop_reason, ...head } = response as ModelResponse
    return [
      frame('message_start', {
        message: {
          ...head,
          content: [],
          stop_reason: null,
          usage: { input_tokens: 8, output_tokens: 1 },
        },
      }),
      ...content.map(blockFrames),
      frame('message_delta', {
        delta: { stop_reason, stop_sequence: null },
        usage: { output_tokens: 9 },
      }),
      frame('message_stop'),
    ].join('')
  },
  essence: response => bare((response as ModelResponse).content),
  echoed: request =>
    (request as { messages: { role: string; content: unknown }[] }).messages.flatMap(
      ({ role, content }) => (role === 'assistant' ? [bare(content)] : []),
    ),
  signatures: request =>
    (request as { messages: { content: unknown }[] }).messages.flatMap(({ content }) =>
      (bare(content) as Block[]).flatMap(({ signature, data }) =>
        [signature, data].filter(value => typeof value === 'string'),
      ),
    ),
}
