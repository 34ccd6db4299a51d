import { isObject, type JsonObject } from './json.ts'

/** Of what an error tells more, the part that both wires of one provider have: why it stopped the model, and how to go on. */
export function splitDetails(details: unknown): { shared: { misalignment?: JsonObject }; others: unknown } {
  if (!isObject(details) || !isObject(details['misalignment'])) return { shared: {}, others: details }
  const { misalignment, ...others } = details
  return { shared: { misalignment: misalignment as JsonObject }, others: Object.keys(others).length > 0 ? others : undefined }
}
