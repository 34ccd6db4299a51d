// The Google SDK with any model, without a server: the gateway is the SDK's fetch.
import { GoogleGenAI } from '@google/genai'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
const client = new GoogleGenAI({
  apiKey: 'unused',
  httpOptions: { fetch: gateway, baseUrl: 'http://gateway' },
})

const response = await client.models.generateContent({ model: 'demo', contents: 'Hello' })
console.log(response.text)

for await (const chunk of await client.models.generateContentStream({
  model: 'demo',
  contents: 'Hello',
}))
  process.stdout.write(chunk.text ?? '')
process.stdout.write('\n')

await gateway.close()
