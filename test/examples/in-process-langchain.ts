// LangChain with any model, without a server: the gateway is the fetch of its OpenAI client.
import { ChatOpenAI } from '@langchain/openai'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
const model = new ChatOpenAI({
  model: 'demo',
  apiKey: 'unused',
  configuration: { fetch: gateway, baseURL: 'http://gateway/v1' },
})

const message = await model.invoke('Hello')
console.log(message.text)

for await (const chunk of await model.stream('Hello')) process.stdout.write(chunk.text)
process.stdout.write('\n')

await gateway.close()
