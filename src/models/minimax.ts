import type { Maker } from './model.ts'

const limits = { date: '2026-06-01', url: 'https://github.com/anomalyco/models.dev/tree/36dbbd62f' }

export const minimax = {
  name: 'minimax',
  title: 'MiniMax',
  protocols: ['chat-completions'],
  models: [{ names: ['minimax-m3+*'], contextTokens: 512_000, input: ['text'], sources: [limits] }],
} as const satisfies Maker
