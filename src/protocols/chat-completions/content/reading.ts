import type { ChatCompletionsReport } from '../notes.ts'

/** The context for decoding an assistant message. */
export type Reading = {
  /** The sender of the message. */
  from: 'client' | 'server'
  /** Reasoning between tags in the text becomes reasoning parts, see `extractThinkTags`. */
  thinkTags?: boolean | undefined
  /** Unsigned reasoning gets an empty signature, see `emptySignature`. */
  seals?: boolean | undefined
  report: ChatCompletionsReport
  /** For calls without an id: `ordinal` counts the calls of the message. */
  idOf(ordinal: number): string
  /** The same for the older single function call. */
  legacyId(): string
}
