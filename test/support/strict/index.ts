export { type Strict, strictOf } from '../../../src/testing/strict/index.ts'
