import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, quoted } from './client.ts'

const chat: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }
const messages: AddressUsage = { protocol: 'messages', appends: 'version-and-endpoint' }

export const litellm: Client = {
  title: 'LiteLLM',
  usages: [chat, messages],
  remarks: [
    'The word before the model’s name says what LiteLLM speaks; it is no part of the name.',
  ],
  snippets({ model, models, keyEnv, addressFor }) {
    const python = (provider: string, address: string) =>
      lines(
        'import os',
        'import litellm',
        '',
        'response = litellm.completion(',
        `    model=${quoted(`${provider}/${model}`)},`,
        `    api_base=${quoted(address)},`,
        `    api_key=os.environ[${quoted(keyEnv)}],`,
        '    messages=[{"role": "user", "content": "Hello there"}],',
        ')',
        'print(response.choices[0].message.content)',
      )
    const proxied = models.flatMap(id => [
      `  - model_name: ${quoted(id)}`,
      '    litellm_params:',
      `      model: ${quoted(`openai/${id}`)}`,
      `      api_base: ${quoted(addressFor(chat))}`,
      `      api_key: os.environ/${keyEnv}`,
    ])
    return [
      {
        ...chat,
        title: 'Python, chat completions',
        address: addressFor(chat),
        language: 'python',
        text: python('openai', addressFor(chat)),
      },
      {
        ...messages,
        title: 'Python, messages',
        address: addressFor(messages),
        language: 'python',
        text: python('anthropic', addressFor(messages)),
      },
      {
        ...chat,
        title: 'its proxy',
        address: addressFor(chat),
        language: 'yaml',
        file: 'config.yaml',
        text: lines('model_list:', ...proxied),
      },
    ]
  },
}
