import { expect, test } from 'vitest'
import { atOnce, createLongWork, withPauses } from '../../src/gateway/body/long-work.ts'

const turn = () => new Promise(resolve => setTimeout(resolve))

test('long work is done one after the other, also behind work that fails', async () => {
  const longWork = createLongWork()
  const log: string[] = []
  const work = (name: string, fails = false) =>
    longWork(async () => {
      log.push(`${name} begins`)
      await turn()
      log.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const results = await Promise.allSettled([work('a'), work('b', true), work('c')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(log).toEqual(['a', 'b', 'c'].flatMap(name => [`${name} begins`, `${name} ends`]))
})

function* steps(log: string[]): Generator<void, string> {
  for (const step of ['first', 'second']) {
    log.push(step)
    yield
  }
  return 'done'
}

test('steps run at once, or with other work between them, to the same result', async () => {
  const log: string[] = []
  expect(atOnce(steps(log))).toBe('done')
  expect(log).toEqual(['first', 'second'])
  const paused: string[] = []
  setTimeout(() => paused.push('other'))
  expect(await withPauses(steps(paused))).toBe('done')
  expect(paused).toEqual(['first', 'other', 'second'])
})
