import { z } from 'zod'
import { TranslationError } from '../errors.ts'
import { guardOf } from './guard.ts'
import { pointer } from './path.ts'

/**
 * A wire value against its schema: itself, or an equal copy.
 * @throws TranslationError `malformed` with the path of the fault that lies deepest
 */
export function check<S extends z.ZodType>(protocol: string, schema: S, wire: unknown): z.output<S> {
  if (guardOf(schema)(wire) === true) return wire as z.output<S>
  const result = schema.safeParse(wire)
  const lost = result.success && lostKey(wire, result.data)
  if (result.success && !lost) return result.data
  const { path, message } = lost || deepest(result.error?.issues ?? [], [])
  throw new TranslationError({ code: 'malformed', protocol, path: pointer(path) }, message)
}

/**
 * One of several shapes told apart by their `type`, or anything else that has another `type`: a kind that a vendor added
 * after this was written is read, a known kind with a fault in it is refused.
 */
export function open<S extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]]>(known: S) {
  const types = new Set<unknown>()
  for (const shape of known)
    for (const value of (shape as unknown as { _zod: { propValues?: { type?: Set<unknown> } } })._zod.propValues?.type ?? []) types.add(value)
  const unknown = z.looseObject({ type: z.string().refine(type => !types.has(type), { abort: true, params: { known: true } }) })
  return z.union([z.discriminatedUnion('type', known as never) as z.ZodDiscriminatedUnion<S>, unknown])
}

/** The branch for unknown kinds has nothing to say of a known one. */
function isKnownType(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'custom' && issue.params?.['known'] === true
}

type Fault = { path: PropertyKey[]; message: string }

/** Of all keys, zod leaves out one in silence: it would set the prototype. What it does not look into is the same value. */
function lostKey(wire: unknown, read: unknown): Fault | undefined {
  if (wire === read || typeof wire !== 'object' || wire === null || typeof read !== 'object' || read === null) return undefined
  if (Object.hasOwn(wire, '__proto__')) return { path: ['__proto__'], message: 'no protocol has a key of this name' }
  for (const key in wire) {
    const fault = lostKey(wire[key as never], read[key as never])
    if (fault) return { ...fault, path: [key, ...fault.path] }
  }
  return undefined
}

function deepest(issues: readonly z.core.$ZodIssue[], above: PropertyKey[]): Fault {
  let best: Fault | undefined
  for (const issue of issues) {
    const path = [...above, ...issue.path]
    let fault: Fault = { path, message: issue.message }
    if (issue.code === 'invalid_union')
      for (const branch of issue.errors) {
        if (branch.length === 0 || branch.some(isKnownType)) continue
        const inner = deepest(branch, path)
        if (inner.path.length > fault.path.length) fault = inner
      }
    if (!best || fault.path.length > best.path.length) best = fault
  }
  return best ?? { path: above, message: 'not what the protocol says' }
}
