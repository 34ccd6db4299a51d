export * from '../../src/testing/events.ts'
