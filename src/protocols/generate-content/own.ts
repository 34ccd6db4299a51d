import type { ExtMap } from '../../canonical/message.ts'
import type { Note } from '../../canonical/note.ts'
import { omitNullish } from '../../kit/fields/omit.ts'
import { createOwn } from '../../kit/fields/own.ts'
import { isObject, type JsonObject, setOwn } from '../../kit/json/json.ts'
import { step } from '../../kit/notes/path.ts'
import { createReport, type Report } from '../../kit/notes/report.ts'
import type { SharedNotes } from '../../kit/notes/shared.ts'
import { asRead } from '../../kit/schema/written.ts'
import type { FieldNames, NoteTable } from '../../protocol.ts'

/** The name of this protocol, as users see it. */
export const protocolName = 'generate-content'

/** The path of its main endpoint. */
export const path = '/v1beta/models/{model}:generateContent'

export const { ownOf: ownFields, ownUnder: ownObject } = createOwn(protocolName)

/** `ext` for the unknown keys of a node, where null means absence. Undefined: there are none. */
export function extOf(fields: JsonObject | undefined): ExtMap | undefined {
  if (!fields) return undefined
  const known = omitNullish(fields)
  for (const _ in known) return { [protocolName]: { fields: known } }
  return undefined
}

/**
 * What is written anew, with what was left of the original: objects are joined by key, lists of the
 * same length by index. `lost`: another list is left out.
 */
export function withLeft(left: unknown, written: unknown, lost: () => void): unknown {
  if (Array.isArray(left) && Array.isArray(written)) {
    if (left.length === written.length)
      return written.map((one: unknown, index) => withLeft(left[index], one, lost))
    lost()
    return written
  }
  if (!isObject(left) || !isObject(written)) return written ?? left
  const both = { ...left }
  for (const key in written) setOwn(both, key, withLeft(left[key], written[key], lost))
  return both
}

/** `{ key: value }`, or `{}` if the value has no keys. */
export function under(key: string, value: JsonObject | null | undefined): JsonObject {
  for (const _ in value) return { [key]: value }
  return {}
}

/** Requests to count tokens wrap the whole request. */

/** `at`: JSON pointer to the body; empty: it is not nested. `beside`: the fields next to it. */
type Held = { body: unknown; at: string; beside: JsonObject }

const counted = ['generateContentRequest', 'generate_content_request']

const isBody = (value: JsonObject) => 'contents' in value || 'candidates' in value

/** The key that holds the body. Undefined: it is not nested. */
const keyIn = (given: unknown): string | undefined =>
  isObject(given) && !isBody(given) ? counted.find(key => isObject(given[key])) : undefined

/** Applies the same change to a body and to the object it is nested in. */
export function within(given: unknown, change: (body: JsonObject) => JsonObject): unknown {
  if (!isObject(given)) return given
  const key = keyIn(given)
  const inner = key === undefined ? undefined : given[key]
  return key !== undefined && isObject(inner)
    ? { ...change(given), [key]: change(inner) }
    : change(given)
}

export function unwrapRequest(given: unknown): Held {
  const key = keyIn(given)
  if (!isObject(given) || key === undefined) return { body: given, at: '', beside: {} }
  const { [key]: body, ...beside } = given
  return { body, at: step(key), beside }
}

/** Keys next to the body, as they are kept among those of the body: with the prefix `../`. */
export function asBeside(fields: JsonObject | undefined): JsonObject {
  const beside: JsonObject = {}
  for (const key in fields) beside[`../${key}`] = fields[key]
  return beside
}

/**
 * Keys of the body, as they are kept: one that happens to begin with `../` or `./` gets the prefix
 * `./`.
 */
export function asInside(fields: JsonObject | undefined): JsonObject {
  const inside: JsonObject = {}
  for (const key in fields) inside[looksKept.test(key) ? `./${key}` : key] = fields[key]
  return inside
}

const looksKept = /^\.{1,2}\//

export function splitBeside(kept: JsonObject): { inside: JsonObject; beside: JsonObject } {
  const inside: JsonObject = {}
  const beside: JsonObject = {}
  for (const key in kept) {
    if (key.startsWith('../')) beside[key.slice(3)] = kept[key]
    else inside[key.startsWith('./') ? key.slice(2) : key] = kept[key]
  }
  return { inside, beside }
}

/** A written body nested as it was. `at`: see `Source`. */
export function wrapAgain<Body extends object>(
  body: Body,
  at: string | undefined,
  beside: JsonObject,
): Body {
  // What a host puts around a body is no part of the protocol.
  return at === undefined ? body : asRead({ ...beside, [at.slice(1)]: body })
}

/** The notes that the codecs of this protocol alone make. */
export const notes = {
  'text.empty': { kind: 'dropped', meaning: 'A part without text is dropped.' },
  'media.url': {
    kind: 'approximated',
    meaning: 'Only newer models fetch this URL.',
    advice: 'Send the media as base64.',
  },
  'media.flattened': {
    kind: 'approximated',
    meaning: 'A document of several parts is written as these parts.',
  },
  'search-result.as-text': { kind: 'approximated', meaning: 'A search result is written as text.' },
  'reasoning.mode': {
    kind: 'approximated',
    meaning: 'The target cannot limit reasoning to the time between tool calls.',
  },
  'reasoning.least-budget': {
    kind: 'approximated',
    meaning: 'The reasoning budget is below the minimum of this model; the minimum is written.',
    advice: 'Raise the budget.',
  },
  'tool.invocations': {
    kind: 'synthesized',
    meaning:
      "Functions next to a provider tool require that the response may report the tool's use.",
    advice: 'See `generateContent.toolInvocations`.',
  },
  'tool-choice.validated': {
    kind: 'approximated',
    meaning: 'A choice among some functions also requires valid arguments.',
  },
  'sampling.penalty-clamped': {
    kind: 'approximated',
    meaning: 'Penalties of the target are below 2; the largest value is written.',
    advice: 'Use a smaller penalty.',
  },
  'sampling.seed': {
    kind: 'dropped',
    meaning: 'A seed of the target has 32 bits.',
    advice: 'Use a smaller seed.',
  },
  'tool-result.name': {
    kind: 'synthesized',
    meaning:
      'A tool result requires the function name, and no call has it; a placeholder is written.',
  },
  'citation.rounded': {
    kind: 'approximated',
    meaning:
      "A citation begins or ends inside a character; it is extended to the character's beginning.",
  },
  'logprobs.bytes': {
    kind: 'dropped',
    meaning: 'The log probabilities of the target have no bytes.',
  },
  'stream.partial-path': {
    kind: 'dropped',
    meaning: 'An argument delta has a path that is invalid or already used.',
  },
} as const satisfies NoteTable

export type GenerateContentReport = Report<typeof notes & SharedNotes>

export function createGeminiReport(fieldNames?: FieldNames, into?: Note[]): GenerateContentReport {
  return createReport(protocolName, notes, fieldNames, into)
}
