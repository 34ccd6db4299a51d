/**
 * Exchanges of a gateway as files: recording, reading, explaining and replaying them.
 * @module wireglot/cassettes
 */
export {
  type Cassette,
  type CassetteAttempt,
  type CassetteBody,
  type CassetteFrame,
  CassetteSchema,
} from './format.ts'
export { parseCassette, readCassettes } from './read.ts'
export { createRecorder, type Recorder, type RecorderOptions } from './recorder.ts'
