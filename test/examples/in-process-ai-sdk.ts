// The AI SDK with any model, without a server: the gateway is the fetch of its providers.
import { createAnthropic } from '@ai-sdk/anthropic'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, streamText } from 'ai'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway({ auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] })
const openai = createOpenAI({ fetch: gateway, baseURL: 'http://gateway/v1', apiKey: 'unused' })
const anthropic = createAnthropic({
  fetch: gateway,
  baseURL: 'http://gateway/v1',
  apiKey: 'unused',
})

const { text } = await generateText({ model: openai('demo'), prompt: 'Hello' })
console.log(text)

for await (const delta of streamText({
  model: anthropic('demo'),
  prompt: 'Hello',
  maxOutputTokens: 100,
}).textStream)
  process.stdout.write(delta)
process.stdout.write('\n')

await gateway.close()
