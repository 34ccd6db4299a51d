import type { ServerToolPart } from '../canonical/message.ts'
import { isObject } from './json.ts'

/** A tool that its provider ran, in one line for readers that know no such tools. What only the provider can decrypt is left out. */
export function serverToolText({ tool, phase, raw }: ServerToolPart): string {
  const told = isObject(raw) ? (raw['action'] ?? raw['input'] ?? raw['args'] ?? raw['results'] ?? raw['output'] ?? raw['content']) : undefined
  return `[${tool} ${phase}${told == null ? '' : `: ${JSON.stringify(told, (key, value: unknown) => (key.startsWith('encrypted') ? undefined : value))}`}]`
}
