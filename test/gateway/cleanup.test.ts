import { expect, test } from 'vitest'
import { after } from './support.ts'

// Of the files of one worker, only the first once ran the cleanups.
let isOver = false

test('a test registers a cleanup', () => {
  after(() => {
    isOver = true
  })
  expect(isOver).toBe(false)
})

test('the cleanup runs before the next test', () => {
  expect(isOver).toBe(true)
})
