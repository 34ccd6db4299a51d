import type { Maker } from './model.ts'
import { listed } from './sources.ts'

export const minimax = {
  name: 'minimax',
  title: 'MiniMax',
  protocols: ['chat-completions'],
  models: [
    {
      names: ['minimax-m3+*'],
      contextTokens: 512_000,
      input: ['text', 'image', 'video'],
      sources: [listed('36dbbd62f', 'models/minimax/MiniMax-M3')],
    },
  ],
} as const satisfies Maker
