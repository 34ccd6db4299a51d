import { collectEvent, startCollecting } from '../canonical/collect.ts'
import { explode } from '../canonical/explode.ts'
import type { Note } from '../canonical/note.ts'
import { TranslationError } from '../errors.ts'
import type { Protocol } from '../protocol.ts'
import type { Settings } from './settings.ts'
import { createStreamReader } from './stream.ts'

/**
 * Stream → whole reply of the same protocol. A stream that failed gives the protocol's error body.
 * @throws TranslationError `truncated` when the stream stopped before its end
 */
export async function collectStream(
  source: Iterable<Uint8Array | string> | AsyncIterable<Uint8Array | string>,
  protocol: Protocol,
  options: Settings,
): Promise<{ body: unknown; notes: Note[] }> {
  const into = startCollecting()
  const reader = createStreamReader(protocol, options, event => collectEvent(into, event))
  for await (const chunk of source) reader.push(chunk)
  reader.end()
  const { response, clean } = into
  if (response.error) return { body: protocol.encodeError(response.error, options).wire.body, notes: reader.notes() }
  if (!clean) throw new TranslationError({ code: 'truncated', protocol: protocol.name, path: '' }, 'the stream ended before the reply did')
  const { wire, notes } = protocol.encodeResponse(response, options)
  return { body: wire, notes: [...reader.notes(), ...notes] }
}

/**
 * Whole reply → text of a stream that says the same, in the same protocol.
 * @throws TranslationError `malformed`
 */
export function explodeResponse(body: unknown, protocol: Protocol, options: Settings): string {
  const { value } = protocol.decodeResponse(body, options)
  const { streamEncoder, frames } = protocol
  const state = streamEncoder.initial(options)
  let text = ''
  const write = (wire: unknown) => {
    text += frames.write(wire)
  }
  for (const event of explode(value)) streamEncoder.step(state, event, write)
  streamEncoder.end(state, write)
  return text
}
