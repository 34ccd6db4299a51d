import { describe, expect, test } from 'vitest'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { translateRequest } from '../../src/index.ts'
import {
  after,
  asking,
  dataOf,
  listen,
  mounted,
  one,
  pathOf,
  paths,
  post,
  sendJson,
  sendStream,
  upstream,
} from '../gateway/support.ts'
import { type Body, clientOf } from '../support/clients/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { sampled } from '../support/sampled.ts'
import { type Script, startUpstream, wireOf } from '../support/upstreams/index.ts'

/** Conversations over two gateways that are more than a tool loop of one client. */

const proven = covered.filter(name => wireOf(name).signature !== undefined)
const lookup = { name: 'lookup', schema: { type: 'object', properties: { q: { type: 'string' } } } }

/** Two calls, one after the other, each with its reasoning. */
function play(received: unknown): Script {
  const length = new Set(JSON.stringify(received).match(/RESULT-\w+/g)).size
  if (length > 1) return { text: 'Found both', ending: 'stop', turn: length }
  return {
    reasoning: 'Thinking it over.',
    calls: [{ id: `call_${length}`, name: 'lookup', args: `{"q":"q${length}"}` }],
    ending: 'stop',
    turn: length,
  }
}

/**
 * The address of a gateway whose channel is another gateway that speaks `between`, and whose
 * channel is the upstream.
 */
async function chain(
  url: string,
  between: Covered,
  served: Covered,
  more: Partial<GatewayConfig> = {},
): Promise<string> {
  const behind = await listen(mounted(one(url, served, more)))
  return listen(mounted(one(behind, between, more, {}, { options: { foreignSignatures: 'wrap' } })))
}

async function playing(served: Covered) {
  const seen = await startUpstream(served, play)
  after(() => seen.close())
  return seen
}

async function requested(base: string, protocol: Covered, body: Body): Promise<unknown> {
  const response = await fetch(base + pathOf(protocol), post(body))
  const message: unknown = await response.json()
  expect(response.status, JSON.stringify(message)).toBe(200)
  return message
}

/** Does the upstream get both of its signatures back unchanged? */
function expectSignatures(served: Covered, request: unknown): void {
  const text = JSON.stringify(request)
  expect(text.split(wireOf(served).signature ?? '').length - 1).toBe(2)
  expect(text).not.toMatch(/xs1\.|eHMxLm/)
}

const switches = covered.flatMap(first =>
  covered
    .filter(second => second !== first)
    .flatMap(second =>
      proven.flatMap(served =>
        [first, second].map(between => ({ first, second, served, between })),
      ),
    ),
)

test.each(sampled(switches, 5))(
  'a program that moves from $first to $second over $between to $served returns the signatures to the upstream',
  async ({ first, second, served, between }) => {
    const seen = await playing(served)
    const base = await chain(seen.url, between, served)
    const opened = clientOf(first).open({ model: 'm', ask: 'Look twice.', tools: [lookup] })
    const received = await clientOf(first).receive({ body: await requested(base, first, opened) })
    const before = clientOf(first).continueWith(opened, received, {
      runTool: () => 'RESULT-q0',
      ask: '',
    })
    const changed = translateRequest(before, { from: first, to: second, foreignSignatures: 'wrap' })
      .body as Body
    const again = await clientOf(second).receive({ body: await requested(base, second, changed) })
    const message = await requested(
      base,
      second,
      clientOf(second).continueWith(changed, again, { runTool: () => 'RESULT-q1', ask: '' }),
    )
    expect((await clientOf(second).readResponse(message)).text).toBe('Found both')
    expectSignatures(served, seen.requests.at(-1))
  },
)

/** Where all use responses, the provider stores the response, and the request passes unchanged. */
const keeping = covered.flatMap(between =>
  proven
    .filter(served => between !== 'responses' || served !== 'responses')
    .map(served => ({ between, served })),
)

describe.each(keeping)('over $between to $served', ({ between, served }) => {
  test.each([false, true])(
    'a client of responses continues by previous_response_id, which the first gateway with a store keeps; streaming: %s',
    async stream => {
      const seen = await playing(served)
      const base = await chain(seen.url, between, served, { store: { memory: true } })
      const tools = [{ type: 'function', name: 'lookup', parameters: lookup.schema, strict: false }]
      let input: unknown = 'Look twice.'
      let previous: string | undefined
      for (const result of ['RESULT-q0', 'RESULT-q1', undefined]) {
        const body = {
          model: 'm',
          input,
          tools,
          stream,
          ...(previous && { previous_response_id: previous }),
        }
        const response = await fetch(base + paths.responses, post(body))
        const text = await response.text()
        expect(response.status, text).toBe(200)
        const last = stream
          ? dataOf(text).findLast(one => (one as { type?: string }).type === 'response.completed')
          : undefined
        const modelResponse = (
          last ? (last as { response: unknown }).response : JSON.parse(text)
        ) as {
          id: string
          output: { type: string; call_id: string }[]
        }
        const call = modelResponse.output.find(({ type }) => type === 'function_call')
        if (!result) expect(JSON.stringify(modelResponse.output)).toContain('Found both')
        expect(call === undefined).toBe(result === undefined)
        previous = modelResponse.id
        input = [{ type: 'function_call_output', call_id: call?.call_id, output: result }]
      }
      expectSignatures(served, seen.requests.at(-1))
    },
  )
})

describe.each([false, true])('a turn that the provider paused, streaming: %s', stream => {
  const search = {
    type: 'server_tool_use',
    id: 'srvtoolu_1',
    name: 'web_search',
    input: { query: 'weather' },
  }
  const head = {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 2 },
  }
  const paused = {
    ...head,
    content: [{ type: 'text', text: 'Let me look.' }, search],
    stop_reason: 'pause_turn',
  }
  const ended = {
    ...head,
    id: 'msg_2',
    content: [{ type: 'text', text: 'It rains.' }],
    stop_reason: 'end_turn',
  }
  const event = (body: { type: string }) => `event: ${body.type}\ndata: ${JSON.stringify(body)}\n\n`
  const framesOf = ({ content, stop_reason, ...message }: typeof paused | typeof ended) => [
    event({
      type: 'message_start',
      ...{ message: { ...message, content: [], stop_reason: null } },
    }),
    ...content.flatMap((block, index) => [
      event({
        type: 'content_block_start',
        ...{
          index,
          content_block: 'text' in block ? { ...block, text: '' } : { ...block, input: {} },
        },
      }),
      event({
        type: 'content_block_delta',
        ...{
          index,
          delta:
            'text' in block
              ? { type: 'text_delta', text: block.text }
              : { type: 'input_json_delta', partial_json: JSON.stringify(search.input) },
        },
      }),
      event({ type: 'content_block_stop', ...{ index } }),
    ]),
    event({
      type: 'message_delta',
      ...{ delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 2 } },
    }),
    event({ type: 'message_stop' }),
  ]
  const sent = (response: typeof paused | typeof ended) =>
    stream ? sendStream(framesOf(response)) : sendJson(200, response)
  const tools = [{ type: 'web_search_20250305', name: 'web_search' }]

  test('continues over two gateways: the client sends it back unchanged, and the provider gets it unchanged', async () => {
    const seen = await upstream(sent(paused), sent(ended))
    const base = await chain(seen.url, 'messages', 'messages')
    const question = { role: 'user', content: 'What is the weather?' }
    const ask = async (messages: unknown[]) =>
      (
        await fetch(base + paths.messages, asking('messages', { stream, tools, messages })[1])
      ).text()
    const first = await ask([question])
    expect(first).toBe(stream ? framesOf(paused).join('') : JSON.stringify(paused))
    const response = (await clientOf('messages').receive(
      stream ? { text: first } : { body: JSON.parse(first) },
    )) as { content: unknown; stop_reason: string }
    expect(response.stop_reason).toBe('pause_turn')
    const second = await ask([question, { role: 'assistant', content: response.content }])
    expect(second).toContain('It rains.')
    expect(seen.calls[1]?.json['messages']).toEqual([
      question,
      { role: 'assistant', content: paused.content },
    ])
  })

  test.each(covered.filter(name => name !== 'messages'))(
    'is not the end of the response for clients of %s without a note',
    async client => {
      const seen = await upstream(sent(paused))
      const behind = await listen(mounted(one(seen.url, 'messages')))
      const notes: { code: string }[] = []
      const base = await listen(
        mounted(one(behind, 'messages'), { onNotes: made => void notes.push(...made) }),
      )
      const [path, init] = asking(client, { stream, model: 'm' })
      expect(await (await fetch(base + path, init)).text()).toContain('Let me look.')
      expect(notes.map(({ code }) => code)).toContain('finish.approximated')
    },
  )
})
