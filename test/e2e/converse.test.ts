import { describe, expect, test } from 'vitest'
import { type ProtocolName, protocolNames, protocols } from '../../src/protocols/index.ts'
import { after, listen, mounted } from '../gateway/support.ts'
import { type Body, clientOf, type WireResponse } from '../support/clients/index.ts'
import { type Script, startUpstream, wireOf } from '../support/upstreams/index.ts'

/**
 * A tool loop with reasoning, where the upstream is a strict server of Amazon Bedrock: what every
 * official client does is in sdks.test.ts.
 */

const model = 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'
const lookup = { name: 'lookup', schema: { type: 'object', properties: { q: { type: 'string' } } } }
const signature = wireOf('converse').signature

/** Two calls, one after the other, each with its reasoning. */
function play(received: unknown): Script {
  const count = JSON.stringify(received).match(/RESULT-q/g)?.length ?? 0
  if (count === 2) return { text: 'Found both', ending: 'stop' }
  return {
    reasoning: `Thinking ${count}.`,
    calls: [{ id: `call_${count}`, name: 'lookup', args: '{"q":"one"}' }],
    ending: 'stop',
  }
}

async function responded(
  base: string,
  name: ProtocolName,
  { modelId: _, ...body }: Body,
  stream: boolean,
): Promise<WireResponse> {
  const { address, framing } = protocols[name]
  const path = address.target({ operation: 'generate', model, stream }) ?? address.path
  const isInBody = 'model' in body
  const response = await fetch(base + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(isInBody ? { ...body, stream } : body),
  })
  const bytes = Buffer.from(await response.arrayBuffer())
  expect(response.status, bytes.toString()).toBe(200)
  if (!stream) return { body: JSON.parse(bytes.toString()) as unknown }
  return { text: Buffer.from(framing?.decode()(bytes) ?? bytes).toString() }
}

describe.each(protocolNames)('a client of %s', name => {
  test.each([false, true])(
    'gives the signatures of the service back to it, unchanged; streaming: %s',
    async stream => {
      const seen = await startUpstream('converse', play)
      after(() => seen.close())
      const base = await listen(
        mounted({
          auth: 'none',
          channels: [
            {
              name: 'bedrock',
              protocols: ['converse'],
              baseUrl: seen.url,
              apiKey: 'upstream-secret',
            },
          ],
          models: [{ id: model, channels: [{ name: 'bedrock' }] }],
          defaults: { retries: 0 },
        }),
      )
      const client = clientOf(name)
      let request = client.open({ model, ask: 'Look twice.', tools: [lookup] })
      for (let turn = 0; turn < 2; turn++) {
        const received = await client.receive(await responded(base, name, request, stream))
        request = client.continueWith(request, received, { runTool: () => 'RESULT-q', ask: '' })
      }
      await responded(base, name, request, stream)
      const { messages } = seen.requests.at(-1) as {
        messages: { content: { reasoningContent?: unknown }[] }[]
      }
      expect(
        messages.flatMap(({ content }) =>
          content.flatMap(({ reasoningContent }) => reasoningContent ?? []),
        ),
      ).toEqual([
        { reasoningText: { text: 'Thinking 0.', signature } },
        { reasoningText: { text: 'Thinking 1.', signature } },
      ])
    },
  )
})
