import type { Part, TextPart, ToolCallPart, ToolResultPart } from '../../canonical/message.ts'
import type { CodecOptions } from '../../protocol.ts'
import type { GeminiReport } from './notes.ts'
import type { GeminiOptions } from './options.ts'
import type { GeminiPart } from './schema.ts'

export type Options = CodecOptions & GeminiOptions

/** What reading a part needs to know. */
export type Reading = {
  report: GeminiReport
  /** A pointer in camelCase → the one into the body as it came. */
  place(pointer: string): string
  /** The id of a call that came without one. */
  callId(at: string): string
  /** The id of the call that a result answers. */
  answered?(result: { id: string | undefined; name: string | undefined }, at: string): string
}

/** What writing a part needs to know. */
export type Writing = {
  report: GeminiReport
  /** Requests go to a provider, which checks signatures; replies go to a client, which keeps whatever it is given. */
  to: 'provider' | 'client'
  /** The message came from this protocol, and its parts are written as they stood. */
  native: boolean
  toolName(name: string, namespace: string | undefined, at: string | undefined): string
  /** The id that a call and its result are written with; undefined: none. */
  callId(id: string, part: ToolCallPart | ToolResultPart): string | undefined
  /** The call that a result answers. */
  callOf?(result: ToolResultPart): ToolCallPart | undefined
  /** Calls that are written with the documented placeholder, for want of a signature. */
  unsigned?: ReadonlySet<Part>
  /** Who will read it. */
  model?: string | undefined
  /** Is a result whose text is a JSON object written as that object? */
  parseJson?: boolean
  serverToolHistory?: 'drop' | 'text'
  unresolvable(part: Part): void
  /** Takes what of a text stands elsewhere in a reply: its citations and the odds of its tokens. Absent: there is no such place. */
  beside?(part: TextPart, written: GeminiPart): void
}
