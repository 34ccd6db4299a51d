import { pointerOf } from '../canonical/place.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { estimateTokens } from '../gateway/endpoints/estimate.ts'
import { protocols } from '../protocols/index.ts'
import type { Cassette, CassetteAttempt } from './format.ts'
import { jsonOfBody } from './read.ts'

/**
 * Where the beginning of a prompt, which a provider caches, is another one than in the request
 * before. `path`: JSON pointer into the request to the upstream. `offset`: of the first letter that
 * differs there, in UTF-16 units. `before` and `after`: what stands there, shortened.
 */
export type PrefixBreak = {
  path: string
  offset: number
  before: string
  after: string
  /** Tokens of the part that both begin with, estimated. */
  kept: number
  /** Tokens of the rest of the earlier prompt, estimated: they have to be read again. */
  lost: number
}

/** A part of a prompt, in the order in which models read it. */
type Part = { path: string; text: string; tokens: number }

/** Where breakpoints of the cache are does not matter to it; the others are no text of a prompt. */
const notRead: ReadonlySet<string> = new Set(['at', 'cache', 'source', 'ext'])

/**
 * Where the prefix of a prompt broke between two requests to the same model. Undefined: the later
 * one begins with all of the earlier one, or one of them cannot be read.
 * @example
 * import { prefixBreakBetween, readCassettes } from 'wireglot/cassettes'
 *
 * const [turn] = await readCassettes(['test/examples/cassettes'])
 * console.log(turn && prefixBreakBetween(turn, turn)) // undefined
 */
export function prefixBreakBetween(earlier: Cassette, later: Cassette): PrefixBreak | undefined {
  const [before, after] = [partsOf(earlier.attempts.at(-1)), partsOf(later.attempts.at(-1))]
  if (!before || !after) return undefined
  const at = before.findIndex((part, i) => part.text !== after[i]?.text)
  if (at < 0) return undefined
  const sum = (parts: readonly Part[]) => parts.reduce((total, { tokens }) => total + tokens, 0)
  const [one, other] = [before[at], after[at]]
  const offset = commonLength(one?.text ?? '', other?.text ?? '')
  const path = other?.path ?? one?.path ?? ''
  const show = (text = '') => text.slice(Math.max(0, offset - 20), offset + 60)
  return {
    path,
    offset,
    before: show(one?.text),
    after: show(other?.text),
    kept: sum(before.slice(0, at)),
    lost: sum(before.slice(at)),
  }
}

/**
 * How a conversation begins: the first message of its user, which all of its requests have.
 * Undefined: it has none.
 */
export function openingOf({ request, operation }: Cassette): string | undefined {
  if (operation !== 'generate') return undefined
  const decoded = decode(request.protocol, jsonOfBody(request.body))
  const first = decoded?.messages.find(({ role }) => role === 'user')
  return first && JSON.stringify(first.parts, readable)
}

function partsOf(attempt: CassetteAttempt | undefined): Part[] | undefined {
  const request = attempt && decode(attempt.protocol, jsonOfBody(attempt.body))
  if (!request) return undefined
  const tools = (request.tools ?? []).map((tool, i) =>
    partOf(tool, pointerOf(tool.at ?? `/tools/${i}`)),
  )
  const messages = request.messages.flatMap(message =>
    message.parts.map(part =>
      partOf({ role: message.role, ...part }, pointerOf(part.at ?? message.at ?? '')),
    ),
  )
  return [...tools, ...messages]
}

function partOf(value: object, path: string): Part {
  const isText =
    'text' in value && typeof value.text === 'string' && 'type' in value && value.type === 'text'
  return {
    path,
    text: isText ? (value as { text: string }).text : JSON.stringify(value, readable),
    tokens: estimateTokens(JSON.parse(JSON.stringify(value, readable))),
  }
}

const readable = (key: string, value: unknown) => (notRead.has(key) ? undefined : value)

function decode(name: CassetteAttempt['protocol'], body: unknown): CanonicalRequest | undefined {
  try {
    return protocols[name].decodeRequest(body).value
  } catch {
    return undefined
  }
}

function commonLength(one: string, other: string): number {
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  return length
}
