export * from '../../src/testing/json.ts'
