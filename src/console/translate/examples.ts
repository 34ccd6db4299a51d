import { explode } from '../../canonical/explode.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'
import type { CanonicalResponse } from '../../canonical/response.ts'
import type { Protocol } from '../../protocol.ts'
import { protocols } from '../../protocols/index.ts'
import { encodeRequest } from '../../translate/encode.ts'
import type { Kind } from './recognize.ts'

export type Example = { protocol: string; kind: Kind; text: string }

const request: CanonicalRequest = {
  model: 'demo',
  messages: [
    {
      role: 'system',
      origin: 'instructions',
      parts: [{ type: 'text', text: 'Respond in one sentence.' }],
    },
    { role: 'user', origin: 'message', parts: [{ type: 'text', text: 'How warm is it in Oslo?' }] },
  ],
  tools: [
    {
      type: 'function',
      name: 'weather',
      description: 'The weather of a town, now.',
      parameters: { type: 'object', properties: { town: { type: 'string' } }, required: ['town'] },
    },
  ],
  toolChoice: { mode: 'auto' },
  sampling: { temperature: 0.2, topK: 40, seed: 7, logitBias: { '50256': -100 } },
  maxOutputTokens: 400,
  stop: ['END'],
}

const response: CanonicalResponse = {
  id: 'example-1',
  model: 'demo',
  createdAt: 1_700_000_000,
  candidates: [
    {
      index: 0,
      messages: [
        {
          role: 'assistant',
          origin: 'message',
          parts: [
            { type: 'text', text: 'I look it up.' },
            {
              type: 'tool-call',
              id: 'call_1',
              name: 'weather',
              kind: 'function',
              input: '{"town":"Oslo"}',
            },
          ],
        },
      ],
      finish: { reason: 'tool_calls' },
    },
  ],
  usage: { input: 92, cacheRead: 64, output: 21, reasoning: 6 },
}

/** One example of each kind for each protocol. */
export function examples(): Example[] {
  return Object.values<Protocol>(protocols).flatMap(protocol => [
    {
      protocol: protocol.name,
      kind: 'request',
      text: pretty(encodeRequest(request, protocol).wire),
    },
    {
      protocol: protocol.name,
      kind: 'response',
      text: pretty(protocol.encodeResponse(response).wire),
    },
    { protocol: protocol.name, kind: 'stream', text: stream(protocol) },
  ])
}

const pretty = (wire: unknown) => JSON.stringify(wire, null, 2)

function stream({ streamEncoder, frames }: Protocol): string {
  const state = streamEncoder.initial()
  let text = ''
  const write = (wire: unknown) => {
    text += frames.write(wire)
  }
  for (const event of explode(response)) streamEncoder.step(state, event, write)
  streamEncoder.end(state, write)
  return text
}
