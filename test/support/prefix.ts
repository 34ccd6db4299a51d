import type { Protocol } from '../../src/protocol.ts'

type Body = Record<string, unknown>

/** Where a protocol has the turns of a conversation. */
const turnsAt: Record<string, string> = { 'chat-completions': 'messages', messages: 'messages', responses: 'input' }

function turnsOf({ name }: Protocol, wire: unknown): unknown[] {
  const turns = (wire as Body)[turnsAt[name] ?? 'messages']
  return Array.isArray(turns) ? turns : []
}

const withTurns = ({ name }: Protocol, wire: unknown, turns: unknown[]): Body => ({ ...(wire as Body), [turnsAt[name] ?? 'messages']: turns })

/** The request as it was after each of its assistant's texts that a user answers. */
export function cutsOf(protocol: Protocol, wire: unknown): Body[] {
  const turns = turnsOf(protocol, wire)
  const ends = turns.flatMap((turn, index) => (isText(turn) && (turns[index + 1] as Body | undefined)?.['role'] === 'user' ? [index + 1] : []))
  return ends.map(end => withTurns(protocol, wire, turns.slice(0, end)))
}

const isText = (turn: unknown) => typeof turn === 'object' && turn !== null && 'role' in turn && turn.role === 'assistant' && !('tool_calls' in turn)

/** A request that ends with a text of the assistant, and the same when the user and the turns of another have followed. */
export function continued(protocol: Protocol, wire: unknown, more: unknown): { earlier: Body; later: Body } {
  const before = [...turnsOf(protocol, wire), { role: 'user', content: 'So?' }, { role: 'assistant', content: 'So.' }]
  const after = [...before, { role: 'user', content: 'And?' }, ...turnsOf(protocol, more)]
  return { earlier: withTurns(protocol, wire, before), later: withTurns(protocol, wire, after) }
}

/** What of the earlier request is not the beginning of the later one: texts are compared, for caches see bytes. */
export function brokenPrefix(earlier: unknown, later: unknown, { from, to }: { from: Protocol; to: Protocol }): string[] {
  const options = { fieldNames: from.fieldNames, onUnresolvable: 'note' as const, ccReasoningInHistory: 'always' }
  const encode = (wire: unknown) => to.encodeRequest(from.decodeRequest(wire).value, options).wire as Body
  const [before, after] = [encode(earlier), encode(later)]
  const has = turnsOf(to, after).map(turn => JSON.stringify(turn))
  const changed = turnsOf(to, before).flatMap((turn, index) =>
    JSON.stringify(turn) === has[index] ? [] : [`turn ${index}: ${JSON.stringify(turn)} became ${has[index]}`],
  )
  return [...changed.slice(0, 1), ...['system', 'instructions', 'tools'].filter(key => JSON.stringify(before[key]) !== JSON.stringify(after[key]))]
}
