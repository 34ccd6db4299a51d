/**
 * Exchanges of a gateway as files: recording, reading, explaining and replaying them.
 * @module wireglot/cassettes
 */
export { type Difference, differencesBetween } from './difference.ts'
export { explain } from './explain.ts'
export {
  type Cassette,
  type CassetteAttempt,
  type CassetteBody,
  type CassetteFrame,
  CassetteSchema,
} from './format.ts'
export { type PrefixBreak, prefixBreakBetween } from './prefix.ts'
export { parseCassette, readCassettes } from './read.ts'
export { createRecorder, type Recorder, type RecorderOptions } from './recorder.ts'
export { type Replayed, type ReplayOptions, replay } from './replay.ts'
