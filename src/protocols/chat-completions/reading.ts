import type { ChatReport } from './notes.ts'

/** What a decoder of assistant messages needs to know around the message. */
export type Reading = {
  /** Who said it. */
  from: 'client' | 'server'
  /** Reasoning between tags in the text is taken out of it. */
  thinkTags?: boolean | undefined
  /** Reasoning that nothing proves gets an empty proof. */
  seals?: boolean | undefined
  report: ChatReport
  /** For calls without an id: `ordinal` counts the calls of the message. */
  idOf(ordinal: number): string
  /** The same for the older single function call. */
  legacyId(): string
}
