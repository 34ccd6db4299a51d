import { expect, test } from 'vitest'
import { likeAgents } from '../support/matrix/likeness.ts'
import { play, singleWays, ways } from '../support/matrix/play.ts'
import { sampled } from '../support/sampled.ts'

// The same with what real clients sent, every model and every protocol of a vendor:
// matrix.long.test.ts.

const first = ways.filter(({ vendor }, i) => ways.findIndex(way => way.vendor === vendor) === i)

test.each(sampled(first).map(way => ({ ...way, name: way.vendor })))(
  'an agent works through three turns with $name, whatever program it is',
  async way => {
    const faults: string[] = []
    for (const agent of likeAgents)
      for (const fault of await play(agent, way)) faults.push(`${agent.name}: ${fault}`)
    expect(faults).toEqual([])
  },
)

test('a simulator refuses a request that is not adapted to it', async () => {
  const agent = likeAgents.find(({ name }) => name === 'a program over chat-completions')
  if (!agent) throw new Error('no such agent')
  const unfitted = await Promise.all(
    singleWays
      .filter(({ vendor, only }) => vendor === 'deepseek' && only === 'chat-completions')
      .map(way => play(agent, { ...way, generic: true })),
  )
  expect(unfitted.flat().join('\n')).toMatch(/unknown variant `developer`/)
})
