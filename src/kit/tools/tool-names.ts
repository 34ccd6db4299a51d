import type { Place } from '../../canonical/message.ts'

type Reporting = { add(code: 'tool.namespace', at: Place | undefined, field: string): void }

/**
 * The name of a tool in a response, with its namespace in front: a client of a wire without
 * namespaces knows it by that.
 */
export function responseToolName(
  called: string,
  namespace: string | undefined,
  at: Place | undefined,
  report: Reporting,
): string {
  if (namespace === undefined) return called
  report.add('tool.namespace', at, 'namespace')
  return flatName(called, namespace)
}

/** The name of a tool on a wire without namespaces. */
export const flatName = (called: string, namespace: string | undefined): string =>
  namespace === undefined ? called : `${namespace}__${called}`

/** A unique key of a tool. The length in front separates namespace and name unambiguously. */
export const toolKey = (called: string, namespace: string | undefined): string =>
  `${namespace?.length ?? ''}:${namespace ?? ''}${called}`
