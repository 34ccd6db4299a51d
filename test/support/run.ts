export * from '../../src/testing/streams.ts'
