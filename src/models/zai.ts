import type { Maker } from './model.ts'

const peers = { date: '2026-08-22', url: 'https://github.com/pydantic/pydantic-ai/tree/4fda38988' }
const registry = {
  date: '2026-08-22',
  url: 'https://github.com/lidge-jun/opencodex/tree/6ae83b1f1',
}
const card = { date: '2026-06-18', url: 'https://huggingface.co/zai-org/GLM-5.2' }
const sources = [peers, registry]

export const zai = {
  name: 'zai',
  title: 'Z.ai',
  protocols: ['chat-completions'],
  models: [
    { names: ['glm-5.3+*'], thinking: ['effort'], efforts: 'low high max', sources },
    {
      names: ['glm-5.2+*'],
      contextTokens: 1_000_000,
      input: ['text'],
      thinking: ['off', 'effort'],
      efforts: 'low medium high max',
      sources: [...sources, card],
    },
    { names: ['glm-4.5+*'], thinking: ['off', 'adaptive'], efforts: '', sources },
  ],
} as const satisfies Maker
