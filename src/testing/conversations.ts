import fc, { type Arbitrary } from 'fast-check'
import type { Message, Part, ToolCallPart } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'

const text = fc.constantFrom('Hello', 'What is 2 + 2?', 'ünï 🙂', 'line\nline', '{"a":1}')
const image: Part = {
  type: 'media',
  kind: 'image',
  source: { type: 'base64', data: 'iVBORw0=', mime: 'image/png' },
}
const parameters = {
  type: 'object',
  properties: { q: { type: 'string' } },
  required: ['q'],
  additionalProperties: false,
}

/**
 * `shape`: how the source groups the conversation: chat messages, blocks in few messages, or items.
 */
type Shape = 'messages' | 'blocks' | 'items'
type Turn =
  | { who: 'user'; texts: string[]; image: boolean }
  | {
      who: 'assistant'
      reasoning?: string
      signed: boolean
      text?: string
      calls: { name: string; input: string; freeform: boolean; result: string; failed: boolean }[]
    }
  | { who: 'system'; text: string }

const user = fc.record({
  who: fc.constant('user' as const),
  texts: fc.array(text, { minLength: 1, maxLength: 2 }),
  image: fc.boolean(),
})
const call = fc.record({
  name: fc.constantFrom('lookup', 'run'),
  input: fc.constantFrom('{"q":"x"}', '{"q":"ü \\" 🙂"}', '{}'),
  freeform: fc.constant(false),
  result: fc.constantFrom('4', 'none', 'a\nb'),
  failed: fc.boolean(),
})
const assistant = fc
  .record({
    who: fc.constant('assistant' as const),
    reasoning: fc.option(text, { nil: undefined }),
    signed: fc.boolean(),
    text: fc.option(text, { nil: undefined }),
    calls: fc.array(call, { maxLength: 3 }),
  })
  .map(
    ({ reasoning, text: content, ...turn }): Turn => ({
      ...turn,
      ...(reasoning !== undefined && { reasoning }),
      ...(content !== undefined ? { text: content } : turn.calls.length === 0 && { text: 'ok' }),
    }),
  )

const turns: Arbitrary<Turn[]> = fc
  .array(
    fc.tuple(
      user,
      fc.array(assistant, { minLength: 1, maxLength: 2 }),
      fc.option(text, { nil: undefined, freq: 5 }),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map(rounds =>
    rounds.flatMap(([question, responded, system]): Turn[] => [
      question,
      ...(system !== undefined ? [{ who: 'system' as const, text: system }] : []),
      ...ended(responded),
    ]),
  )

/**
 * Of two consecutive assistant turns the first ends with calls, and their results lead to the
 * second.
 */
function ended(responded: Turn[]): Turn[] {
  return responded.map((turn, index) =>
    index < responded.length - 1 && turn.who === 'assistant' && turn.calls.length === 0
      ? {
          ...turn,
          calls: [{ name: 'lookup', input: '{}', freeform: false, result: 'ok', failed: false }],
        }
      : turn,
  )
}

/**
 * Requests that every server accepts, in the groupings of all protocols. `cuts`: the number of
 * messages after each complete assistant turn, including its tool results.
 */
export const conversation: Arbitrary<{ request: CanonicalRequest; cuts: number[] }> = fc
  .tuple(
    turns,
    fc.constantFrom<Shape>('messages', 'blocks', 'items'),
    fc.option(text, { nil: undefined }),
    text,
  )
  .map(([all, shape, instructions, last]) => {
    const messages: Message[] =
      instructions === undefined
        ? []
        : [
            {
              role: 'system',
              origin: 'instructions',
              parts: [{ type: 'text', text: instructions }],
            },
          ]
    const cuts: number[] = []
    let calls = 0
    for (const turn of all) {
      if (turn.who === 'assistant') {
        const made = turn.calls.map(
          (one): ToolCallPart => ({
            type: 'tool-call',
            id: `call_${calls++}`,
            name: one.name,
            kind: 'function',
            input: one.input,
          }),
        )
        const parts: Part[] = [
          ...(turn.reasoning === undefined
            ? []
            : [
                {
                  type: 'reasoning' as const,
                  segments: [{ kind: 'summary' as const, text: turn.reasoning }],
                  ...(turn.signed && { signature: { value: 'c2ln', issuer: 'elsewhere' } }),
                },
              ]),
          ...(turn.text === undefined ? [] : [{ type: 'text' as const, text: turn.text }]),
          ...made,
        ]
        messages.push(
          ...(shape === 'items'
            ? parts.map((part): Message => ({ role: 'assistant', origin: 'item', parts: [part] }))
            : [{ role: 'assistant' as const, origin: 'message' as const, parts }]),
        )
        if (made.length === 0) cuts.push(messages.length)
        const results = turn.calls.map(
          (one, index): Part => ({
            type: 'tool-result',
            callId: made[index]?.id ?? '',
            kind: 'function',
            content: [{ type: 'text', text: one.result }],
            ...(one.failed && shape === 'blocks' && { isError: true }),
          }),
        )
        if (shape === 'blocks' && results.length > 0)
          messages.push({ role: 'user', origin: 'message', parts: results })
        else
          messages.push(
            ...results.map(
              (part): Message => ({
                role: 'tool',
                origin: shape === 'items' ? 'item' : 'message',
                parts: [part],
              }),
            ),
          )
      } else if (turn.who === 'system')
        messages.push({
          role: 'system',
          origin: 'message',
          parts: [{ type: 'text', text: turn.text }],
        })
      else
        messages.push({
          role: 'user',
          origin: 'message',
          parts: [
            ...turn.texts.map((one): Part => ({ type: 'text', text: one })),
            ...(turn.image ? [image] : []),
          ],
        })
    }
    messages.push({ role: 'user', origin: 'message', parts: [{ type: 'text', text: last }] })
    const tools = ['lookup', 'run'].map(name => ({
      type: 'function' as const,
      name,
      description: 'd',
      parameters,
    }))
    return { request: { model: 'some-model', messages, tools, maxOutputTokens: 2000 }, cuts }
  })
