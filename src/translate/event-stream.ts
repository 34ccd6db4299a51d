import { withBlockedFinish } from '../canonical/blocked.ts'
import { collectEvent, startCollecting } from '../canonical/collect.ts'
import type { CanonicalEvent } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import { TranslationError } from '../errors.ts'
import type { Protocol } from '../protocol.ts'
import { type ByteStream, chunksOf } from './chunks.ts'
import { refuseIfStrict, type Settings } from './settings.ts'
import { createStreamReader, type StreamReader } from './stream-reader.ts'

/**
 * The events of one response, for one `for await` loop. It never throws because of what the
 * upstream sent: a stream that failed has an `error` event, and `end` has `clean: false` if the
 * response is not complete. Rejects when the source does.
 */
export type EventStream = AsyncIterable<CanonicalEvent> & {
  /** The response so far. The object changes while events are read. */
  readonly partial: CanonicalResponse
  /** The notes so far. Their paths lead into the complete response. */
  readonly notes: Note[]
  /**
   * Reads the events that are left and returns the complete response. A response that failed has
   * `error`.
   * @throws TranslationError `truncated` when the stream stopped before the response had ended;
   * `inexpressible` when `strict` forbids a note
   */
  complete(): Promise<CanonicalResponse>
}

export function readStream(
  source: ByteStream,
  protocol: Protocol,
  { strict, ...settings }: Settings,
): EventStream {
  const into = startCollecting()
  const pending: CanonicalEvent[] = []
  const reader = createStreamReader(protocol, settings, event => {
    collectEvent(into, event)
    pending.push(event)
  })
  const events = eventsOf(source, reader, pending, () =>
    refuseIfStrict(reader.notes(), strict, protocol.name),
  )
  return {
    [Symbol.asyncIterator]: () => events,
    get partial() {
      return into.response
    },
    get notes() {
      return reader.notes()
    },
    async complete() {
      for await (const _ of events);
      if (!into.clean && !into.response.error)
        throw new TranslationError(
          { code: 'truncated', protocol: protocol.name, path: '' },
          'the stream ended before the response did',
        )
      return withBlockedFinish(into.response)
    },
  }
}

async function* eventsOf(
  source: ByteStream,
  reader: StreamReader,
  pending: CanonicalEvent[],
  check: () => void,
): AsyncGenerator<CanonicalEvent> {
  for await (const chunk of chunksOf(source)) {
    reader.push(chunk)
    check()
    yield* pending.splice(0)
    if (reader.seen.ended) return
  }
  reader.end()
  check()
  yield* pending.splice(0)
}
