import type { ServerToolPart } from '../../canonical/message.ts'
import { isObject } from '../json/json.ts'

/**
 * A call or result of a built-in tool as one line of text, for protocols without such parts.
 * Encrypted content is left out.
 */
export function serverToolText({ tool, phase, raw }: ServerToolPart): string {
  const content = isObject(raw)
    ? (raw['action'] ??
      raw['input'] ??
      raw['args'] ??
      raw['results'] ??
      raw['output'] ??
      raw['content'])
    : undefined
  return `[${tool} ${phase}${content == null ? '' : `: ${JSON.stringify(content, (key, value: unknown) => (key.startsWith('encrypted') ? undefined : value))}`}]`
}
