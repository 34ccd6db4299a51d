import { describe, expect, test } from 'vitest'
import { gateway } from '../../src/hosts/connect.ts'
import { protocols } from '../../src/protocols/index.ts'
import { recordedRequests, shared, skipReason } from '../corpus/data.ts'
import { hosts, listen, one, type Protocol, paths, post, sent } from './support.ts'

const [[, start]] = hosts as [(typeof hosts)[number]]

/** What refers to a memory that neither the built-in model nor another protocol has. */
const needsMemory = (body: Record<string, unknown>) =>
  body['thread'] !== undefined || body['previous_response_id'] !== undefined

describe.skipIf(!shared)(
  `requests of real clients get a response from every protocol (${skipReason})`,
  () => {
    test.each(Object.keys(paths) as Protocol[])('%s upstream', async served => {
      const demo = await listen(
        gateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] }),
      )
      const ask = await start(one(demo, served, {}, { id: '*' }))
      const faults: string[] = []
      let responded = 0
      for (const { name, protocol, body, path } of recordedRequests()) {
        // Where a list grew shorter, a reference to an earlier index in it means nothing.
        const { tools } = body
        const response = await ask(
          path,
          post(Array.isArray(tools) ? { ...body, tools: tools.filter(Boolean) } : body),
        )
        const text = await response.text()
        if (needsMemory(body)) {
          if (response.status !== 400) faults.push(`${name}: ${response.status}`)
        } else if (response.status !== 200)
          faults.push(`${name}: ${response.status} ${text.slice(0, 200)}`)
        else if (response.headers.get('content-type')?.startsWith('text/event-stream'))
          await sent(text, protocol as Protocol).catch(error =>
            faults.push(`${name}: ${String(error)}`),
          )
        else if (protocols[protocol].detect(JSON.parse(text)).response.length === 0)
          faults.push(`${name}: no response`)
        responded++
      }
      expect(faults).toEqual([])
      expect(responded).toBeGreaterThan(100)
    })
  },
)
