import type { Place } from '../../canonical/message.ts'
import type { EncodingContext } from '../../protocol.ts'
import { hashHex } from '../conversation/ids.ts'
import { setOwn } from '../json/json.ts'

type Reporting = { add(code: 'tool.namespace' | 'tool.renamed', at: Place | undefined, field: string): void }

/** The names of a request's tools on a wire without namespaces and with a limited alphabet. */
export type ToolNames = {
  /** By written name: what the reply has to undo. */
  renamed: NonNullable<EncodingContext['tools']>
  /**
   * The written name of a tool, always the same. The first call for a tool notes a changed name. `wrapped`: a freeform tool is written
   * as a function.
   */
  nameOf(called: string, namespace: string | undefined, at: Place | undefined, wrapped: boolean): string
}

/**
 * `limit`: the maximum length of a name. `spell`: makes a name valid. `native`: the names came from this wire and are not changed.
 */
export function createToolNames({ limit, spell, native }: { limit: number; spell(name: string): string; native: boolean }, report: Reporting): ToolNames {
  const renamed: ToolNames['renamed'] = {}
  const written = new Map<string, string>()
  const taken = new Set<string>()
  return {
    renamed,
    nameOf(called, namespace, at, wrapped) {
      const key = toolKey(called, namespace)
      const known = written.get(key)
      if (known !== undefined) return known
      const flat = flatName(called, namespace)
      const fitting = native && namespace === undefined ? called : spell(flat)
      const wire = taken.has(fitting) && !native ? `${fitting.slice(0, limit - 9)}_${hashHex(JSON.stringify([namespace ?? null, called]), 8)}` : fitting
      if (namespace !== undefined) report.add('tool.namespace', at, 'namespace')
      if (wire !== flat) report.add('tool.renamed', at, 'name')
      taken.add(wire)
      written.set(key, wire)
      if (wire !== called || namespace !== undefined || wrapped)
        setOwn(renamed, wire, { name: called, ...(namespace !== undefined && { namespace }), ...(wrapped && { wrapped }) })
      return wire
    },
  }
}

/** The name of a tool in a reply, with its namespace in front: a client of a wire without namespaces knows it by that. */
export function replyToolName(called: string, namespace: string | undefined, at: Place | undefined, report: Reporting): string {
  if (namespace === undefined) return called
  report.add('tool.namespace', at, 'namespace')
  return flatName(called, namespace)
}

/** The name of a tool on a wire without namespaces. */
export const flatName = (called: string, namespace: string | undefined): string => (namespace === undefined ? called : `${namespace}__${called}`)

/** A unique key of a tool. The length in front separates namespace and name unambiguously. */
export const toolKey = (called: string, namespace: string | undefined): string => `${namespace?.length ?? ''}:${namespace ?? ''}${called}`
