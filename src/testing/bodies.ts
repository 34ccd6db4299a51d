import fc, { type Arbitrary } from 'fast-check'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import type { Protocol } from '../protocol.ts'
import * as chatCompletions from '../protocols/chat-completions/schema.ts'
import * as converse from '../protocols/converse/schema.ts'
import * as generateContent from '../protocols/generate-content/schema.ts'
import { type ProtocolName, protocols } from '../protocols/index.ts'
import * as messages from '../protocols/messages/schema.ts'
import * as responses from '../protocols/responses/schema.ts'
import { isSchema } from './definition.ts'
import { fromSchema, wordsIn } from './from-schema.ts'

const schemasOf = new Map<string, object>(
  Object.entries({ 'chat-completions': chatCompletions, responses, messages, 'generate-content': generateContent, converse } satisfies Record<
    ProtocolName,
    object
  >),
)

export const all: Protocol[] = Object.values(protocols)

/** Every ordered pair of two different protocols, for `describe.each`. */
export const pairs = all.flatMap(from => all.filter(to => to !== from).map(to => ({ from, to, name: `${from.name} → ${to.name}` })))

/** The schemas in a protocol's `schema.ts`: the exports whose names end in `Request` and `Response`. */
export type Wires = { request: Arbitrary<unknown>; response: Arbitrary<unknown>; words: Record<'request' | 'response', Map<string, Set<unknown>>> }

const known = new Map<string, Wires>(
  all.map(({ name }) => {
    const schemas = schemasOf.get(name)
    if (!schemas) throw new Error(`write the line of ${name} in src/testing/bodies.ts`)
    const named = (ending: string) => {
      const [only, ...others] = Object.entries(schemas).filter(([key]) => key.endsWith(ending))
      const schema: unknown = only?.[1]
      if (!isSchema(schema) || others.length > 0) throw new Error(`export one schema named …${ending} from src/protocols/${name}/schema.ts`)
      return schema
    }
    const [request, response] = [named('Request'), named('Response')]
    const words = { request: wordsIn(request), response: wordsIn(response) }
    return [name, { request: fromSchema(request), response: fromSchema(response), words }]
  }),
)

export function wiresOf({ name }: Protocol): Wires {
  const wires = known.get(name)
  if (!wires) throw new Error(`no schemas of ${name}`)
  return wires
}

/** Canonical requests, decoded from random requests of every protocol. Rejected ones are skipped. */
export const canonicalRequest: Arbitrary<CanonicalRequest> = fc
  .oneof(...all.map(protocol => wiresOf(protocol).request.map(wire => attempt(() => protocol.decodeRequest(wire).value))))
  .filter(value => value !== undefined)

/** Canonical responses, decoded from random responses of every protocol. Rejected ones are skipped. */
export const canonicalResponse: Arbitrary<CanonicalResponse> = fc
  .oneof(...all.map(protocol => wiresOf(protocol).response.map(wire => attempt(() => protocol.decodeResponse(wire).value))))
  .filter(value => value !== undefined)

export function attempt<T>(act: () => T): T | undefined {
  try {
    return act()
  } catch {
    return undefined
  }
}
