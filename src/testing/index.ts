/**
 * Tools for tests of your own conversions, with which wireglot itself is tested: random bodies and
 * streams of every protocol, fast-check properties, validators for each protocol, and a `fetch` that
 * answers from recorded exchanges.
 * @module wireglot/testing
 */
export { checkGrammar } from '../canonical/grammar.ts'
export { type CassetteFetch, type CassetteFetchOptions, cassetteFetch } from '../cassettes/fetch.ts'
export { canonicalRequest, canonicalResponse } from './bodies.ts'
export { conversation } from './conversations.ts'
export { cleanEvents, cutEvents } from './events.ts'
export { type AnySchema, fromSchema } from './from-schema.ts'
export { type StrictTools, strictHosts, strictToolsOf } from './hosts/index.ts'
export * from './properties.ts'
export { framesOf } from './streams.ts'
export { type Strict, strictOf } from './strict/index.ts'
