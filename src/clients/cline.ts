import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }

export const cline: Client = {
  title: 'Cline',
  usages: [usage],
  remarks: [
    'Cline keeps the key in its own files: after a change of the key, run the first line again.',
  ],
  snippets({ model, keyEnv, addressFor }) {
    const address = addressFor(usage)
    return [
      {
        ...usage,
        title: 'command line',
        address,
        language: 'sh',
        text: lines(
          `cline auth --provider openai --apikey "$${keyEnv}" --baseurl ${shellWord(address)} --modelid ${shellWord(model)}`,
          'cline --provider openai-compatible',
        ),
      },
      {
        ...usage,
        title: 'fields of the editor',
        address,
        language: 'text',
        text: lines(
          'API Provider  OpenAI Compatible',
          `Base URL      ${address}`,
          `API Key       the value of ${keyEnv}, or any text where the gateway asks for none`,
          `Model ID      ${model}`,
        ),
      },
    ]
  },
}
