import type { TokenLogprob } from '../canonical/message.ts'
import { step } from './path.ts'

/** The bytes of a token, from its text, where the wire did not tell them. null: the text is half a letter, or stands for one. */
export function bytesOf(token: string): number[] | null {
  return token.isWellFormed() && !token.includes('\ufffd') ? [...new TextEncoder().encode(token)] : null
}

/** JSON has no infinity: this is what stands for it. */
export const leastLogprob = -9999

/** Notes the keys of tokens that only another protocol knows; each key once, for there are as many tokens as words. */
export function noteTokens(tokens: readonly TokenLogprob[], protocol: string, report: { once(code: 'field.unknown', at: string): void }): void {
  for (const { at = '', ext, top } of tokens) {
    if (top) noteTokens(top, protocol, report)
    for (const [name, { fields }] of Object.entries(ext ?? {}))
      if (name !== protocol) for (const key of Object.keys(fields ?? {})) report.once('field.unknown', at + step(key))
  }
}
