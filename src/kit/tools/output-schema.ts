import type { SchemaDialect } from '../../protocol.ts'
import { isObject, type JsonObject, without } from '../json/json.ts'
import { refusedPatterns } from './patterns.ts'
import { resolveReferences } from './schema-references.ts'
import { everySchema, fitSchema, mapSchemas } from './schema-subset.ts'
import { type FittedSchema, typedRoot, validSchema } from './tool-schema.ts'

/** The schema of a response as servers take it. The same object if nothing changed. */
export function outputSchema(
  given: JsonObject,
  dialect: SchemaDialect,
): Omit<FittedSchema, 'words'> {
  const { references, patterns, outputWithout = [] } = dialect
  const valid = validSchema(given, dialect)
  const lost = [...valid.lost]
  const rooted = typedRoot(valid.schema)
  const resolved = references ? resolveReferences(rooted, references) : undefined
  if (resolved?.isLess && !lost.includes('schema.reference')) lost.push('schema.reference')
  const bare = withoutAnyName(resolved?.schema ?? rooted)
  const refused = Object.fromEntries(outputWithout.map(key => [key, true] as const))
  const schema = fitSchema(bare, Object.assign({}, refusedPatterns[patterns ?? 'any'], refused))
  if (schema !== bare) lost.push('schema.keywords')
  return { schema, lost }
}

/** Names are always texts, so that nothing is lost with a keyword that says only that. */
function withoutAnyName(schema: JsonObject): JsonObject {
  if (everySchema(schema, one => !namesAny(one))) return schema
  return mapSchemas(schema, one => (namesAny(one) ? without(one, ['propertyNames']) : one))
}

const namesAny = ({ propertyNames: names }: JsonObject) =>
  isObject(names) && Object.keys(names).length === 1 && names['type'] === 'string'
