import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc, { type Arbitrary } from 'fast-check'
import type { z } from 'zod'
import type { CanonicalRequest } from '../../src/canonical/request.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import type { Protocol } from '../../src/protocol.ts'
import { protocols } from '../../src/protocols/index.ts'
import { fromSchema, wordsIn } from './arbitrary.ts'

export const all: Protocol[] = Object.values(protocols)

/** Every ordered pair of two different protocols, for `describe.each`. */
export const pairs = all.flatMap(from => all.filter(to => to !== from).map(to => ({ from, to, name: `${from.name} → ${to.name}` })))

/** What a protocol's `schema.ts` says of its wire: the exports whose names end in `Request` and `Response`. */
export type Wires = { request: Arbitrary<unknown>; response: Arbitrary<unknown>; words: Record<'request' | 'response', Map<string, Set<unknown>>> }

const known = new Map<string, Wires>(
  await Promise.all(
    all.map(async ({ name }) => {
      const file = fileURLToPath(new URL(`../../src/protocols/${name}/schema.ts`, import.meta.url))
      if (!existsSync(file)) throw new Error(`${name} has no schema.ts`)
      const schemas = (await import(file)) as Record<string, z.core.$ZodType>
      const named = (ending: string) => {
        const found = Object.keys(schemas).filter(key => key.endsWith(ending))
        const schema = found.length === 1 ? schemas[String(found[0])] : undefined
        if (!schema) throw new Error(`${name}/schema.ts exports ${found.length} schemas named …${ending}, expected one`)
        return schema
      }
      const [request, response] = [named('Request'), named('Response')]
      const words = { request: wordsIn(request), response: wordsIn(response) }
      return [name, { request: fromSchema(request), response: fromSchema(response), words }] as const
    }),
  ),
)

export function wiresOf({ name }: Protocol): Wires {
  const wires = known.get(name)
  if (!wires) throw new Error(`no schemas of ${name}`)
  return wires
}

/** What random requests of every protocol mean; those that its decoder refuses are passed over. */
export const canonicalRequest: Arbitrary<CanonicalRequest> = fc
  .oneof(...all.map(protocol => wiresOf(protocol).request.map(wire => attempt(() => protocol.decodeRequest(wire).value))))
  .filter(value => value !== undefined)

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
