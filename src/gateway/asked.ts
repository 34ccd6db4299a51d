import { isObject } from '../kit/json/json.ts'
import type { Protocol } from '../protocol.ts'
import type { RequestTraits } from '../vendors/settings.ts'

/**
 * Does a request of any protocol offer tools? `outline`: its outline, in which a long object is
 * empty.
 */
export function hasTools(outline: unknown): boolean {
  if (!isObject(outline)) return false
  const { tools, functions, toolConfig } = outline
  return (
    [tools, functions].some(list => Array.isArray(list) && list.length > 0) || isObject(toolConfig)
  )
}

/** Does a request ask for this, in a field where its protocol has it? */
export function asksFor(
  body: unknown,
  { fieldNames, olderNames = {} }: Protocol,
  what: Parameters<NonNullable<RequestTraits['asks']>>[0],
): boolean {
  const { field, isAsked } = fields[what]
  return [fieldNames[field] ?? '', ...(olderNames[field] ?? [])].some(path => {
    const keys = path.split('/')
    const value = keys.reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), body)
    return value !== undefined && value !== null && isAsked(value)
  })
}

const fields = {
  'tool-choice': { field: 'toolChoice', isAsked: (value: unknown) => wordIn(value) !== 'auto' },
  format: {
    field: 'output.format',
    isAsked: (value: unknown) => !['text', 'text/plain'].includes(wordIn(value)),
  },
  'thinking-budget': {
    field: 'reasoning.budgetTokens',
    isAsked: (value: unknown) => typeof value === 'number' && value > 0,
  },
} as const

/** A value as a word, or an object with its kind as `type`, as `mode` or as its only key. */
function wordIn(value: unknown): string {
  if (!isObject(value)) return String(value).toLowerCase()
  return String(value['type'] ?? value['mode'] ?? Object.keys(value)[0]).toLowerCase()
}
