import { pieces } from '../scripted.ts'
import { proof, type Shape, type Thinker } from './index.ts'

type Block = { type: string; [key: string]: unknown }

const thinking = (turn: number, text = `Let me think (${turn}).\n\n It goes on, \u{1f914} twice.\n`, name = 'thinking'): Block => ({
  type: 'thinking',
  thinking: text,
  signature: proof(name, turn),
})
const redacted = (turn: number): Block => ({ type: 'redacted_thinking', data: proof('redacted', turn) })
const text = (turn: number, said = 'Looking \u{1f50e}'): Block => ({ type: 'text', text: `${said} ${turn}. `, citations: null })
const call = (turn: number, nth = 1): Block => ({ type: 'tool_use', id: `toolu_${turn}_${nth}`, name: 'lookup', input: { turn, nth } })

const shape = (name: string, content: (turn: number) => Block[]): Shape => ({
  name,
  answer: turn => {
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

const frame = (type: string, rest: object = {}) => `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`

function blockFrames(block: Block, index: number): string {
  const { thinking: thought, signature, text: said, input } = block
  const empty =
    block.type === 'thinking'
      ? { type: 'thinking', thinking: '', signature: '' }
      : block.type === 'text'
        ? { ...block, text: '' }
        : block.type === 'tool_use'
          ? { ...block, input: {} }
          : block
  const deltas: object[] = []
  if (typeof thought === 'string') deltas.push(...pieces(thought).map(piece => ({ type: 'thinking_delta', thinking: piece })))
  if (signature !== undefined) deltas.push({ type: 'signature_delta', signature })
  if (typeof said === 'string') deltas.push(...pieces(said).map(piece => ({ type: 'text_delta', text: piece })))
  if (input !== undefined) deltas.push(...['', ...pieces(JSON.stringify(input))].map(piece => ({ type: 'input_json_delta', partial_json: piece })))
  return [
    frame('content_block_start', { index, content_block: empty }),
    ...deltas.map(delta => frame('content_block_delta', { index, delta })),
    frame('content_block_stop', { index }),
  ].join('')
}

type Answer = { content: Block[]; stop_reason: string }

const bare = (content: unknown): unknown =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content as Block[]).map(({ citations: _, caller: __, ...block }) => block)

export const thinker: Thinker = {
  shapes: [
    shape('signed thinking, then a call', turn => [thinking(turn), call(turn)]),
    shape('signed thinking, a text and two calls', turn => [thinking(turn), text(turn), call(turn, 1), call(turn, 2)]),
    shape('thinking, text, thinking, call', turn => [
      thinking(turn, `First ${turn}`, 'first'),
      text(turn),
      thinking(turn, `Second ${turn}`, 'second'),
      call(turn),
    ]),
    shape('thinking between calls', turn => [thinking(turn, 'One', 'first'), call(turn, 1), thinking(turn, 'Two', 'second'), call(turn, 2)]),
    shape('redacted thinking, then a call', turn => [redacted(turn), call(turn)]),
    shape('redacted and signed thinking, then a call', turn => [redacted(turn), thinking(turn), text(turn), call(turn)]),
    shape('thinking that shows nothing', turn => [thinking(turn, ''), call(turn)]),
    shape('two texts after thinking', turn => [thinking(turn), text(turn, 'One'), text(turn, 'Two'), call(turn)]),
    shape('a text before thinking', turn => [text(turn), thinking(turn), call(turn)]),
    shape('signed thinking, then an answer without a call', turn => [thinking(turn), text(turn)]),
  ],
  stream(answer) {
    const { content, stop_reason, ...head } = answer as Answer
    return [
      frame('message_start', { message: { ...head, content: [], stop_reason: null, usage: { input_tokens: 8, output_tokens: 1 } } }),
      ...content.map(blockFrames),
      frame('message_delta', { delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 9 } }),
      frame('message_stop'),
    ].join('')
  },
  essence: answer => bare((answer as Answer).content),
  echoed: request =>
    (request as { messages: { role: string; content: unknown }[] }).messages.flatMap(({ role, content }) => (role === 'assistant' ? [bare(content)] : [])),
  proofs: request =>
    (request as { messages: { content: unknown }[] }).messages.flatMap(({ content }) =>
      (bare(content) as Block[]).flatMap(({ signature, data }) => [signature, data].filter(value => typeof value === 'string')),
    ),
}
