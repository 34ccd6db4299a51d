import { describe, expect, test } from 'vitest'
import { type Exchange, recordedSessions, shared, skipReason } from '../corpus/data.ts'
import { mounted, one, sendStream, until, upstream } from '../gateway/support.ts'
import { connectRaw } from './connect.ts'
import { listenUpgrades } from './listen.ts'

/**
 * Recorded sessions of Codex, sent as Codex sends them over WebSocket: after the first request of a
 * connection, only new items and the id of the last response.
 */

type Item = Record<string, unknown>
type Body = Record<string, unknown> & { input: Item[] }

const isTurn = ({ request, response }: Exchange) =>
  request.method === 'POST' && response.events !== undefined
const sessions = recordedSessions()
  .filter(({ name }) => name.startsWith('codex'))
  .map(({ name, exchanges }) => ({ name, turns: exchanges.filter(isTurn) }))
  .filter(({ turns }) => turns.length >= 3)

const frames = ({ response }: Exchange) =>
  (response.events ?? []).map(
    ({ event, data }) => `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`,
  )
const outputOf = ({ response }: Exchange) =>
  (response.events ?? []).flatMap(({ data }) => {
    const { type, item } = data as { type: string; item?: Item }
    return type === 'response.output_item.done' && item ? [item] : []
  })

/** Without what Codex changes when it sends an item back. */
const known = ({ type, call_id, name, role }: Item) => ({ type, call_id, name, role })

test.skipIf(shared)(`recorded sessions of Codex: ${skipReason}`, () => {})

describe.runIf(shared)('recorded sessions of Codex', () => {
  test('include sessions with three turns', () => {
    expect(sessions.length).toBeGreaterThanOrEqual(4)
  })

  test.each(sessions)(
    '$name: the upstream gets the same conversation as over HTTP',
    async ({ turns }) => {
      const up = await upstream(...turns.map(turn => sendStream(frames(turn))))
      const handler = mounted({
        ...one(up.url, 'responses'),
        webSocket: true,
        models: [{ id: '*', channels: [{ name: 'up', model: '*' }] }],
      })
      const base = await listenUpgrades(handler)
      const [first] = turns
      const { socket, messages } = await connectRaw(base, {
        headers: { ...handshakeOf(first), 'openai-beta': 'responses_websockets=2026-02-06' },
      })
      let previous: { id: string; length: number } | undefined
      for (const [at, turn] of turns.entries()) {
        const body = turn.request.body as Body
        const input = body.input.slice(previous?.length ?? 0)
        socket.send(
          JSON.stringify({
            type: 'response.create',
            ...body,
            ...(previous && { previous_response_id: previous.id }),
            input,
          }),
        )
        await until(
          () =>
            messages.filter(({ type }) => type === 'response.completed' || type === 'error')
              .length ===
            at + 1,
        )
        const last = messages.at(-1) as { type: string; response: { id: string } }
        expect(last.type).toBe('response.completed')
        previous = { id: last.response.id, length: body.input.length + outputOf(turn).length }
        const sent = up.calls[at]?.json as Body
        expect({ ...sent, input: sent.input.map(known) }).toEqual({
          ...body,
          input: body.input.map(known),
        })
        expect(sent.input.slice(-input.length)).toEqual(input)
      }
      expect(up.calls).toHaveLength(turns.length)
      expect(up.calls.map(({ headers }) => headers['originator'])).toEqual(
        turns.map(() => 'codex_exec'),
      )
      expect(up.calls[0]?.headers['openai-beta']).toBeUndefined()
    },
  )
})

/** Its headers, without those of HTTP. */
function handshakeOf(turn: Exchange | undefined): Record<string, string> {
  return Object.fromEntries(
    Object.entries(turn?.request.headers ?? {}).filter(
      ([name]) => !/^(content-.*|accept.*|host|connection)$/.test(name),
    ),
  )
}
