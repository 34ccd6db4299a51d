import type { Effort } from '../canonical/request.ts'
import type { Protocol } from '../protocol.ts'
import type { ReadBody } from './body/body.ts'
import { withValueAt } from './body/with-value-at.ts'

/** The model that a name asks for, and the effort at its end. */
export type Asked = { model: string; effort: Effort }

/** The efforts that a name may end in. */
export const namedEfforts = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** `model-high`, `model:high` or `model(high)`. Undefined: the name ends in no effort. */
export function splitEffort(name: string): Asked | undefined {
  const isClosed = name.endsWith(')')
  const at = isClosed
    ? name.lastIndexOf('(')
    : Math.max(name.lastIndexOf('-'), name.lastIndexOf(':'))
  const word = name.slice(at + 1, isClosed ? -1 : undefined)
  const effort = namedEfforts.find(one => one === word)
  return at > 0 && effort ? { model: name.slice(0, at), effort } : undefined
}

/** The body with the effort, which takes precedence over its own. */
export function withEffort(body: ReadBody, protocol: Protocol, { effort }: Asked): ReadBody {
  const { 'reasoning.effort': field } = protocol.fieldNames
  if (field === undefined) return body
  const value = withValueAt(body.value, field.split('/'), effort, true)
  return { value, outline: value, length: body.length }
}
