import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/api.ts'
import type { TranslationContext } from '../../src/protocol.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { recordedProtocols, recordedRequests, shared, skipReason } from './data.ts'
import { expectKept, received } from './meaning.ts'
import { type Exceptions, tally } from './tally.ts'

const exceptions: Exceptions = {}

const sentTo = ({ path }: TranslationContext) => (path === undefined ? {} : { path })

/** Names what another provider has stored: refused unless the caller asks for a note instead. */
const references = ['previous_response_id', 'conversation', 'thread']

describe.skipIf(!shared)(`requests of real clients (${skipReason})`, () => {
  const recorded = recordedRequests()
  for (const from of recordedProtocols())
    for (const to of protocolNames.filter(name => name !== from)) {
      test(`recorded ${from} requests reach ${to} and come back whole`, async () => {
        const cases = recorded.filter(({ protocol }) => protocol === from)
        await tally(`recorded ${from} → ${to}`, cases, exceptions, ({ body, path }) => {
          const reference = references.find(key => body[key] != null)
          if (reference)
            expect(() => translateRequest(body, { from, to, path })).toThrow(
              expect.objectContaining({ code: 'inexpressible', path: `/${reference}` }),
            )
          const there = translateRequest(body, {
            from,
            to,
            path,
            ...(reference && {
              onUnresolvable: 'note' as const,
              tools: { repair: 'keep' as const },
            }),
          })
          if (reference)
            expect(there.notes).toContainEqual(
              expect.objectContaining({ kind: 'dropped', path: `/${reference}` }),
            )
          const faults = strictOf(to).checkRequest(there.body)
          // The referenced messages are missing, and with them the calls of the results.
          expect(
            reference ? faults.filter(fault => !fault.includes('belongs to no call')) : faults,
          ).toEqual([])
          const back = translateRequest(there.body, {
            from: to,
            to: from,
            ...sentTo(there.context),
            ...(reference && { tools: { repair: 'keep' as const } }),
          })
          const before = received(protocols[from].decodeRequest(body, { path }).value)
          const after = received(
            protocols[from].decodeRequest(back.body, sentTo(back.context)).value,
          )
          // Where results require a tool, one is synthesized for those whose call is in the
          // reference.
          const isSynthesized = there.notes.some(({ code }) => code === 'tool.from-history')
          expectKept(
            before,
            reference && isSynthesized
              ? { ...after, tools: after.tools.filter(name => before.tools.includes(name)) }
              : after,
          )
        })
      })
    }
})
