import type { Maker } from './model.ts'
import type { ModelPrice } from './price.ts'
import { listed } from './sources.ts'

const plus = listed('7b65a7c6d', 'providers/cohere/models/command-a-plus-05-2026')
const commandA = listed('7fbe22429', 'providers/cohere/models/command-a-03-2025')

export const cohere = {
  name: 'cohere',
  title: 'Cohere',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['command-a-plus*'],
      contextTokens: 128_000,
      outputTokens: 64_000,
      input: ['text', 'image'],
      sources: [plus],
    },
    {
      names: ['command-a-03-2025'],
      contextTokens: 256_000,
      outputTokens: 8000,
      input: ['text'],
      sources: [commandA],
    },
  ],
} as const satisfies Maker

/** The first one whose name fits counts. */
export const coherePrices: readonly ModelPrice[] = [
  {
    names: ['command-a-plus*'],
    input: 2.5,
    output: 10,
    source: plus,
  },
  {
    names: ['command-a-03-2025'],
    input: 2.5,
    output: 10,
    source: commandA,
  },
]
