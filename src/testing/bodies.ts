import fc, { type Arbitrary } from 'fast-check'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import type { Protocol } from '../protocol.ts'
import { type ProtocolName, protocols } from '../protocols/index.ts'
import * as schemas from '../schemas.ts'
import { fromSchema, wordsIn } from './from-schema.ts'

const schemasOf = {
  'chat-completions': [schemas.ChatCompletionsRequest, schemas.ChatCompletionsResponse],
  responses: [schemas.ResponsesRequest, schemas.ResponsesResponse],
  messages: [schemas.MessagesRequest, schemas.MessagesResponse],
  'generate-content': [schemas.GenerateContentRequest, schemas.GenerateContentResponse],
  converse: [schemas.ConverseRequest, schemas.ConverseResponse],
} as const satisfies Record<ProtocolName, unknown>

export const all: Protocol[] = Object.values(protocols)

/** Every ordered pair of two different protocols, for `describe.each`. */
export const pairs = all.flatMap(from =>
  all.filter(to => to !== from).map(to => ({ from, to, name: `${from.name} → ${to.name}` })),
)

/** Values of the schemas of a protocol's requests and responses. */
export type Wires = {
  request: Arbitrary<unknown>
  response: Arbitrary<unknown>
  words: Record<'request' | 'response', Map<string, Set<unknown>>>
}

const known = new Map<string, Wires>(
  Object.entries(schemasOf).map(([name, [request, response]]) => [
    name,
    {
      request: fromSchema(request),
      response: fromSchema(response),
      words: { request: wordsIn(request), response: wordsIn(response) },
    },
  ]),
)

export function wiresOf({ name }: Protocol): Wires {
  const wires = known.get(name)
  if (!wires) throw new Error(`no schemas of ${name}: write its line in src/testing/bodies.ts`)
  return wires
}

/**
 * Canonical requests, decoded from random requests of every protocol. Rejected ones are skipped.
 */
export const canonicalRequest: Arbitrary<CanonicalRequest> = fc
  .oneof(
    ...all.map(protocol =>
      wiresOf(protocol).request.map(wire => attempt(() => protocol.decodeRequest(wire).value)),
    ),
  )
  .filter(value => value !== undefined)

/**
 * Canonical responses, decoded from random responses of every protocol. Rejected ones are skipped.
 */
export const canonicalResponse: Arbitrary<CanonicalResponse> = fc
  .oneof(
    ...all.map(protocol =>
      wiresOf(protocol).response.map(wire => attempt(() => protocol.decodeResponse(wire).value)),
    ),
  )
  .filter(value => value !== undefined)

export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}

/**
 * The result of a translation. Undefined: it refused the body. Any other error is a fault of the
 * translation.
 */
export function unlessRefused<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch (error) {
    if (TranslationError.is(error)) return undefined
    throw error
  }
}
