import { chatServer } from './base/chat.ts'
import type { Simulator } from './base/turn.ts'

export const fireworks: Simulator = {
  models: ['accounts/fireworks/models/glm-4p7'],
  endpoints: [
    chatServer({
      urls: ['https://api.fireworks.ai/inference/v1/chat/completions'],
      usageIn: 'finish-chunk',
    }),
  ],
}
