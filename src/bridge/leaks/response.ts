import type { Part, ToolCallPart } from '../../canonical/message.ts'
import type { Candidate, CanonicalResponse, Finish } from '../../canonical/response.ts'
import { isLimit } from '../../kit/tools/cut-calls.ts'
import type { BridgeReport } from '../notes.ts'
import { repairedArguments } from '../repair.ts'
import type { Call, Tools } from './calls.ts'
import { endScan, type Piece, scan, startScan } from './scan.ts'

/** The response with the calls that stand in its texts, and with arguments that are JSON. */
export function recoverCalls(
  response: CanonicalResponse,
  tools: Tools,
  report: BridgeReport,
): CanonicalResponse {
  const candidates = response.candidates.map(candidate => recovered(candidate, tools, report))
  return candidates.every((candidate, i) => candidate === response.candidates[i])
    ? response
    : { ...response, candidates }
}

function recovered(candidate: Candidate, tools: Tools, report: BridgeReport): Candidate {
  const isCut = candidate.finish !== undefined && isLimit(candidate.finish)
  const messages = candidate.messages.map((message, i) => {
    const isLast = i === candidate.messages.length - 1
    const parts = message.parts.flatMap((part, j) =>
      partsOf(part, tools, {
        isCut: isCut && isLast && j === message.parts.length - 1,
        report,
      }),
    )
    const isSame =
      parts.length === message.parts.length && parts.every((p, j) => p === message.parts[j])
    return isSame ? message : { ...message, parts }
  })
  const all = messages.flatMap(({ parts }) => parts)
  const thought = all.some(isContent) ? [] : callsInReasoning(all, tools, report)
  const [last] = messages.slice(-1)
  if (thought.length > 0 && last)
    messages[messages.length - 1] = { ...last, parts: [...last.parts, ...thought] }
  const isSame = messages.every((message, i) => message === candidate.messages[i])
  if (isSame) return candidate
  return {
    ...candidate,
    messages,
    ...(candidate.finish && { finish: calledFinish(candidate.finish) }),
  }
}

/** Is the part something for the client beyond reasoning? */
export const isContent = (part: Part): boolean =>
  part.type === 'text' ? part.text.trim() !== '' : part.type !== 'reasoning'

/** A turn that holds calls has not just stopped. */
export const calledFinish = (finish: Finish): Finish =>
  finish.reason === 'stop' || finish.reason === 'other' ? { reason: 'tool_calls' } : finish

/** Does the part call a function of the request? */
export const isOffered = (part: Part, { schemas }: Tools): part is ToolCallPart =>
  part.type === 'tool-call' && part.kind === 'function' && Object.hasOwn(schemas, part.name)

/** The arguments of a call that are no JSON, repaired. Undefined: they stay. */
export function repairedCall(part: ToolCallPart, tools: Tools): string | undefined {
  if (!isOffered(part, tools) || part.cut || part.input.trim() === '') return undefined
  return repairedArguments(part.input, tools.schemas[part.name])
}

export function callPart({ name, input, completed }: Call, isCut: boolean): ToolCallPart {
  return {
    type: 'tool-call',
    id: '',
    name,
    kind: 'function',
    input: isCut ? input : (completed ?? input),
  }
}

type Context = { isCut: boolean; report: BridgeReport }

function partsOf(part: Part, tools: Tools, { isCut, report }: Context): Part[] {
  if (part.type === 'tool-call' && !isCut) {
    const input = repairedCall(part, tools)
    if (input === undefined) return [part]
    report.add('tool-call.repaired', part.at, 'input')
    return [{ ...part, input }]
  }
  if (part.type !== 'text') return [part]
  const pieces = piecesOf(part.text, tools)
  if (!pieces.some(piece => 'call' in piece)) return [part]
  const { citations, logprobs, ...plain } = part
  if (citations) report.add('tool-call.text-details', part.at, 'citations')
  if (logprobs) report.add('tool-call.text-details', part.at, 'logprobs')
  return pieces.map(piece => {
    if ('text' in piece) return { ...plain, text: piece.text }
    report.add('tool-call.recovered', part.at, 'text')
    return callPart(piece.call, isCut)
  })
}

/** The pieces of a whole text; neighbouring texts are one. */
function piecesOf(text: string, tools: Tools): Piece[] {
  const pieces: Piece[] = []
  const add = (piece: Piece) => {
    const last = pieces.at(-1)
    if (last && 'text' in last && 'text' in piece) last.text += piece.text
    else pieces.push({ ...piece })
  }
  const state = startScan()
  scan(state, text, tools, add)
  endScan(state, tools, add)
  return pieces
}

/** The calls at the end of reasoning that no content follows. */
function callsInReasoning(parts: readonly Part[], tools: Tools, report: BridgeReport): Part[] {
  const last = parts.findLast(part => part.type === 'reasoning')
  const text = last?.segments.map(segment => segment.text).join('') ?? ''
  const calls = text === '' ? [] : lastCalls(piecesOf(text, tools))
  for (const _ of calls) report.add('tool-call.recovered', last?.at)
  return calls.map(call => callPart(call, false))
}

/** The calls behind the last text. One without its end is none: the model was still thinking. */
function lastCalls(pieces: readonly Piece[]): Call[] {
  const from = pieces.findLastIndex(piece => 'text' in piece && piece.text.trim() !== '')
  return pieces
    .slice(from + 1)
    .flatMap(piece => ('call' in piece && piece.call.completed === undefined ? [piece.call] : []))
}
