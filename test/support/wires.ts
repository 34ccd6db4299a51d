export * from '../../src/testing/bodies.ts'
