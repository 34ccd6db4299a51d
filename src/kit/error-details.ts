import { isObject, type JsonObject } from './json.ts'

/** Splits the details of an error: `misalignment`, which chat-completions and responses have in common, and all others. */
export function splitDetails(details: unknown): { shared: { misalignment?: JsonObject }; others: unknown } {
  if (!isObject(details) || !isObject(details['misalignment'])) return { shared: {}, others: details }
  const { misalignment, ...others } = details
  return { shared: { misalignment: misalignment as JsonObject }, others: Object.keys(others).length > 0 ? others : undefined }
}
