import { readdirSync } from 'node:fs'

/** What a person or a program gets from an official client, independent of the client's dialect. */
export type Received = {
  text: string
  calls: { id: string; name: string; input: unknown }[]
  stop: string | undefined
  refused: boolean
  /** The text of a refusal, if it is not in the text. */
  refusal: string
  /** Undefined: the accumulator keeps only its last chunk. */
  reasoning: string | undefined
  /** Where it was found. */
  cited: string[]
  counts: Counts
}
/** Inclusive, as far as the client received it. */
type Counts = {
  input?: number | undefined
  output?: number | undefined
  cacheRead?: number | undefined
  reasoning?: number | undefined
}

/** What a client sends back after running the calls: the results by call id. */
export type Question = {
  model: string
  ask: string
  tools?: { name: string; schema: Record<string, unknown> }[]
  schema?: Record<string, unknown>
  stream: boolean
}

export type Client = {
  /** Sends a request; with `runTool`, responds to calls and repeats until there are none. */
  converse(
    base: string,
    question: Question,
    runTool?: (name: string, input: unknown) => string,
  ): Promise<Received & { rounds: number }>
  /** What the official accumulator makes of a stream's text; rejects when it does not like it. */
  readStream(text: string): Promise<Received>
  /** The response that the official accumulator makes of a stream's text, in its own protocol. */
  foldStream(text: string): Promise<unknown>
  /** The retry time of the client in seconds, as in the error. */
  retryAfterOf(error: unknown): string | null | undefined
  /** The HTTP status of an error, where it is not in its `status`. */
  statusOf?(error: unknown): number | undefined
  /**
   * The wire has no ending for a model that refuses in its own words: what it says is text (2.16).
   */
  refusalsAreText?: true
  /** What the official client makes of a complete response. */
  readResponse(body: unknown): Promise<Received>

  /** The first request of a conversation. */
  open(question: Omit<Question, 'stream' | 'schema'>): Body
  /**
   * The response as a program holds it: the object that the official client returns for a body, or
   * for the text of a stream.
   */
  receive(response: WireResponse): Promise<unknown>
  /**
   * The request after it, as the client's handbook says: all that was received, then the results of
   * its calls, else `ask`.
   */
  continueWith(
    before: Body,
    received: unknown,
    more: { runTool(name: string): string; ask: string; echo?: Echo },
  ): Body
}

export type Body = Record<string, unknown>
export type WireResponse = { body: unknown } | { text: string }
/**
 * `rebuilt`: the program copies the fields it knows into a message of its own. `thoughtless`: it
 * forgets reasoning, and what it takes for empty; where it is used to signatures, only reasoning
 * without one. Not every wire has such programs.
 */
export type Echo = 'received' | 'rebuilt' | 'thoughtless'

const found = readdirSync(new URL('.', import.meta.url)).filter(
  file => file.endsWith('.ts') && file !== 'index.ts',
)

const clients = new Map(
  await Promise.all(
    found.map(
      async file =>
        [
          file.replace(/\.ts$/, ''),
          ((await import(new URL(file, import.meta.url).href)) as { client: Client }).client,
        ] as const,
    ),
  ),
)

/** The official client of a protocol: the file of its name beside this one. */
export function clientOf(protocol: string): Client {
  const known = clients.get(protocol)
  if (!known) throw new Error(`write test/support/clients/${protocol}.ts`)
  return known
}
