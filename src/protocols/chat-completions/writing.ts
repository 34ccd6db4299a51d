import type { Message, Part, ToolCallPart } from '../../canonical/message.ts'
import type { ChatReport } from './notes.ts'
import type { Options } from './options.ts'

/** What an encoder of one request or response carries along. */
export type Writing = {
  report: ChatReport
  options: Options
  /** The request or reply was read from this protocol: it is written as it came, without limits and repairs. */
  native: boolean
  /** The name that a tool has on this wire; notes are made where it stands first. */
  nameOf(name: string, namespace?: string): string
  /** The namespace of a tool that is chosen by its name alone. */
  spaceOf?(name: string): string | undefined
  /** Is the tool of this name one that cannot be declared here? */
  isLost?(name: string): boolean
  /** Freeform tools and their calls are told as functions. */
  wraps?: boolean
  /** Results that nobody gave. */
  invented?: Set<Part>
  /** Names whose notes are made. Absent: no tool is defined, so each call tells of its own. */
  told?: Set<string>
  /** The calls that were written, by id. */
  calls: Map<string, ToolCallPart>
}

/** What an assistant message on the wire is made from. `reasoning`: the part of it that is to be written at all. */
export type AssistantToWrite = {
  parts: readonly Part[]
  reasoning: 'all' | 'none'
  /** Signatures reach a client wrapped; a server gets only its own. */
  towards: 'client' | 'server'
  name?: string | undefined
  at?: string | undefined
  ext?: Message['ext']
}
