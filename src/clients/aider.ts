import type { AddressUsage } from '../address/check.ts'
import { type Client, lines, shellWord } from './client.ts'

const usage: AddressUsage = { protocol: 'chat-completions', appends: 'endpoint' }

export const aider: Client = {
  title: 'Aider',
  usages: [usage],
  remarks: [
    'The word before the model’s name says what Aider speaks; it is no part of the name.',
    'Aider does not know the context window of the model, and warns about that: --no-show-model-warnings hides it.',
  ],
  snippets({ model, smallModel, keyEnv, addressFor }) {
    const address = addressFor(usage)
    const named = (id: string) => shellWord(`openai/${id}`)
    return [
      {
        ...usage,
        title: 'environment',
        address,
        language: 'sh',
        text: lines(
          `export OPENAI_API_BASE=${shellWord(address)}`,
          `export OPENAI_API_KEY="$${keyEnv}"`,
          `aider --model ${named(model)} --weak-model ${named(smallModel)}`,
        ),
      },
    ]
  },
}
