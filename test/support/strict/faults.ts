export { isObject } from '../../../src/testing/strict/faults.ts'
