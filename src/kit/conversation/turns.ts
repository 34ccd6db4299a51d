import type { Message, Part } from '../../canonical/message.ts'
import { append } from '../text/append.ts'
import { flatMap } from '../text/flat-map.ts'

/**
 * Can this part be an instruction? Instructions are text, or parts that only their own protocol
 * knows.
 */
export function isInstruction({ type }: Part): boolean {
  return type === 'text' || type === 'control' || type === 'opaque'
}

/** Is it a message of the user, the model or a tool? */
export function isTurn({ role }: Message): boolean {
  return role !== 'system' && role !== 'developer'
}

/**
 * Do encoded messages hold no conversation? For protocols that accept instructions inside of it,
 * also alone, if the source has no other messages.
 */
export function holdsNoTurn(written: readonly object[], messages: readonly Message[]): boolean {
  if (
    written.some(wire => !('role' in wire) || (wire.role !== 'system' && wire.role !== 'developer'))
  )
    return false
  return (
    written.length === 0 ||
    messages.some(isTurn) ||
    messages.every(({ origin }) => origin === 'instructions')
  )
}

/**
 * What tells a thought from others: its signature. Some clients copy what one call carries to other
 * calls. Undefined: it has none.
 */
export const proofOf = ({ type, signature }: Part): string | undefined =>
  type === 'reasoning' ? signature?.value || undefined : undefined

/**
 * A message of the target wire, with its own role names. `sources`: the canonical messages it is
 * made of.
 */
export type Turn<Role extends string> = { role: Role; parts: Part[]; sources: Message[] }

/**
 * Joins adjacent messages of the model into one turn if they contain tool calls, reasoning or
 * built-in tools; all others stay separate.
 */
export function joinAssistants<Model extends string>(
  messages: readonly Message[],
  model: Model,
): Turn<Model | 'user' | 'system'>[] {
  const turns: Turn<Model | 'user' | 'system'>[] = []
  let run: Message[] = []
  const flush = () => {
    const bound = run.some(({ parts }) =>
      parts.some(
        ({ type }) => type === 'tool-call' || type === 'reasoning' || type === 'server-tool',
      ),
    )
    if (bound) turns.push({ role: model, parts: flatMap(run, ({ parts }) => parts), sources: run })
    else
      for (const message of run)
        turns.push({ role: model, parts: [...message.parts], sources: [message] })
    run = []
  }
  for (const message of messages) {
    if (message.role === 'assistant') {
      run.push(message)
      continue
    }
    flush()
    const role = message.role === 'system' || message.role === 'developer' ? 'system' : 'user'
    turns.push({ role, parts: [...message.parts], sources: [message] })
  }
  flush()
  return turns
}

/** The same, with the turns that belong into the one before them in it. */
export function groupTurns<Model extends string>(
  messages: readonly Message[],
  model: Model,
  joins: (turn: Turn<Model | 'user' | 'system'>, last: Turn<Model | 'user' | 'system'>) => boolean,
): Turn<Model | 'user' | 'system'>[] {
  const turns: Turn<Model | 'user' | 'system'>[] = []
  for (const turn of joinAssistants(messages, model)) {
    const last = turns.at(-1)
    if (last && joins(turn, last)) {
      append(last.parts, turn.parts)
      append(last.sources, turn.sources)
    } else turns.push(turn)
  }
  return turns
}
