import type { SchemaDialect, ToolOptions } from '../../protocol.ts'
import { isObject, type JsonObject } from '../json/json.ts'
import { outputSchema } from './output-schema.ts'
import { toolSchema } from './tool-schema.ts'

/** The dialect of the target, or a smaller one that its server or the model takes. */
export function dialectOf(taken: ToolOptions['schemas'], own: SchemaDialect): SchemaDialect {
  switch (taken) {
    case 'plain':
      return Object.assign({}, own, plain)
    case 'typed': {
      // Every schema in this form is one that it enforces.
      const { strict: _, ...lax } = own
      return Object.assign({}, lax, typed)
    }
    case 'flat':
      return { ...own, plainRoot: true, references: 'none', rootKeys: flatRoot }
    case 'linear':
      return { ...own, plainRoot: false, patterns: 'linear' }
    case 'portable':
      return { ...asTheyAre, patterns: 'python' }
    case 'anchored':
      return { ...asTheyAre, patterns: 'anchored' }
    default:
      return own
  }
}

const plain: SchemaDialect = { plainRoot: true, form: 'plain' }
const typed: SchemaDialect = { plainRoot: true, form: 'typed', references: 'bare' }

const asTheyAre: SchemaDialect = { incomplete: true }

const flatRoot = ['type', 'properties', 'required']

/**
 * A tool of a written request with its schema in this dialect. `path`: the keys that lead to the
 * schema. `onLoss` is called once if the schema says less than before. The same object if nothing
 * changed.
 */
export function fitTool(
  tool: unknown,
  path: readonly string[],
  dialect: SchemaDialect,
  onLoss: () => void,
): unknown {
  if (!isObject(tool)) return tool
  let inner: unknown = tool
  for (const key of path) inner = isObject(inner) ? inner[key] : undefined
  if (!isObject(inner)) return tool
  const { schema, lost, words } = toolSchema(inner, dialect)
  if (lost.length > 0) onLoss()
  return schema === inner ? tool : withSchema(tool, path, schema, words)
}

/** `words` become part of the description, which is next to the name. */
function withSchema(
  tool: JsonObject,
  [key = '', ...rest]: readonly string[],
  schema: JsonObject,
  words: string | undefined,
): JsonObject {
  const inner = tool[key]
  const value = rest.length > 0 && isObject(inner) ? withSchema(inner, rest, schema, words) : schema
  if (words === undefined || !('name' in tool)) return { ...tool, [key]: value }
  const description = [tool['description'], words].filter(Boolean).join(' ')
  return { ...tool, description, [key]: value }
}

/** The same of the schema of the response, at this path of the body. */
export function fitOutput(
  body: JsonObject,
  path: readonly string[],
  dialect: SchemaDialect,
  report: { add(code: 'schema.keywords', at: string): void },
): JsonObject {
  const given = path.reduce<unknown>((one, key) => (isObject(one) ? one[key] : undefined), body)
  if (!isObject(given)) return body
  const { schema, lost } = outputSchema(given, dialect)
  if (lost.length > 0) report.add('schema.keywords', `/${path.join('/')}`)
  return schema === given ? body : withSchema(body, path, schema, undefined)
}

/** As `fitTools`, of tools with their schema at this path. `at`: JSON pointer of the list. */
export const fitSchemas = (
  list: unknown,
  { at, path, dialect }: { at: string; path: readonly string[]; dialect: SchemaDialect },
  report: { add(code: 'schema.keywords', at: string): void },
): unknown =>
  fitTools(list, (tool, i) =>
    fitTool(tool, path, dialect, () =>
      report.add('schema.keywords', `${at}/${i}/${path.join('/')}`),
    ),
  )

/** The list with each of its tools fitted; the same if none changed. */
export function fitTools(list: unknown, fit: (tool: unknown, i: number) => unknown): unknown {
  if (!Array.isArray(list)) return list
  const fitted = list.map(fit)
  return fitted.every((tool, i) => tool === list[i]) ? list : fitted
}
