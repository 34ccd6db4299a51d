import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

export const anthropicSdk: Client = {
  title: 'Anthropic SDK',
  usages: [usage],
  snippets({ model, keyEnv, addressFor }) {
    const address = addressFor(usage)
    return [
      {
        ...usage,
        title: 'JavaScript',
        address,
        language: 'js',
        text: lines(
          "import Anthropic from '@anthropic-ai/sdk'",
          '',
          `const client = new Anthropic({ baseURL: ${quoted(address)}, apiKey: process.env.${keyEnv} })`,
          `const response = await client.messages.create({ model: ${quoted(model)}, max_tokens: 1024, messages: [{ role: 'user', content: 'Hello there' }] })`,
          "console.log(response.content.map(block => (block.type === 'text' ? block.text : '')).join(''))",
        ),
      },
      {
        ...usage,
        title: 'Python',
        address,
        language: 'python',
        text: lines(
          'import os',
          'from anthropic import Anthropic',
          '',
          `client = Anthropic(base_url=${quoted(address)}, api_key=os.environ[${quoted(keyEnv)}])`,
          `response = client.messages.create(model=${quoted(model)}, max_tokens=1024, messages=[{"role": "user", "content": "Hello there"}])`,
          'print("".join(block.text for block in response.content if block.type == "text"))',
        ),
      },
    ]
  },
}
