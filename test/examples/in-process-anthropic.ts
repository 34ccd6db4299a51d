// The Anthropic SDK with any model, without a server: the gateway is the SDK's fetch.
import Anthropic from '@anthropic-ai/sdk'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
const client = new Anthropic({ fetch: gateway, baseURL: 'http://gateway', apiKey: 'unused' })

const message = await client.messages.create({
  model: 'demo',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)

const stream = client.messages.stream({
  model: 'demo',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello' }],
})
stream.on('text', text => process.stdout.write(text))
await stream.finalMessage()
process.stdout.write('\n')

await gateway.close()
