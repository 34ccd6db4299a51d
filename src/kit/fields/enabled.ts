import type { JsonObject } from '../json/json.ts'
import { keysOf, unknownOf } from './keys.ts'

type Enabled = { [key: string]: unknown; enabled?: boolean | null | undefined }

/** May the model cite this? Undefined: the wire does not say. */
export function decodeEnabled(
  citations: Enabled | null | undefined,
): { enabled?: boolean } | undefined {
  if (!citations) return undefined
  return typeof citations.enabled === 'boolean' ? { enabled: citations.enabled } : {}
}

const known = keysOf<{ enabled: boolean }>()('enabled')

export const unknownOfEnabled = (citations: Enabled | null | undefined): JsonObject | undefined =>
  citations ? unknownOf(citations, known) : undefined
