import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const usage: AddressUsage = { protocol: 'generate-content', appends: 'version-and-endpoint' }

export const genaiSdk: Client = {
  title: 'Google GenAI SDK',
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
          "import { GoogleGenAI } from '@google/genai'",
          '',
          `const client = new GoogleGenAI({ apiKey: process.env.${keyEnv}, httpOptions: { baseUrl: ${quoted(address)} } })`,
          `const response = await client.models.generateContent({ model: ${quoted(model)}, contents: 'Hello there' })`,
          'console.log(response.text)',
        ),
      },
      {
        ...usage,
        title: 'Python',
        address,
        language: 'python',
        text: lines(
          'import os',
          'from google import genai',
          '',
          `client = genai.Client(api_key=os.environ[${quoted(keyEnv)}], http_options={"base_url": ${quoted(address)}})`,
          `response = client.models.generate_content(model=${quoted(model)}, contents="Hello there")`,
          'print(response.text)',
        ),
      },
    ]
  },
}
