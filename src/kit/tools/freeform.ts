import type { FreeformTool, FunctionTool } from '../../canonical/tool.ts'
import { omitUndefined } from '../fields/omit.ts'
import { isObject, parseJson, parseObject } from '../json/json.ts'

/**
 * A freeform tool for a wire that has only functions: a function with one string argument `input`.
 */
export function wrapFreeform({
  name,
  description,
  format,
  namespace,
  deferLoading,
  allowedCallers,
  async,
  cache: _,
  ...node
}: FreeformTool & { cache?: never }): FunctionTool {
  const grammar =
    format?.type === 'grammar'
      ? ` Must match this ${format.syntax} grammar:\n${format.definition}`
      : ''
  return omitUndefined({
    ...node,
    type: 'function' as const,
    name,
    description,
    namespace,
    deferLoading,
    allowedCallers,
    async,
    parameters: {
      type: 'object',
      properties: { input: { type: 'string', description: `Raw text.${grammar}` } },
      required: ['input'],
      additionalProperties: false,
    },
  })
}

/** The arguments of a wrapped tool whose text is `input`. */
export function wrapInput(input: string): string {
  return JSON.stringify({ input })
}

/** Arguments that are no object, in one. What is no JSON stays. */
export const wrapValue = (input: string): string => {
  const value = parseJson(input)
  return value === undefined || isObject(value) ? input : `{"value":${input}}`
}

/** The text in the arguments of a wrapped tool; undefined when they are something else. */
export function unwrapInput(args: string): string | undefined {
  const object = parseObject(args)
  return object && Object.keys(object).length === 1 && typeof object['input'] === 'string'
    ? object['input']
    : undefined
}
