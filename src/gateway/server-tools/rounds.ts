import type { CanonicalEvent } from '../../canonical/event.ts'
import type { Message, ToolCallPart } from '../../canonical/message.ts'
import { omitUndefined } from '../../kit/fields/omit.ts'
import { newNotes } from '../new-notes.ts'
import { Seam } from '../resume/seam.ts'
import type { Reading, Stream } from '../stream-hook.ts'
import { forgetCall } from '../use.ts'
import { Round } from './round.ts'
import { inRound, isRunHere, notesOf, type Running } from './running.ts'
import { Use } from './use.ts'

/** How often a model may use tools before it has to answer. */
const mostRounds = 8

/**
 * The events of a response in which the model uses tools of the application: they are run, and the
 * model is asked again, until it answers.
 */
export async function* rounds(
  first: Stream,
  running: Running,
  reading: Reading,
): AsyncGenerator<CanonicalEvent, undefined> {
  const { trace } = reading
  const seam = new Seam()
  const messages: Message[] = []
  const use = new Use(running, reading)
  let stream = first
  let incoming = running.incoming
  for (let round = 1; ; round++) {
    if (round === 1 && isRunHere(incoming, first.opened.candidate))
      trace.notes.unshift(...notesOf(running.tools))
    seam.cut({ isAnew: true })
    const heard = new Round(running.tools, use.found)
    for await (const event of reading.read(stream, incoming))
      for (const one of heard.take(event)) yield* seam.take(use.counted(one))
    Object.assign(first, omitUndefined({ isRead: stream.isRead, signatures: stream.signatures }))
    const { calls } = heard
    const isOver = heard.hasFailed || calls.length === 0 || round > mostRounds
    const returned = isOver ? [] : await use.results(calls)
    for (const [nth, result] of returned.entries())
      for (const part of use.shown(calls[nth] as ToolCallPart, result))
        for (const event of heard.added(part)) yield* seam.take(event)
    if (isOver || heard.callsClient) {
      for (const event of heard.ending) yield* seam.take(use.counted(event))
      return undefined
    }
    messages.push(...heard.messages(returned))
    seam.spend(forgetCall(trace))
    const { notes } = trace
    incoming = inRound(running, messages, round === mostRounds)
    stream = await reading.ask(incoming)
    trace.notes.unshift(...newNotes(trace.notes, notes))
  }
}
