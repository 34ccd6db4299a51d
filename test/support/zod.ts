import { z } from 'zod'
import type { AnySchema } from '../../src/kit/schema.ts'

/** The same schema in zod's words: somebody else's opinion of what it takes. */
export function toZod(schema: AnySchema): z.ZodType {
  const known = made.get(schema)
  if (known) return known
  const written = write(schema)
  made.set(schema, written)
  return written
}

const made = new WeakMap<AnySchema, z.ZodType>()

function write({ def }: AnySchema): z.ZodType {
  switch (def.type) {
    case 'unknown':
    case 'string':
    case 'boolean':
    case 'number':
    case 'null':
    case 'undefined':
      return z[def.type]()
    case 'int':
      return z.number().refine(Number.isInteger)
    case 'literal':
      return z.literal(def.values as string[])
    case 'optional':
    case 'nullable':
      return z[def.type](toZod(def.innerType))
    case 'refined':
      return toZod(def.innerType).refine(def.holds, { abort: true })
    case 'lazy':
      return z.lazy(() => toZod(def.getter()))
    case 'array':
      return z.array(toZod(def.element))
    case 'record':
      return z.record(z.string(), toZod(def.valueType))
    case 'object':
      return z.looseObject(Object.fromEntries(Object.entries(def.shape).map(([key, field]) => [key, toZod(field)])))
    case 'union': {
      const options = def.options.map(toZod)
      return def.discriminator === undefined ? z.union(options) : z.discriminatedUnion(def.discriminator, options as never)
    }
    default:
      return def satisfies never
  }
}
