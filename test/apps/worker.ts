// A worker that serves chat-completions clients from an upstream of the Messages API, with one pair
// in its bundle.
import { translateBetween } from 'wireglot/between'
import { chatCompletions } from 'wireglot/protocols/chat-completions/client'
import { messages } from 'wireglot/protocols/messages/upstream'

const pair = translateBetween(chatCompletions, messages)

/** The upstream. In a worker: a `fetch` to the provider. */
async function send(body: object): Promise<Response> {
  if (JSON.stringify(body).includes('busy'))
    return Response.json(
      { type: 'error', error: { type: 'rate_limit_error', message: 'slow down' } },
      { status: 429, headers: { 'retry-after': '7' } },
    )
  const isStream = 'stream' in body && body.stream === true
  if (!isStream)
    return Response.json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text: 'Hi!' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 3 },
    })
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 8, output_tokens: 1 },
      },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi!' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: 3 },
    },
    { type: 'message_stop' },
  ]
  return new Response(
    events.map(event => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
}

export async function handle(request: Request): Promise<Response> {
  const { body, context } = pair.translateRequest(await request.json())
  const upstream = await send(body)
  if (!upstream.ok) {
    const {
      status,
      headers,
      body: error,
    } = pair.translateError({
      status: upstream.status,
      headers: upstream.headers,
      body: await upstream.json(),
    })
    return Response.json(error, { status, headers })
  }
  if (!body.stream)
    return Response.json(pair.translateResponse(await upstream.json(), { context }).body)
  const stream = upstream.body?.pipeThrough(pair.createTransformStream({ context }))
  return new Response(stream ?? null, { headers: { 'content-type': 'text/event-stream' } })
}

async function main(): Promise<void> {
  for (const stream of [false, true]) {
    const body = JSON.stringify({
      model: 'm',
      messages: [{ role: 'user', content: 'Hello' }],
      stream,
    })
    const text = await (
      await handle(new Request('http://worker/v1/chat/completions', { method: 'POST', body }))
    ).text()
    if (!text.includes('"content":"Hi!"')) throw new Error(text)
  }
  const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'busy' }] })
  const refused = await handle(
    new Request('http://worker/v1/chat/completions', { method: 'POST', body }),
  )
  if (refused.status !== 429 || refused.headers.get('retry-after') !== '7')
    throw new Error(await refused.text())
  console.log('worker: ok')
}

void main()
