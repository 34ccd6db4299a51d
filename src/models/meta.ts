import type { Maker } from './model.ts'
import { listed } from './sources.ts'

export const meta = {
  name: 'meta',
  title: 'Meta',
  protocols: ['converse'],
  models: [
    {
      names: ['*llama-4+*', '*llama4+*'],
      input: ['text', 'image'],
      thinking: [],
      sources: [listed('1a0bdb93f', 'models/meta/llama-4-maverick-17b-instruct')],
    },
    {
      names: ['*llama-3+*', '*llama3+*'],
      thinking: [],
      sources: [listed('36dbbd62f', 'models/meta/llama-3.3-70b-instruct')],
    },
  ],
} as const satisfies Maker
