import { writeExact } from '../json/digits.ts'
import type { JsonObject } from '../json/json.ts'

/** Asks for JSON in words, where no field can. `schema`: of the JSON. */
export const jsonInstruction = (schema?: JsonObject): string =>
  schema
    ? `Respond with JSON that fits this schema, and with nothing else: ${writeExact(schema)}`
    : 'Respond with one JSON object, and with nothing else.'
