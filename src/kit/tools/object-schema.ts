import type { FunctionTool } from '../../canonical/tool.ts'
import { TranslationError } from '../../errors.ts'
import type { JsonObject } from '../json/json.ts'

/**
 * The parameters for servers that require an object. `place`: their path, for the error.
 * @throws TranslationError `inexpressible` for parameters whose type is not `object`
 */
export function objectSchema(
  parameters: FunctionTool['parameters'],
  protocol: string,
  place: () => string,
): JsonObject {
  if (!parameters) return { type: 'object', properties: {} }
  if (parameters['type'] === 'object') return parameters
  if (parameters['type'] === undefined) return { type: 'object', ...parameters }
  throw new TranslationError(
    { code: 'inexpressible', protocol, path: place() },
    "the target needs parameters with `type: 'object'`: wrap them in an object",
  )
}
