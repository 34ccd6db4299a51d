import type { CanonicalRequest } from '../../canonical/request.ts'
import { isObject } from '../../kit/json/json.ts'
import { invertNames, type PropertyNames, spellProperties } from '../../kit/tools/property-names.ts'
import type { ToolNameDemands } from '../../protocol.ts'
import type { PassReport } from '../notes.ts'

/**
 * Names of properties that the target accepts in the schema of the response. `names`: by the name in
 * the written schema, the one that the client knows; absent: none changed.
 */
export function nameOutput(
  request: CanonicalRequest,
  { spellProperty }: ToolNameDemands,
  report: PassReport,
): { request: CanonicalRequest; names?: PropertyNames } {
  const format = request.output?.format
  if (!spellProperty || format?.type !== 'schema' || !isObject(format.schema)) return { request }
  const { schema, written } = spellProperties(format.schema, spellProperty)
  if (schema === format.schema) return { request }
  report.add('output.property-renamed', undefined, 'output.format.schema')
  return {
    request: { ...request, output: { ...request.output, format: { ...format, schema } } },
    names: invertNames(written),
  }
}
