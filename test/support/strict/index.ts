export { strictOf } from '../../../src/testing/strict/index.ts'
