import { protocols } from '../../src/protocols/index.ts'
import { explodeResponse } from '../../src/translate/fold.ts'
import { type Protocol, sendJson, sendStream, upstream } from './support.ts'

/** What a model says: text, calls of functions, or both. */
export type Said = { text?: string; call?: Call; calls?: readonly Call[] }
type Call = { name: string; input: object }

/** A response of an upstream that says this. */
function saying(protocol: Protocol, { text, call, calls = call ? [call] : [] }: Said): unknown {
  const parts = [
    ...(text === undefined ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ name, input }, nth) => ({
      type: 'tool-call' as const,
      kind: 'function' as const,
      id: `call_${nth + 1}`,
      name,
      input: JSON.stringify(input),
    })),
  ]
  return protocols[protocol].encodeResponse({
    id: 'resp_1',
    model: 'm',
    createdAt: 1_700_000_000,
    candidates: [
      {
        index: 0,
        messages: [{ role: 'assistant', origin: 'message', parts }],
        finish: { reason: calls.length > 0 ? 'tool_calls' : 'stop' },
      },
    ],
    usage: { input: 10, output: 3 },
  }).wire
}

/** An upstream that says this in turn, and then the last of it again and again. */
export const scripted = (protocol: Protocol, stream: boolean, said: readonly Said[]) =>
  upstream(
    ...said.map(one => {
      const wire = saying(protocol, one)
      return stream
        ? sendStream([explodeResponse(wire, protocols[protocol], {}).text])
        : sendJson(200, wire)
    }),
  )
