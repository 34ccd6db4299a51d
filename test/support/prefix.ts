import type { Message } from '../../src/canonical/message.ts'
import type { Protocol } from '../../src/protocol.ts'
import { written } from './written.ts'

type Body = Record<string, unknown>

const message = (role: 'user' | 'assistant', text: string): Message => ({
  role,
  origin: 'message',
  parts: [{ type: 'text', text }],
})

/** Where a protocol has the turns of a conversation, and how it writes such as say a text. */
function turnsIn(protocol: Protocol, ...messages: Message[]): { key: string; turns: Body[] } {
  const [key, turns] = Object.entries(
    written({ model: 'm', messages }, protocol).wire as Body,
  ).find(
    (entry): entry is [string, Body[]] =>
      Array.isArray(entry[1]) && entry[1].length === messages.length,
  ) ?? ['', []]
  if (!key) throw new Error(`no list of turns in a request of ${protocol.name}`)
  return { key, turns }
}

const known = new Map<Protocol, { key: string; turns: Body[] }>()

/** A question of the user, a response, and the next question. */
function commonTurns(protocol: Protocol): { key: string; turns: Body[] } {
  const turns =
    known.get(protocol) ??
    turnsIn(protocol, message('user', 'So?'), message('assistant', 'So.'), message('user', 'And?'))
  known.set(protocol, turns)
  return turns
}

function turnsOf(protocol: Protocol, wire: unknown): unknown[] {
  const turns = (wire as Body)[commonTurns(protocol).key]
  return Array.isArray(turns) ? turns : []
}

const withTurns = (protocol: Protocol, wire: unknown, turns: unknown[]): Body => ({
  ...(wire as Body),
  [commonTurns(protocol).key]: turns,
})

/** The request as it was after each assistant text that a user message follows. */
export function cutsOf(protocol: Protocol, wire: unknown): Body[] {
  const turns = turnsOf(protocol, wire)
  const [asks, responses] = commonTurns(protocol).turns.map(({ role }) => role)
  const isText = (turn: unknown) =>
    typeof turn === 'object' &&
    turn !== null &&
    'role' in turn &&
    turn.role === responses &&
    !/"(tool_calls|functionCall)":/.test(JSON.stringify(turn))
  const ends = turns.flatMap((turn, index) =>
    isText(turn) && (turns[index + 1] as Body | undefined)?.['role'] === asks ? [index + 1] : [],
  )
  return ends.map(end => withTurns(protocol, wire, turns.slice(0, end)))
}

/**
 * A request that ends with a text of the assistant, and the same when the user and the turns of
 * another have followed.
 */
export function continued(
  protocol: Protocol,
  wire: unknown,
  more: unknown,
): { earlier: Body; later: Body } {
  const [received, responded, next] = commonTurns(protocol).turns
  const before = [...turnsOf(protocol, wire), received, responded]
  const after = [...before, next, ...turnsOf(protocol, more)]
  return { earlier: withTurns(protocol, wire, before), later: withTurns(protocol, wire, after) }
}

/**
 * A mark of the end of what is cached moves with the conversation, and is no part of what is
 * cached.
 */
const withoutPoints = (turn: unknown) =>
  JSON.stringify(turn, (_, value: unknown) =>
    Array.isArray(value)
      ? value.filter(one => !(typeof one === 'object' && one !== null && 'cachePoint' in one))
      : value,
  )

/**
 * What of the earlier request is not the beginning of the later one: texts are compared, for caches
 * see bytes.
 */
export function brokenPrefix(
  earlier: unknown,
  later: unknown,
  { from, to }: { from: Protocol; to: Protocol },
): string[] {
  const options = {
    fieldNames: from.fieldNames,
    onUnresolvable: 'note' as const,
    reasoningInHistory: 'always',
  }
  const encode = (wire: unknown) => {
    const { wire: body, notes } = written(from.decodeRequest(wire).value, to, options)
    // What asks the model to go on is made for this request alone, and stands at its end.
    const isAsked = notes.some(({ code }) => code === 'message.trailing-user')
    return isAsked ? withTurns(to, body, turnsOf(to, body).slice(0, -1)) : (body as Body)
  }
  const [before, after] = [encode(earlier), encode(later)]
  const has = turnsOf(to, after).map(withoutPoints)
  const changed = turnsOf(to, before).flatMap((turn, index) =>
    withoutPoints(turn) === has[index]
      ? []
      : [`turn ${index}: ${JSON.stringify(turn)} became ${has[index]}`],
  )
  return [
    ...changed.slice(0, 1),
    ...['system', 'instructions', 'systemInstruction', 'tools'].filter(
      key => JSON.stringify(before[key]) !== JSON.stringify(after[key]),
    ),
  ]
}

/** Is the later request the earlier one with more turns after it, and nothing else another? */
export function isContinuedBy(protocol: Protocol, earlier: unknown, later: unknown): boolean {
  const [before, after] = [turnsOf(protocol, earlier), turnsOf(protocol, later)]
  return (
    before.length > 0 &&
    before.length < after.length &&
    JSON.stringify(withTurns(protocol, later, after.slice(0, before.length))) ===
      JSON.stringify(withTurns(protocol, earlier, before))
  )
}
