import { addDelta } from '../../../canonical/collect.ts'
import { isContent } from '../../../canonical/content.ts'
import type { CanonicalEvent, Delta, PartDelta } from '../../../canonical/event.ts'
import type {
  Part,
  Place,
  ReasoningPart,
  ReasoningSegment,
  Signature,
  TokenLogprob,
  ToolCallPart,
} from '../../../canonical/message.ts'
import { advanceJson, type JsonObject, type JsonProgress } from '../../../kit/json/json.ts'
import { below, pointerOf } from '../../../kit/notes/path.ts'
import { countedFrom } from '../../../kit/response/candidates.ts'
import { lengthOf } from '../../../kit/text/text.ts'
import { noTags, type Tags } from '../../../kit/text/think-tags.ts'
import type { EmitEvent, MachineState, Shortcut } from '../../../protocol.ts'
import type { ReceivedPart } from '../content/layout.ts'
import { emptySignature } from '../content/reasoning.ts'
import { decodeErrorBody } from '../errors.ts'
import { type ChatCompletionsReport, createChatReport } from '../own.ts'

/** The state of the stream decoder, which its files share. */

export type Call = {
  /** Its index in `calls`. */
  place: number
  id: string
  name: string
  input: string
  kind: ToolCallPart['kind']
  /** Index of the part. Undefined: not announced yet, see `announce`. */
  part: number | undefined
  json: JsonProgress
  /** The path where it came first. */
  at?: Place
  /** Other fields that came before the part was announced. */
  beside: Beside
  /** The older `function_call`, which has no id. */
  isLegacy: boolean
}

export type Beside = { signature?: Signature | undefined; unknown: JsonObject | undefined }

/** One choice of the response. */
export type Choice = {
  candidate: number
  nextPart: number
  /** A part with content came. */
  hasContent: boolean
  /**
   * The open part that text of its kind goes to, and the code points of text `before` it. Only
   * calls can be open at the same time.
   */
  open:
    | {
        kind: 'text' | 'refusal' | 'reasoning'
        part: number
        before: number
        thought?: ReasoningPart
      }
    | undefined
  /** Same as `seals` of the stream. */
  seals: boolean
  /** Length of the text so far, in code points. */
  points: number
  /** `id`: as in the first chunk. */
  audio: { part: number; id: unknown } | undefined
  calls: Call[]
  /**
   * Index on the wire → place in `calls`. `byId`: id → place of the first call that has it.
   * `byPart`: index of the part → call.
   */
  byIndex: Map<number, number>
  byId: Map<string, number>
  byPart: Map<number, Call>
  /** Calls with a name that are announced before the next call begins, unless they are already. */
  named: Call[]
  /** The signatures of calls. */
  callProofs: Set<string>
  /** Reasoning came in a plain field. */
  plain: boolean
  /** Index of the detail whose text came last. */
  detail: number | undefined
  /** The emitted parts in order, with the length of texts. */
  received: ReceivedPart[]
  /** The texts among them. */
  texts: ReceivedPart[]
  /** The layout that the server recorded, see `layout.ts`. */
  layout: string[] | undefined
  /** The tokens of its texts. */
  textTokens: string[]
  /** Emitted reasoning parts, with the index of their detail if they came from details. */
  reasoning: { part: number; content: ReasoningPart; detail: number | undefined }[]
  /** Those before this one are signed. */
  firstUnsigned: number
  /** The signatures of reasoning. */
  proofs: Set<string>
  /** How many characters may still be compared to find the reasoning of a signature. */
  comparable: number
  /**
   * Text of details that came next to a plain field, by index. It shows which reasoning part a
   * signature belongs to.
   */
  detailed: Map<number, ReasoningSegment>
  /** The index of the detail that signed the open reasoning. */
  signer: number | undefined
  /** The number of signed thinking blocks. */
  proven: number
  /** Paths of signatures whose text was joined with that of others. */
  strays: Place[]
  finish: string | undefined
  /** Absent: tags in the text are not interpreted. */
  tags: Tags | undefined
  /** Log probabilities that came before their part. */
  logprobs: Record<'text' | 'refusal', TokenLogprob[]>
  /** The number of tokens whose log probabilities have come. */
  tokens: Record<'text' | 'refusal', number>
  fields: JsonObject
  delta: JsonObject
  /** The entries of `reasoning_details` so far. */
  details: unknown[]
  /** Those of `thinking_blocks`. */
  blocks: unknown[]
  /** The number of `reasoning_items` so far. */
  items: number
}

export type DecoderState = MachineState & {
  phase: 'before' | 'inside' | 'over'
  thinkTags: boolean
  /** Unsigned reasoning gets an empty signature, see `emptySignature`. */
  seals: boolean
  id: string
  model: string
  createdAt: number | undefined
  serviceTier: string | undefined
  /** Unknown fields of chunks, with their last values. */
  fields: JsonObject
  choices: Map<number, Choice>
  /** The wire index of candidate 0. Undefined: no candidate has arrived yet. */
  first: number | undefined
  /** A possible error, which is used if a choice has no finish reason. */
  suspect: Failure | undefined
  finishes: number
  /** The number of choices without a finish reason. */
  unfinished: number
}

/**
 * Far more than a response has: without a bound, each of many signatures would be compared with all
 * reasoning.
 */
const mostCompared = 32 * 1024 * 1024

export function choiceOf(state: DecoderState, index: unknown, emit: EmitEvent): Choice {
  const choiceIndex =
    typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : 0
  state.first ??= choiceIndex
  const candidate = countedFrom(state.first, choiceIndex)
  let choice = state.choices.get(candidate)
  if (!choice) {
    state.unfinished++
    choice = {
      candidate,
      nextPart: 0,
      hasContent: false,
      points: 0,
      open: undefined,
      seals: state.seals,
      audio: undefined,
      calls: [],
      byIndex: new Map(),
      byId: new Map(),
      byPart: new Map(),
      named: [],
      callProofs: new Set(),
      plain: false,
      detail: undefined,
      received: [],
      texts: [],
      layout: undefined,
      textTokens: [],
      reasoning: [],
      firstUnsigned: 0,
      proofs: new Set(),
      comparable: mostCompared,
      detailed: new Map(),
      signer: undefined,
      proven: 0,
      strays: [],
      finish: undefined,
      tags: state.thinkTags ? noTags() : undefined,
      logprobs: { text: [], refusal: [] },
      tokens: { text: 0, refusal: 0 },
      fields: {},
      delta: {},
      details: [],
      blocks: [],
      items: 0,
    }
    state.choices.set(candidate, choice)
    emit({ type: 'message.start', candidate, message: 0, role: 'assistant', at: placeOf(choice) })
  }
  return choice
}

/** The path that the message of a choice has in a complete response. */
export function placeOf({ candidate }: Choice): Place {
  return below(below('/choices', candidate), 'message')
}

export const reportOf = ({ notes }: MachineState): ChatCompletionsReport =>
  createChatReport(undefined, notes)

/** Some servers send the error object itself, without `error` around it. */
export const isFlatError = ({ object, type, choices }: JsonObject): boolean =>
  !choices && (object === 'error' || type === 'error')

export type Failure = Omit<Extract<CanonicalEvent, { type: 'error' }>, 'type'>

/** Clients look for an error only under `error`, so it is put there. */
export function unframed(body: JsonObject): Failure {
  if (typeof body['message'] !== 'string')
    return {
      error: decodeErrorBody({ error: { message: decodeErrorBody(body).message } }),
      unrecognized: true,
    }
  return { error: { ...decodeErrorBody({ error: body }), at: '' }, unrecognized: true }
}

/** Data that is not a chunk may be an error of the server's web framework. */
export const mayBeFailure = ({ message, detail }: JsonObject): boolean =>
  typeof message === 'string' || Boolean(detail)

export function openPart(choice: Choice, head: Part, emit: EmitEvent): number {
  const part = choice.nextPart++
  choice.hasContent ||= isContent(head)
  const kind = kinds.get(head.type)
  if (kind) {
    const received: ReceivedPart = { part, kind, length: 0 }
    choice.received.push(received)
    if (kind === 'x') choice.texts.push(received)
  }
  emit({
    type: 'part.start',
    candidate: choice.candidate,
    message: 0,
    part,
    head: { at: `${pointerOf(placeOf(choice))}${fieldOf(head)}`, ...head },
  })
  return part
}

const kinds = new Map<Part['type'], ReceivedPart['kind']>([
  ['reasoning', 'r'],
  ['text', 'x'],
  ['tool-call', 'c'],
])

/** The path of the field that holds a part, if it has one of its own. */
const fieldOf = ({ type }: Part) => {
  if (type === 'text') return '/content'
  if (type === 'refusal') return '/refusal'
  if (type === 'media') return '/audio'
  return ''
}

export function closePart(choice: Choice, emit: EmitEvent): void {
  if (!choice.open) return
  const { part, thought } = choice.open
  // Not recorded in `thought`, so that a signature that comes later still finds this part unsigned.
  const seal =
    choice.seals && thought && !thought.signature ? { signature: emptySignature } : undefined
  if (seal)
    emit({
      type: 'part.delta',
      candidate: choice.candidate,
      part,
      delta: { kind: 'signature', ...seal },
    })
  // The id of reasoning is known only at its end.
  emit({
    type: 'part.end',
    candidate: choice.candidate,
    part,
    ...(thought?.id !== undefined && { final: { at: placeOf(choice), ...thought, ...seal } }),
  })
  choice.open = undefined
}

/** The open part of this kind, opened if needed. A part of another kind is closed first. */
export function opened(
  choice: Choice,
  kind: 'text' | 'refusal' | 'reasoning',
  emit: EmitEvent,
): number {
  if (choice.open?.kind === kind) return choice.open.part
  closePart(choice, emit)
  const thought: ReasoningPart | undefined =
    kind === 'reasoning' ? { type: kind, segments: [] } : undefined
  const part = openPart(
    choice,
    kind === 'reasoning' ? { type: kind, segments: [] } : { type: kind, text: '' },
    emit,
  )
  if (thought) choice.reasoning.push({ part, content: thought, detail: undefined })
  choice.open = { kind, part, before: choice.points, ...(thought && { thought }) }
  return part
}

/** Counts text, because citations and layouts refer to texts by length. */
export function count(
  choice: Choice,
  part: number,
  { kind, text }: { kind: 'text' | 'refusal'; text: string },
): void {
  choice.hasContent = true
  if (kind === 'refusal') return
  choice.points += lengthOf(text)
  const entry = choice.texts.at(-1)
  if (entry?.part === part) entry.length += text.length
}

export function add(
  choice: Choice,
  part: number,
  { delta, emit }: { delta: Delta; emit: EmitEvent },
): void {
  const { thought, part: current } = choice.open ?? {}
  if (thought && part === current) addDelta(thought, delta)
  emit({ type: 'part.delta', candidate: choice.candidate, part, delta })
}

/** See `UpstreamHalf`. */
export const shortcut: Shortcut = {
  text: new Set([
    'content',
    'reasoning_content',
    'reasoning',
    'refusal',
    'arguments',
    'input',
    'text',
  ]),
  // Some servers send a new `created` in each chunk; `obfuscation` is padding that hides the length
  // of a delta.
  padding: new Set(['created', 'obfuscation']),
  read: (state, delta) => takeAlike(state as DecoderState, delta),
}

function takeAlike({ choices }: DecoderState, { candidate, part, delta }: PartDelta): boolean {
  const choice = choices.get(candidate)
  if (!choice || choice.tags) return false
  const { open } = choice
  switch (delta.kind) {
    case 'text':
      if (open?.part !== part || choice.logprobs.text.length + choice.logprobs.refusal.length > 0)
        return false
      if (open.kind !== 'reasoning') count(choice, part, { kind: open.kind, text: delta.text })
      return true
    case 'reasoning':
      if (open?.part !== part || !open.thought) return false
      addDelta(open.thought, delta)
      return true
    case 'input': {
      const call = choice.byPart.get(part)
      // After complete arguments, the next delta may belong to another call.
      if (!call || call.json.whole) return false
      advanceJson(call.json, delta.text)
      return true
    }
    default:
      return false
  }
}
