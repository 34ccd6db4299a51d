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
type Call = { name: string; input: string; freeform: boolean; result: string; failed: boolean }
type UserTurn = { who: 'user'; texts: string[]; image: boolean }
type AssistantTurn = {
  who: 'assistant'
  reasoning?: string
  signed: boolean
  text?: string
  calls: Call[]
}
type Turn = UserTurn | AssistantTurn | { who: 'system'; text: string }

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
  .map(({ reasoning, text: content, ...turn }): Turn => {
    const isEmpty = content === undefined && turn.calls.length === 0
    const written = isEmpty ? 'ok' : content
    return {
      ...turn,
      ...(reasoning !== undefined && { reasoning }),
      ...(written !== undefined && { text: written }),
    }
  })

const round = fc.tuple(
  user,
  fc.array(assistant, { minLength: 1, maxLength: 2 }),
  fc.option(text, { nil: undefined, freq: 5 }),
)

const turns: Arbitrary<Turn[]> = fc
  .array(round, { minLength: 1, maxLength: 3 })
  .map(rounds =>
    rounds.flatMap(([question, responded, system]): Turn[] => [
      question,
      ...(system !== undefined ? [{ who: 'system' as const, text: system }] : []),
      ...ended(responded),
    ]),
  )

const extraCall: Call = {
  name: 'lookup',
  input: '{}',
  freeform: false,
  result: 'ok',
  failed: false,
}

/**
 * Of two consecutive assistant turns the first ends with calls, and their results lead to the
 * second.
 */
function ended(responded: Turn[]): Turn[] {
  return responded.map((turn, index) => {
    const isLast = index === responded.length - 1
    if (isLast || turn.who !== 'assistant' || turn.calls.length > 0) return turn
    return { ...turn, calls: [extraCall] }
  })
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
    const messages: Message[] = []
    if (instructions !== undefined) messages.push(systemMessage('instructions', instructions))
    const cuts: number[] = []
    let calls = 0
    for (const turn of all) {
      switch (turn.who) {
        case 'user':
          messages.push(userMessage(turn))
          break
        case 'system':
          messages.push(systemMessage('message', turn.text))
          break
        case 'assistant': {
          const made = turn.calls.map(one => toolCall(one, `call_${calls++}`))
          messages.push(...assistantMessages(turn, made, shape))
          if (made.length === 0) cuts.push(messages.length)
          messages.push(...resultMessages(turn, made, shape))
        }
      }
    }
    messages.push(userMessage({ texts: [last], image: false }))
    return { request: { model: 'some-model', messages, tools, maxOutputTokens: 2000 }, cuts }
  })

const tools = ['lookup', 'run'].map(name => ({
  type: 'function' as const,
  name,
  description: 'd',
  parameters,
}))

const textPart = (text: string): Part => ({ type: 'text', text })

const systemMessage = (origin: 'message' | 'instructions', text: string): Message => ({
  role: 'system',
  origin,
  parts: [textPart(text)],
})

const userMessage = ({ texts, image: hasImage }: Pick<UserTurn, 'texts' | 'image'>): Message => ({
  role: 'user',
  origin: 'message',
  parts: [...texts.map(textPart), ...(hasImage ? [image] : [])],
})

const toolCall = ({ name, input }: Call, id: string): ToolCallPart => ({
  type: 'tool-call',
  id,
  name,
  kind: 'function',
  input,
})

function assistantMessages(
  { reasoning, signed, text }: AssistantTurn,
  calls: readonly ToolCallPart[],
  shape: Shape,
): Message[] {
  const parts: Part[] = []
  if (reasoning !== undefined)
    parts.push({
      type: 'reasoning',
      segments: [{ kind: 'summary', text: reasoning }],
      ...(signed && { signature: { value: 'c2ln', issuer: 'elsewhere' } }),
    })
  if (text !== undefined) parts.push(textPart(text))
  parts.push(...calls)
  return shape === 'items'
    ? parts.map(part => ({ role: 'assistant', origin: 'item', parts: [part] }))
    : [{ role: 'assistant', origin: 'message', parts }]
}

function resultMessages(
  turn: AssistantTurn,
  calls: readonly ToolCallPart[],
  shape: Shape,
): Message[] {
  const results = turn.calls.map(
    ({ result, failed }, index): Part => ({
      type: 'tool-result',
      callId: calls[index]?.id ?? '',
      kind: 'function',
      content: [{ type: 'text', text: result }],
      ...(failed && shape === 'blocks' && { isError: true }),
    }),
  )
  if (shape === 'blocks')
    return results.length > 0 ? [{ role: 'user', origin: 'message', parts: results }] : []
  const origin = shape === 'items' ? 'item' : 'message'
  return results.map(part => ({ role: 'tool', origin, parts: [part] }))
}
