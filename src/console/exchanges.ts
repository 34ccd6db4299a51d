import type {
  Attempt,
  Exchange,
  HookRequest,
  Identity,
  Peers,
  UsageRecord,
} from '../gateway/gateway.ts'
import type { Note } from '../notes.ts'

/**
 * What an attempt of the playground sent. `body`: the request as the upstream gets it, cut to
 * `longestBody`.
 */
export type SeenAttempt = Omit<Attempt, 'requestId' | 'identity' | 'body' | 'notes'> & {
  body: string
  isCut: boolean
}

/** A request of the playground. `record`: once it is over. */
export type SeenExchange = {
  attempts: SeenAttempt[]
  requestNotes: Note[]
  responseNotes: Note[]
  record?: UsageRecord
}

/**
 * The latest requests of the playground, in memory: what they sent to upstreams, and all of their
 * notes.
 */
export type Exchanges = {
  onAttempt(attempt: Attempt, request: HookRequest): void
  onUsage(record: UsageRecord): void
  onNotes(notes: readonly Note[], exchange: Exchange): void
  /**
   * Undefined: it is unknown, or of another client. `identity` absent: the operator, who sees all.
   */
  find(requestId: string, identity?: Identity): SeenExchange | undefined
}

/** The header that marks requests of the playground: only these are remembered. */
export const playgroundHeader = 'wireglot-console'

/** The header in which the operator names the key of a client to send with; URL-encoded. */
export const keyHeader = 'wireglot-key'

/** The number of exchanges that are remembered. */
const most = 50
/** In UTF-16 units, of one request to an upstream. */
const longestBody = 256 * 1024
/** Of one side of an exchange. */
const mostNotes = 300

type Known = SeenExchange & { identity: Identity }

/** What a process sends to the others: an exchange of its own, after each change. */
type Message = { exchange?: [id: string, seen: Known] }

/** `peers`: their exchanges are known too. */
export function createExchanges(peers?: Peers): Exchanges {
  const known = new Map<string, Known>()

  function remember(id: string, seen: Known): void {
    known.set(id, seen)
    const [oldest] = known.keys()
    if (known.size > most && oldest !== undefined) known.delete(oldest)
  }

  const send = (id: string, seen: Known) => peers?.send({ exchange: [id, seen] } satisfies Message)
  peers?.listen(({ exchange }: Message) => exchange && remember(...exchange))

  return {
    onAttempt({ requestId, identity, body, notes, ...attempt }, { headers }) {
      if (headers[playgroundHeader] === undefined) return
      const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
      const seen = known.get(requestId) ?? {
        identity,
        attempts: [],
        requestNotes: [],
        responseNotes: [],
      }
      seen.attempts.push({
        ...attempt,
        body: text.slice(0, longestBody),
        isCut: text.length > longestBody,
      })
      seen.requestNotes = notes.slice(0, mostNotes)
      remember(requestId, seen)
      send(requestId, seen)
    },
    onUsage(record) {
      const seen = known.get(record.requestId)
      if (!seen) return
      seen.record = record
      send(record.requestId, seen)
    },
    onNotes(notes, { requestId }) {
      const seen = known.get(requestId)
      if (!seen) return
      // Those of the request come first.
      const { length } = seen.requestNotes
      seen.responseNotes = notes.slice(length, length + mostNotes)
      send(requestId, seen)
    },
    find(requestId, asking) {
      const found = known.get(requestId)
      if (!found || (asking && !isSame(found.identity, asking))) return undefined
      const { identity: _, ...seen } = found
      return seen
    },
  }
}

/** Clients without a name share what belongs to their group. */
export const isSame = (one: Identity, other: Identity): boolean =>
  one.id === other.id &&
  one.name === other.name &&
  (one.name !== undefined || one.group === other.group)
