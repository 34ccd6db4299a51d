import { describe, expect, test } from 'vitest'
import { skipReason } from '../corpus/data.ts'
import { lastPassed, measure } from '../support/matrix/products.ts'
import { recordedAgents } from '../support/matrix/recorded.ts'

const agents = recordedAgents()

describe.skipIf(agents.length === 0)(
  `every recorded program × every vendor (${skipReason})`,
  () => {
    test('works through three turns: no refusal, reasoning comes back, and tokens are counted', async () => {
      const faults: string[] = []
      const passed = await measure(agents, fault => faults.push(fault))
      expect(faults).toEqual([])
      expect(passed, 'npm run test:vendors').toEqual(lastPassed())
    })
  },
)
