import { readdirSync } from 'node:fs'

/** One reply of an upstream that thinks: by name, the same in every turn but for its texts, ids and proofs. */
export type Shape = { name: string; response(turn: number): unknown }

/** How the upstreams of one protocol think; written by hand, for the library must not be its own judge. */
export type Thinker = {
  shapes: Shape[]
  /** The same reply as frames of a stream, as servers cut it. */
  stream(response: unknown): string
  /** What a server checks of a reply when it comes back: content in order, proofs, calls; without ids that may change. */
  essence(result: unknown): unknown
  /** The replies that a request holds, as `essence` shows them. */
  echoed(request: unknown): unknown[]
  /** Its servers prove nothing of what they think, so no proof of theirs can be lost. */
  unproven?: true
  /** Every opaque proof in a request. */
  signatures(request: unknown): string[]
  /** Of content: does the server want it back? Clients that know nothing of thoughts have no place for others. Absent: all of it. */
  wants?(part: unknown): boolean
}

const found = readdirSync(new URL('.', import.meta.url)).filter(file => file.endsWith('.ts') && file !== 'index.ts')

const thinkers = new Map(
  await Promise.all(
    found.map(async file => [file.replace(/\.ts$/, ''), ((await import(new URL(file, import.meta.url).href)) as { thinker: Thinker }).thinker] as const),
  ),
)

export function thinkerOf(protocol: string): Thinker {
  const known = thinkers.get(protocol)
  if (!known) throw new Error(`write test/support/reasoning/${protocol}.ts`)
  return known
}

/** Proofs look alike everywhere: base64 of bytes that mean nothing. */
export const signature = (what: string, turn: number) => btoa(`${what} of turn ${turn} +/ \u00ff`)
