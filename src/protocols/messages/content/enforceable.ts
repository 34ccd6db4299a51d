import type { Place } from '../../../canonical/message.ts'
import type { JsonObject } from '../../../kit/json/json.ts'
import { closeObjects, fitSchema } from '../../../kit/tools/schema-subset.ts'
import type { MessagesReport } from '../notes.ts'
import { refusedKeywords } from '../vocabulary.ts'

/**
 * The schema in the form that the server takes where it enforces one: objects exclude additional
 * properties, and some keywords are refused.
 */
export function enforceable(
  schema: JsonObject,
  at: Place | undefined,
  field: string,
  report: MessagesReport,
): JsonObject {
  const fitting = fitSchema(schema, refusedKeywords)
  if (fitting !== schema) report.add('schema.keywords', at, field)
  const closed = closeObjects(fitting)
  if (closed !== fitting) report.add('output.closed', at, field)
  return closed
}

export const isEnforceable = (schema: JsonObject): boolean =>
  closeObjects(fitSchema(schema, refusedKeywords)) === schema
