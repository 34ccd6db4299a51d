import { describe, expect, test } from 'vitest'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { brokenPrefix, cutsOf, isContinuedBy } from '../support/prefix.ts'
import { recordedProtocols, recordedSessions, shared, skipReason } from './data.ts'
import { type Exceptions, tally } from './tally.ts'

const exceptions: Exceptions = {}

describe.skipIf(!shared)(`requests of real clients that continue (${skipReason})`, () => {
  const sessions = recordedSessions()
  for (const from of recordedProtocols())
    for (const to of protocolNames) {
      const pair = { from: protocols[from], to: protocols[to] }
      const bodies = sessions.flatMap(({ name, protocol, exchanges }) =>
        protocol === from
          ? [
              {
                name,
                bodies: exchanges
                  .map(({ request }) => request.body)
                  .filter(body => typeof body === 'object' && body !== null),
              },
            ]
          : [],
      )

      test(`recorded ${from} requests begin in ${to} with the bytes they had before`, async () => {
        const steps = bodies.flatMap(({ name, bodies: received }) =>
          received.flatMap((later, index) => [
            ...cutsOf(pair.from, later).map((earlier, cut) => ({
              name: `${name}#${index + 1} cut ${cut}`,
              earlier,
              later,
            })),
            ...received
              .slice(0, index)
              .flatMap((earlier, k) =>
                isContinuedBy(pair.from, earlier, later)
                  ? [{ name: `${name}#${k + 1}-${index + 1}`, earlier, later }]
                  : [],
              ),
          ]),
        )
        await tally(`prefix ${from} → ${to}`, steps, exceptions, ({ earlier, later }) => {
          expect(brokenPrefix(earlier, later, pair)).toEqual([])
        })
      })
    }
})
