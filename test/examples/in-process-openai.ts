// The OpenAI SDK with a model of another provider, without a server: the gateway is the SDK's fetch.
import OpenAI from 'openai'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway({
  auth: 'none',
  channels: [
    { name: 'anthropic', protocols: ['messages'], baseUrl: 'https://api.anthropic.com', apiKey: 'env:ANTHROPIC_API_KEY' },
    { name: 'demo', embedded: 'demo' },
  ],
  models: [
    { id: 'sonnet', channels: [{ name: 'anthropic', model: 'claude-sonnet-5' }] },
    { id: 'demo', channels: [{ name: 'demo' }] },
  ],
})

const client = new OpenAI({ fetch: gateway, baseURL: 'http://gateway/v1', apiKey: 'unused' })

const completion = await client.chat.completions.create({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] })
console.log(completion.choices[0]?.message.content)

const stream = await client.responses.create({ model: 'demo', input: 'Hello', stream: true })
for await (const event of stream) if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
process.stdout.write('\n')

await gateway.close()
