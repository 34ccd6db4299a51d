// The OpenAI SDK with a model of another provider, without a server: the gateway is the SDK's
// fetch.
import OpenAI from 'openai'
import { fetchGateway } from 'wireglot/fetch'

const apiKey = process.env['ANTHROPIC_API_KEY'] // Without it, the demo model responds.
const gateway = fetchGateway({
  auth: 'none',
  channels: [apiKey ? { vendor: 'anthropic', apiKey } : { name: 'demo', embedded: 'demo' }],
})
const client = new OpenAI({ fetch: gateway, baseURL: 'http://gateway/v1', apiKey: 'unused' })

const completion = await client.chat.completions.create({
  model: 'claude-sonnet-5',
  messages: [{ role: 'user', content: 'Hello' }],
})
console.log(completion.choices[0]?.message.content)

const stream = await client.responses.create({
  model: 'claude-sonnet-5',
  input: 'Hello',
  stream: true,
})
for await (const event of stream)
  if (event.type === 'response.output_text.delta') process.stdout.write(event.delta)
process.stdout.write('\n')

await gateway.close()
