import * as z from 'zod/mini'
import type { Plain, Shape } from './plain.ts'

/** The schema of zod with the same meaning. The same one for the same schema. */
export function toZod<Of extends z.core.$ZodType>(schema: Plain<Of>): Of {
  // The types of the plain schemas name the classes that `ofKind` makes.
  return made(schema) as z.core.$ZodType as Of
}

const known = new WeakMap<Plain, z.ZodMiniType>()

function made(schema: Plain): z.ZodMiniType {
  const before = known.get(schema)
  if (before) return before
  const checks = schema.rules.map(({ accepts, message, isForOthers }) =>
    z.refine(accepts, { ...(message && { error: message }), ...(isForOthers && { params: { isForOthers } }) }),
  )
  const bare = ofKind(schema)
  const whole = checks.length > 0 ? bare.check(...checks) : bare
  known.set(schema, whole)
  return whole
}

function ofKind({ def }: Plain): z.ZodMiniType {
  switch (def.type) {
    case 'string':
      return z.string()
    case 'boolean':
      return z.boolean()
    case 'number':
      return z.number()
    case 'unknown':
      return z.unknown()
    case 'null':
      return z.null()
    case 'undefined':
      return z.undefined()
    case 'literal':
      return z.literal(def.values)
    case 'optional':
      return z.optional(made(def.innerType))
    case 'nullable':
      return z.nullable(made(def.innerType))
    case 'lazy':
      return z.lazy(() => made(def.getter()))
    case 'array':
      return z.array(made(def.element))
    case 'record':
      return z.record(z.string(), made(def.valueType))
    case 'object':
      return z.looseObject(shapeOf(def.shape))
    case 'union': {
      const options = def.options.map(made)
      const [first, ...others] = options
      if (def.discriminator === undefined || !first) return z.union(options)
      // Its types want to see the discriminator in each option; `wordsAt` has found it there.
      type Kind = z.core.$ZodTypeDiscriminable
      return z.discriminatedUnion(def.discriminator, [first as Kind, ...(others as Kind[])])
    }
    default:
      return def satisfies never
  }
}

function shapeOf(shape: Shape): Record<string, z.ZodMiniType> {
  return Object.fromEntries(Object.entries(shape).map(([key, field]) => [key, made(field)]))
}
