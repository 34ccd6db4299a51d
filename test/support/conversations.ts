export * from '../../src/testing/conversations.ts'
