import { isObject, type JsonObject } from './json.ts'

/** Splits the details of an error: `misalignment`, which chat-completions and responses have in common, and all others. */
export function splitDetails(details: unknown): { shared: { misalignment?: JsonObject }; others: unknown } {
  if (!isObject(details) || !isObject(details['misalignment'])) return { shared: {}, others: details }
  const { misalignment, ...others } = details
  return { shared: { misalignment: misalignment as JsonObject }, others: Object.keys(others).length > 0 ? others : undefined }
}

/** The known keys of an error that hold no text, so that they are not read. `isCode`: is it a code all the same? */
export function unreadOf({ message, type, code, param }: JsonObject, isCode: (code: unknown) => boolean): JsonObject {
  const isText = (value: unknown) => value == null || typeof value === 'string'
  const told = { message, type, code, param }
  return Object.fromEntries(Object.entries(told).filter(([key, value]) => !isText(value) && !(key === 'code' && isCode(value))))
}
