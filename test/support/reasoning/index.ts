import { readdirSync } from 'node:fs'

/**
 * One response of an upstream that thinks: by name, the same in every turn but for its texts, ids
 * and signatures.
 */
export type Shape = { name: string; response(turn: number): unknown }

/**
 * How the upstreams of one protocol think; written by hand, so that the library does not validate
 * itself.
 */
export type Thinker = {
  shapes: Shape[]
  /** The same response as frames of a stream, as servers cut it. */
  stream(response: unknown): string
  /**
   * What a server checks of a response when it comes back: content in order, signatures, calls;
   * without ids that may change.
   */
  essence(result: unknown): unknown
  /** The responses that a request holds, as `essence` shows them. */
  echoed(request: unknown): unknown[]
  /** Its servers sign no reasoning, so no signature of theirs can be dropped. */
  unproven?: true
  /** Every opaque signature in a request. */
  signatures(request: unknown): string[]
  /**
   * Of content: does the server need it back? Clients without support for reasoning have no place
   * for others. Absent: all of it.
   */
  wants?(part: unknown): boolean
}

const found = readdirSync(new URL('.', import.meta.url)).filter(
  file => file.endsWith('.ts') && file !== 'index.ts',
)

const thinkers = new Map(
  await Promise.all(
    found.map(
      async file =>
        [
          file.replace(/\.ts$/, ''),
          ((await import(new URL(file, import.meta.url).href)) as { thinker: Thinker }).thinker,
        ] as const,
    ),
  ),
)

export function thinkerOf(protocol: string): Thinker {
  const known = thinkers.get(protocol)
  if (!known) throw new Error(`write test/support/reasoning/${protocol}.ts`)
  return known
}

/** Signatures look alike everywhere: base64 of random bytes. */
export const signature = (what: string, turn: number) => btoa(`${what} of turn ${turn} +/ \u00ff`)
