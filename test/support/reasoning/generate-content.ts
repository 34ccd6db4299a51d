import { chunks } from '../scripted.ts'
import { type Shape, signature, type Thinker } from './index.ts'

type Part = {
  text?: string
  thought?: boolean
  functionCall?: object
  functionResponse?: object
  thoughtSignature?: string
}
type Content = { role: string; parts: Part[] }

const signed = (part: Part, turn: number, what: string): Part => ({
  ...part,
  thoughtSignature: signature(what, turn),
})
const thought = (
  turn: number,
  text = `**Thinking** (${turn})\n\nIt continues, \u{1f914} twice.\n\n`,
): Part => ({ text, thought: true })
const text = (turn: number, message = 'Looking \u{1f50e}'): Part => ({
  text: `${message} ${turn}. `,
})
const call = (turn: number, nth = 1): Part => ({
  functionCall: { name: 'lookup', args: { turn, nth }, id: `id${turn}x${nth}` },
})

const shape = (name: string, parts: (turn: number) => Part[]): Shape => ({
  name,
  response: turn => ({
    candidates: [
      { content: { role: 'model', parts: parts(turn) }, finishReason: 'STOP', index: 0 },
    ],
    usageMetadata: {
      promptTokenCount: 8,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 17,
    },
    modelVersion: 'gemini-3-pro-preview',
    responseId: `response_${turn}`,
  }),
})

type ModelResponse = { candidates: { content: Content; finishReason: string }[] }

/** A part in chunks; a signature comes after its text, as servers send it. */
function inChunks(part: Part): Part[] {
  const { text: message, thoughtSignature, ...rest } = part
  if (message === undefined) return [part]
  return [
    ...chunks(message).map(chunk => ({ ...rest, text: chunk })),
    ...(thoughtSignature === undefined ? [] : [{ ...rest, text: '', thoughtSignature }]),
  ]
}

/**
 * Contents of one side in a row are one turn; where one unsigned text or thought ends and the next
 * begins means nothing.
 */
function bare(parts: Part[]): Part[] {
  const out: Part[] = []
  for (const part of parts) {
    const last = out.at(-1)
    const isContinuation =
      last?.text !== undefined &&
      part.text !== undefined &&
      last.thought === part.thought &&
      !last.thoughtSignature
    if (isContinuation) out.splice(-1, 1, { ...last, ...part, text: `${last.text}${part.text}` })
    else if (part.text !== '' || part.thoughtSignature) out.push(part)
  }
  return out
}

const contentsOf = (request: unknown) => (request as { contents: Content[] }).contents

export const thinker: Thinker = {
  shapes: [
    shape('a signed call', turn => [signed(call(turn), turn, 'call')]),
    shape('a thought, then a signed call', turn => [
      thought(turn),
      signed(call(turn), turn, 'call'),
    ]),
    shape('a signed call among others', turn => [
      signed(call(turn, 1), turn, 'call'),
      call(turn, 2),
    ]),
    shape('a thought, a text and a signed call', turn => [
      thought(turn),
      text(turn),
      signed(call(turn), turn, 'call'),
    ]),
    shape('a signed text before a signed call', turn => [
      signed(text(turn), turn, 'text'),
      signed(call(turn), turn, 'call'),
    ]),
    shape('a signed thought, then a call', turn => [
      signed(thought(turn), turn, 'thought'),
      signed(call(turn), turn, 'call'),
    ]),
    shape('two signed calls', turn => [
      signed(call(turn, 1), turn, 'first'),
      signed(call(turn, 2), turn, 'second'),
    ]),
    shape('a thought, then a signed text, without a call', turn => [
      thought(turn),
      signed(text(turn), turn, 'text'),
    ]),
  ],
  stream(response) {
    const { candidates, ...head } = response as ModelResponse
    const [
      { content, finishReason } = {
        content: { role: 'model', parts: [] as Part[] },
        finishReason: 'STOP',
      },
    ] = candidates
    const frame = (part: Part, more: object = {}) =>
      `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, ...more, index: 0 }], ...head })}\r\n\r\n`
    return [
      ...content.parts.flatMap(inChunks).map(part => frame(part)),
      frame({ text: '' }, { finishReason }),
    ].join('')
  },
  essence: response => bare((response as ModelResponse).candidates[0]?.content.parts ?? []),
  echoed(request) {
    const turns: Content[] = []
    for (const { role, parts } of contentsOf(request)) {
      const last = turns.at(-1)
      if (last?.role === role) last.parts.push(...parts)
      else turns.push({ role, parts: [...parts] })
    }
    return turns.flatMap(({ role, parts }) => (role === 'model' ? [bare(parts)] : []))
  },
  wants: part => !((part as Part).thought && !(part as Part).thoughtSignature),
  signatures: request =>
    contentsOf(request).flatMap(({ parts }) =>
      parts.flatMap(({ thoughtSignature }) =>
        thoughtSignature === undefined ? [] : [thoughtSignature],
      ),
    ),
}
