// The OpenAI SDK in the same process, with a model behind the Messages API. A local server plays
// Anthropic.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import OpenAI from 'openai'
import { fetchGateway } from 'wireglot/fetch'
import { MessagesRequest } from 'wireglot/schemas'

async function main(): Promise<void> {
  const upstream = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const received = MessagesRequest.parse(JSON.parse(text))
    assert.equal(request.headers['x-api-key'], 'test-key')
    const body = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: received.model,
      content: [{ type: 'text', text: `${received.messages.length} message` }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 8, output_tokens: 3 },
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }).listen(0, '127.0.0.1')
  await once(upstream, 'listening')
  const address = upstream.address()
  assert.ok(typeof address === 'object' && address)

  const gateway = fetchGateway({
    auth: 'none',
    channels: [
      {
        name: 'anthropic',
        protocols: ['messages'],
        baseUrl: `http://127.0.0.1:${address.port}`,
        apiKey: 'test-key',
      },
    ],
    models: [{ id: 'sonnet', channels: [{ name: 'anthropic', model: 'claude-sonnet-5' }] }],
  })
  const client = new OpenAI({ fetch: gateway, baseURL: 'http://gateway/v1', apiKey: 'unused' })

  const completion = await client.chat.completions.create({
    model: 'sonnet',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  assert.equal(completion.choices[0]?.message.content, '1 message')
  assert.equal(completion.usage?.total_tokens, 11)

  let streamed = ''
  for await (const chunk of await client.chat.completions.create({
    model: 'sonnet',
    messages: [{ role: 'user', content: 'Hello' }],
    stream: true,
  }))
    streamed += chunk.choices[0]?.delta.content ?? ''
  assert.equal(streamed, '1 message')

  await gateway.close()
  upstream.closeAllConnections()
  upstream.close()
  console.log('openai: ok')
}

void main()
