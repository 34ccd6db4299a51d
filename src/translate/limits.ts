import type { Part, Place } from '../canonical/message.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { TranslationError } from '../errors.ts'
import { pointerOf } from '../kit/notes/path.ts'

/**
 * The most that a request to another protocol may have. No conversation has nearly as many; each
 * takes up to fifty microseconds, and a body of many megabytes may hold a million. Parts: also what
 * is inside of one, such as citations and the content of a result.
 */
export const most = { messages: 50_000, parts: 50_000, tools: 10_000 } as const

/**
 * @throws TranslationError `malformed` with the path of the first message or tool that is too many,
 * or of the message with such a part
 */
export function refuseTooMany({ messages, tools = [] }: CanonicalRequest, protocol: string): void {
  const refuse = (limit: number, what: string, at: Place | undefined): never => {
    throw new TranslationError(
      { code: 'malformed', protocol, path: at === undefined ? '' : pointerOf(at) },
      `expected at most ${limit} ${what}s in a request`,
    )
  }
  if (messages.length > most.messages) refuse(most.messages, 'message', messages[most.messages]?.at)
  let counted = tools.length
  if (counted > most.tools) refuse(most.tools, 'tool', tools[most.tools]?.at)
  let parts = 0
  for (const message of messages)
    for (const part of message.parts) {
      parts += 1 + countIn(part)
      if (parts > most.parts) refuse(most.parts, 'part', message.at)
      if (part.type === 'control' && part.tools) counted += part.tools.length
      if (counted > most.tools) refuse(most.tools, 'tool', part.at)
    }
}

function countIn(part: Part): number {
  switch (part.type) {
    case 'text':
      return part.citations?.length ?? 0
    case 'reasoning':
      return part.segments.length
    case 'tool-result':
      return part.content.reduce((sum, inner) => sum + 1 + countIn(inner), 0)
    case 'search-result':
      return part.parts.length
    default:
      return 0
  }
}
