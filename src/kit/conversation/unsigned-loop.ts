import type { Message, Signature } from '../../canonical/message.ts'
import { flatMap } from '../text/flat-map.ts'

/**
 * The last turn has called tools, and the thinking before them was lost: manual thinking would be
 * refused. `lost`: decides that by the signature of the turn's first part. It gets undefined if
 * that part is no reasoning or has no signature.
 */
export function isUnsignedLoop(
  messages: readonly Message[],
  lost: (signature: Signature | undefined) => boolean,
): boolean {
  const lastResult = messages.findLastIndex(({ parts }) =>
    parts.some(({ type }) => type === 'tool-result'),
  )
  const lastCall = messages.findLastIndex(
    ({ role, parts }) => role === 'assistant' && parts.some(({ type }) => type === 'tool-call'),
  )
  if (lastCall < 0 || lastResult < lastCall) return false
  if (
    messages
      .slice(lastCall + 1)
      .some(
        ({ role, parts }) => role === 'user' && parts.some(({ type }) => type !== 'tool-result'),
      )
  )
    return false
  let start = lastCall
  while (start > 0 && messages[start - 1]?.role === 'assistant') start--
  const first = flatMap(messages.slice(start, lastCall + 1), ({ parts }) => parts)[0]
  return lost(first?.type === 'reasoning' ? first.signature : undefined)
}
