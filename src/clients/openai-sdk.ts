import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const chat: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }
const responses: AddressUsage = { protocol: 'responses', appends: 'endpoint' }

export const openaiSdk: Client = {
  title: 'OpenAI SDK',
  usages: [chat, responses],
  snippets({ model, keyEnv, addressFor }) {
    const address = addressFor(chat)
    const js = lines(
      "import OpenAI from 'openai'",
      '',
      `const client = new OpenAI({ baseURL: ${quoted(address)}, apiKey: process.env.${keyEnv} })`,
    )
    const python = lines(
      'import os',
      'from openai import OpenAI',
      '',
      `client = OpenAI(base_url=${quoted(address)}, api_key=os.environ[${quoted(keyEnv)}])`,
    )
    return [
      {
        ...chat,
        title: 'JavaScript, chat completions',
        address,
        language: 'js',
        text: lines(
          js,
          `const response = await client.chat.completions.create({ model: ${quoted(model)}, messages: [{ role: 'user', content: 'Hello there' }] })`,
          'console.log(response.choices[0].message.content)',
        ),
      },
      {
        ...responses,
        title: 'JavaScript, responses',
        address,
        language: 'js',
        text: lines(
          js,
          `const response = await client.responses.create({ model: ${quoted(model)}, input: 'Hello there' })`,
          'console.log(response.output_text)',
        ),
      },
      {
        ...chat,
        title: 'Python, chat completions',
        address,
        language: 'python',
        text: lines(
          python,
          `response = client.chat.completions.create(model=${quoted(model)}, messages=[{"role": "user", "content": "Hello there"}])`,
          'print(response.choices[0].message.content)',
        ),
      },
      {
        ...responses,
        title: 'Python, responses',
        address,
        language: 'python',
        text: lines(
          python,
          `response = client.responses.create(model=${quoted(model)}, input="Hello there")`,
          'print(response.output_text)',
        ),
      },
    ]
  },
}
