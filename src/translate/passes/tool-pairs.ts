import type { Message, Part, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import { hashId } from '../../kit/conversation/ids.ts'
import { isTurn } from '../../kit/conversation/turns.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { append } from '../../kit/text/append.ts'
import { flatMap } from '../../kit/text/flat-map.ts'
import { startNames, takeName } from '../../kit/text/free-names.ts'
import type { ToolPairDemands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'
import { mapParts } from './map-parts.ts'

/**
 * A conversation whose tool calls and results are paired as the target demands. Of several results
 * of a call only the last one stays, because clients that retry send several, and servers refuse
 * them. `repair`: calls without a result get one that reports the interruption, and results without
 * a call become text of the user.
 */
export function pairToolCalls(
  messages: Message[],
  wanted: ToolPairDemands,
  repair: boolean,
  report: PassReport,
): Message[] {
  if (!messages.some(holdsTools)) return messages
  const pairs = findPairs(messages)
  let paired = withoutStale(messages, pairs, report)
  if (repair) {
    paired = orphansAsText(paired, pairs, report)
    for (const call of pairs.danglingCalls) pairResult(call, interrupted(call), pairs)
  }
  if (wanted.resultsFollowCalls) paired = placeResults(paired, pairs, report)
  else if (repair && pairs.danglingCalls.size > 0) paired = addInterrupted(paired, pairs)
  return nameAlike(paired, pairs, wanted, report)
}

const holdsTools = ({ parts }: Message) =>
  parts.some(({ type }) => type === 'tool-call' || type === 'tool-result')

/**
 * `orphans`: results without a call. `stale`: results that a later one replaces. `danglingCalls`:
 * calls without a result.
 */
type Pairs = {
  results: Map<ToolCallPart, ToolResultPart>
  calls: Map<Part, ToolCallPart>
  danglingCalls: Set<ToolCallPart>
  stale: Set<Part>
  orphans: Set<Part>
}

/** The calls of one turn with the same id, and their results. */
type IdUses = { turn: number; calls: ToolCallPart[]; results: ToolResultPart[] }

function findPairs(messages: readonly Message[]): Pairs {
  const pairs: Pairs = {
    results: new Map(),
    calls: new Map(),
    danglingCalls: new Set(),
    stale: new Set(),
    orphans: new Set(),
  }
  const all: IdUses[] = []
  const byId = new Map<string, IdUses>()
  const ask = (id: string, uses: IdUses) => {
    byId.set(id, uses)
    all.push(uses)
  }
  let turn = 0
  for (const message of messages) {
    if (message.role !== 'assistant') turn++
    // Instructions cannot hold results, so encoders leave them out there.
    if (!isTurn(message)) continue
    for (const part of message.parts)
      if (part.type === 'tool-call') {
        const before = byId.get(part.id)
        // Several calls of a turn may have one id. In a later turn the id belongs to the new call.
        if (before?.turn === turn) before.calls.push(part)
        else ask(part.id, { turn, calls: [part], results: [] })
      } else if (part.type === 'server-tool') {
        if (!byId.has(part.id)) ask(part.id, { turn, calls: [], results: [] })
      } else if (part.type === 'tool-result') {
        const uses = byId.get(part.callId)
        if (uses) uses.results.push(part)
        else pairs.orphans.add(part)
      }
  }
  for (const uses of all) matchUp(uses, pairs)
  return pairs
}

function matchUp({ calls, results }: IdUses, pairs: Pairs): void {
  // Results of a tool that the provider runs belong to no call.
  if (calls.length === 0) return
  const superseded = Math.max(0, results.length - calls.length)
  for (const result of results.slice(0, superseded)) pairs.stale.add(result)
  for (const [nth, call] of calls.entries()) {
    const result = results[superseded + nth]
    if (result) pairResult(call, result, pairs)
    else pairs.danglingCalls.add(call)
  }
}

function pairResult(call: ToolCallPart, result: ToolResultPart, { results, calls }: Pairs): void {
  results.set(call, result)
  calls.set(result, call)
}

function withoutStale(messages: Message[], { stale }: Pairs, report: PassReport): Message[] {
  if (stale.size === 0) return messages
  for (const part of stale) report.leave('tool-result.duplicate', part)
  return flatMap(messages, message => {
    const parts = message.parts.filter(part => !stale.has(part))
    if (parts.length === message.parts.length) return [message]
    if (parts.length > 0) return [{ ...message, parts }]
    report.ext(message.ext, message.at)
    return []
  })
}

function orphansAsText(messages: Message[], { orphans }: Pairs, report: PassReport): Message[] {
  if (orphans.size === 0) return messages
  return flatMap(messages, message =>
    message.parts.some(part => orphans.has(part))
      ? splitOrphans(message, orphans, report)
      : [message],
  )
}

/** The message without its orphans, and their content as text of the user. */
function splitOrphans(message: Message, orphans: ReadonlySet<Part>, report: PassReport): Message[] {
  const isUsers = message.role === 'user'
  const kept: Part[] = []
  const asText: Part[] = []
  for (const part of message.parts)
    if (part.type === 'tool-result' && orphans.has(part)) {
      report.leave('tool-result.orphan-as-text', part)
      for (const inner of part.content) if (isUserContent(inner, report)) asText.push(inner)
    } else if (isUsers || (message.role === 'tool' && part.type !== 'tool-result'))
      asText.push(part)
    else kept.push(part)
  if (kept.length > 0) {
    const rest: Message = { ...message, parts: kept }
    return asText.length > 0
      ? [rest, { role: 'user', origin: message.origin, parts: asText }]
      : [rest]
  }
  if (asText.length > 0) return [{ ...message, role: 'user', parts: asText }]
  report.ext(message.ext, message.at)
  return []
}

/** Can the user have written it? Reasoning, calls and results inside a result are dropped. */
function isUserContent({ type, at }: Part, report: PassReport): boolean {
  const isOdd = type === 'reasoning' || type === 'tool-call' || type === 'tool-result'
  if (isOdd) report.add('part.unsupported', at)
  return !isOdd
}

function interrupted(call: ToolCallPart): ToolResultPart {
  return {
    type: 'tool-result',
    callId: call.id,
    kind: call.kind,
    content: [{ type: 'text', text: 'This tool call was interrupted and has no result.' }],
    isError: true,
    synthesized: true,
  }
}

/** Behind the last message of the turn: the results of all its calls stand together. */
function addInterrupted(
  messages: readonly Message[],
  { danglingCalls, results }: Pairs,
): Message[] {
  const all: Message[] = []
  let missing: Message[] = []
  for (const message of messages) {
    if (message.role !== 'assistant') {
      append(all, missing)
      missing = []
    }
    all.push(message)
    for (const part of message.parts) {
      const result =
        part.type === 'tool-call' && danglingCalls.has(part) ? results.get(part) : undefined
      if (result) missing.push({ role: 'tool', origin: 'message', parts: [result] })
    }
  }
  return [...all, ...missing]
}

/**
 * The results of a turn's calls right behind the turn, in the order of the calls, in messages that
 * hold nothing else. Results without a call stay where they are, also in a message of their own.
 */
function placeResults(messages: readonly Message[], pairs: Pairs, report: PassReport): Message[] {
  const sources = new Map<Part, Message>()
  for (const message of messages)
    for (const part of message.parts) if (part.type === 'tool-result') sources.set(part, message)
  const all: Message[] = []
  const moved = new Set<Message>()
  const turn: Turn = { open: [], last: new Set(), passed: false }
  const flushResults = () => {
    if (turn.open.length === 0) return
    const results = flatMap(turn.open, call => pairs.results.get(call) ?? [])
    for (const message of asMessages(results, sources, moved)) all.push(message)
    Object.assign(turn, { open: [], last: new Set(turn.open), passed: false })
  }
  for (const message of messages) {
    if (message.role !== 'assistant') flushResults()
    const { lonely, rest } = takeResults(message, turn, pairs, report)
    if (rest.length === message.parts.length) all.push(message)
    else for (const left of split(message, { lonely, rest, moved })) all.push(left)
  }
  flushResults()
  return all
}

/**
 * `open`: the calls of the turn that has not ended yet. `last`: those of the turn before. `passed`:
 * other content came behind that turn.
 */
type Turn = { open: ToolCallPart[]; last: ReadonlySet<ToolCallPart>; passed: boolean }

/**
 * Separates the results from the other parts, with a note for those that move. `lonely`: results
 * without a call.
 */
function takeResults(
  message: Message,
  turn: Turn,
  { calls }: Pairs,
  report: PassReport,
): { lonely: ToolResultPart[]; rest: Part[] } {
  const lonely: ToolResultPart[] = []
  const rest: Part[] = []
  const isModel = message.role === 'assistant'
  let isLed = false
  for (const part of message.parts) {
    if (part.type !== 'tool-result' || !isTurn(message)) {
      rest.push(part)
      if (isModel && part.type === 'tool-call') turn.open.push(part)
      else if (part.type !== 'control') isLed = turn.passed = true
      continue
    }
    const call = calls.get(part)
    if (!call) lonely.push(part)
    if (call ? turn.passed || isModel || !turn.last.has(call) : isLed && !isModel)
      report.add('tool-result.moved', part.at)
  }
  return { lonely, rest }
}

/**
 * One message for results in a row that were in one message. The first one keeps what else that
 * message had.
 */
function asMessages(
  results: readonly ToolResultPart[],
  sources: ReadonlyMap<Part, Message>,
  moved: Set<Message>,
): Message[] {
  const all: Message[] = []
  let before: Message | undefined
  for (const result of results) {
    const source = sources.get(result)
    if (source && source === before) all.at(-1)?.parts.push(result)
    else if (!source) all.push({ role: 'tool', origin: 'message', parts: [result] })
    else if (moved.has(source) || source.parts.some(({ type }) => type !== 'tool-result'))
      all.push(bare(source, [result]))
    else {
      moved.add(source)
      all.push({ ...source, role: 'tool', parts: [result] })
    }
    before = source
  }
  return all
}

const bare = ({ origin, at }: Message, parts: Part[]): Message =>
  omitUndefined({ role: 'tool' as const, origin, at, parts })

type Split = { lonely: ToolResultPart[]; rest: Part[]; moved: ReadonlySet<Message> }

/** What stays of a message that holds results. */
function split(message: Message, { lonely, rest, moved }: Split): Message[] {
  const others: Message = {
    ...message,
    role: message.role === 'tool' ? 'user' : message.role,
    parts: rest,
  }
  if (lonely.length === 0) return rest.length > 0 ? [others] : []
  if (rest.length > 0)
    return message.role === 'assistant'
      ? [others, bare(message, lonely)]
      : [bare(message, lonely), others]
  return [moved.has(message) ? bare(message, lonely) : { ...message, role: 'tool', parts: lonely }]
}

/**
 * Writes the ids of calls and results as the target takes them, and the name of the tool in results
 * only where the target has it there.
 */
function nameAlike(
  messages: Message[],
  { calls }: Pairs,
  { wireCallId: callId = same, uniqueCallIds, namesInResults }: ToolPairDemands,
  report: PassReport,
): Message[] {
  let used = startNames()
  let isAnswered = false
  const ids = new Map<ToolCallPart, string>()
  let nameless = 0
  const idOf = (call: ToolCallPart): string => {
    // With one id for all calls that came without, one result would answer them all.
    const given = call.id || `call_${hashId(String(nameless++))}`
    const wanted = callId(given)
    if (isAnswered && uniqueCallIds === 'turn') used = startNames()
    isAnswered = false
    const id = uniqueCallIds
      ? takeName(used, wanted, given, nth => callId(`${given}_${nth}`))
      : wanted
    ids.set(call, id)
    if (id !== call.id) report.add('tool-call.id', call.at, 'id')
    return id
  }
  return mapParts(messages, part => {
    if (part.type === 'tool-call') {
      const id = idOf(part)
      return id === part.id ? part : { ...part, id }
    }
    if (part.type !== 'tool-result') return part
    isAnswered = true
    const call = calls.get(part)
    const id = (call && ids.get(call)) ?? callId(part.callId)
    if (!call) {
      if (id !== part.callId) report.add('tool-call.id', part.at, 'callId')
      return id === part.callId ? part : { ...part, callId: id }
    }
    const { name, namespace, ...rest } = part
    if (name && name !== call.name) report.rest({ name }, part.at)
    if (namespace !== undefined && namespace !== call.namespace) report.rest({ namespace }, part.at)
    if (namesInResults)
      return omitUndefined({ name: call.name, namespace: call.namespace, ...rest, callId: id })
    return id === part.callId && name === undefined && namespace === undefined
      ? part
      : { ...rest, callId: id }
  })
}

const same = (id: string) => id
