export * from '../../src/testing/change.ts'
