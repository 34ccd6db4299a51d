import type { ErrorKind } from '../../canonical/error.ts'
import { failureKind } from '../error.ts'
import type { FailureCause } from '../options.ts'
import type { Failure } from './failure.ts'

const causes: Partial<Record<ErrorKind, FailureCause>> = {
  context_length: 'context',
  overloaded: 'overloaded',
  unavailable: 'overloaded',
  rate_limit: 'overloaded',
  quota: 'quota',
  billing: 'quota',
  content_policy: 'refused',
  unsupported: 'input',
}

/** What an upstream, which has read the request, finds wrong with it. */
const refusals: ReadonlySet<ErrorKind> = new Set(['invalid_request', 'unprocessable', 'too_large'])

/** Undefined: another one, such as a connection that breaks, or a fault of the client. */
export function causeOf({ rejection }: Pick<Failure, 'rejection'>): FailureCause | undefined {
  const { kind } = rejection.error
  const isRefusal = refusals.has(kind) && failureKind(rejection) === 'upstream_status'
  return isRefusal ? 'input' : causes[kind]
}
