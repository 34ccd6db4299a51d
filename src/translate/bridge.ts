import type { CanonicalEvent, PartDelta } from '../canonical/event.ts'
import type { Note } from '../canonical/note.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { CanonicalResponse } from '../canonical/response.ts'
import type { Emit, FieldNames } from '../protocol.ts'

/**
 * Does what a model or its server cannot do itself: `createBridge` of `wireglot/bridge` makes one.
 * Its acts are notes of the kind `emulated`.
 */
export type Bridge = {
  /**
   * The request as the model takes it: the same object if nothing is to be done. `memory`: what the
   * response needs, plain JSON; absent: nothing is to be done there. `fieldNames`: for the paths of
   * notes.
   */
  request(request: CanonicalRequest, fieldNames: FieldNames | undefined): BridgedRequest
  /** The response as the client wants it. Adds to `notes`. */
  response(response: CanonicalResponse, memory: unknown, notes: Note[]): CanonicalResponse
  /** The same for the events of one stream. */
  events(memory: unknown): BridgedEvents
}

/** A request as its model takes it. `memory`: see `Bridge`. */
export type BridgedRequest = { request: CanonicalRequest; notes: Note[]; memory?: unknown }

/** What a bridge makes of one stream. `notes`: those so far. */
export type BridgedEvents = {
  readonly notes: Note[]
  /** Takes the next event. */
  step(event: CanonicalEvent, emit: Emit<CanonicalEvent>): void
  /** May this delta pass without `step`? */
  passes(delta: PartDelta): boolean
}
