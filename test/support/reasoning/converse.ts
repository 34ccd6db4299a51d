import { protocols } from '../../../src/protocols/index.ts'
import { chunks } from '../scripted.ts'
import { type Shape, signature, type Thinker } from './index.ts'

type Block = { [kind: string]: unknown }

const thinking = (
  turn: number,
  text = `Let me think (${turn}).\n\n It continues, \u{1f914} twice.\n`,
  name = 'thinking',
): Block => ({
  reasoningContent: { reasoningText: { text, signature: signature(name, turn) } },
})
const redacted = (turn: number): Block => ({
  reasoningContent: { redactedContent: btoa(signature('redacted', turn)) },
})
const text = (turn: number, message = 'Looking \u{1f50e}'): Block => ({
  text: `${message} ${turn}.`,
})
const call = (turn: number, nth = 1): Block => ({
  toolUse: { toolUseId: `tooluse_${turn}_${nth}`, name: 'lookup', input: { turn, nth } },
})

const shape = (name: string, content: (turn: number) => Block[]): Shape => ({
  name,
  response: turn => {
    const blocks = content(turn)
    return {
      output: { message: { role: 'assistant', content: blocks } },
      stopReason: blocks.some(({ toolUse }) => toolUse) ? 'tool_use' : 'end_turn',
      usage: { inputTokens: 8, outputTokens: 9, totalTokens: 17 },
      metrics: { latencyMs: 100 },
    }
  },
})

type ModelResponse = { output: { message: { content: Block[] } }; stopReason: string }
type Reasoning = { reasoningText?: { text: string; signature: string }; redactedContent?: string }

const frame = (event: object) => protocols.converse.frames.write(event)

function blockFrames(block: Block, contentBlockIndex: number): string {
  const { reasoningContent, text: message, toolUse } = block
  const { reasoningText, redactedContent } = (reasoningContent ?? {}) as Reasoning
  const deltas: object[] = []
  if (reasoningText) {
    deltas.push(...chunks(reasoningText.text).map(chunk => ({ reasoningContent: { text: chunk } })))
    deltas.push({ reasoningContent: { signature: reasoningText.signature } })
  }
  if (redactedContent !== undefined) deltas.push({ reasoningContent: { redactedContent } })
  if (typeof message === 'string') deltas.push(...chunks(message).map(chunk => ({ text: chunk })))
  const { input, ...start } = (toolUse ?? {}) as { input?: unknown }
  if (toolUse)
    deltas.push(
      ...['', ...chunks(JSON.stringify(input))].map(chunk => ({ toolUse: { input: chunk } })),
    )
  return [
    ...(toolUse
      ? [frame({ contentBlockStart: { contentBlockIndex, start: { toolUse: start } } })]
      : []),
    ...deltas.map(delta => frame({ contentBlockDelta: { contentBlockIndex, delta } })),
    frame({ contentBlockStop: { contentBlockIndex } }),
  ].join('')
}

const signaturesIn = ({ reasoningContent }: Block): string[] => {
  const { reasoningText, redactedContent } = (reasoningContent ?? {}) as Reasoning
  return [reasoningText?.signature, redactedContent].filter(value => value !== undefined)
}

type Request = { messages: { role: string; content: Block[] }[] }

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
    shape('redacted thinking, then a call', turn => [redacted(turn), call(turn)]),
    shape('redacted and signed thinking, then a call', turn => [
      redacted(turn),
      thinking(turn),
      text(turn),
      call(turn),
    ]),
    shape('thinking that shows nothing', turn => [thinking(turn, ''), call(turn)]),
    shape('signed thinking, then a text without a call', turn => [thinking(turn), text(turn)]),
  ],
  stream(response) {
    const { output, stopReason, ...rest } = response as ModelResponse
    return [
      frame({ messageStart: { role: 'assistant' } }),
      ...output.message.content.map(blockFrames),
      frame({ messageStop: { stopReason } }),
      frame({ metadata: rest }),
    ].join('')
  },
  essence: response => (response as ModelResponse).output.message.content,
  echoed: request =>
    (request as Request).messages.flatMap(({ role, content }) =>
      role === 'assistant' ? [content] : [],
    ),
  signatures: request =>
    (request as Request).messages.flatMap(({ content }) => content.flatMap(signaturesIn)),
}
