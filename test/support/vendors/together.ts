import { chatServer, has, readsField } from './base/chat.ts'
import { isJson, listOf, type Simulator } from './base/turn.ts'

export const together: Simulator = {
  models: ['moonshotai/Kimi-K2-Thinking'],
  endpoints: [
    chatServer({
      urls: ['https://api.together.xyz/v1/chat/completions'],
      refuse(body) {
        const foreign = has(body, 'store', 'max_completion_tokens', 'reasoning_effort')
        if (foreign) return `Invalid request: ${foreign}`
        return listOf(body['tools']).some(
          ({ function: fn }) => isJson(fn) && fn['strict'] !== undefined,
        )
          ? 'Invalid request: strict'
          : undefined
      },
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
      quirks: frames =>
        frames.map(frame => frame.replace('"finish_reason"', '"seed":7,"text":"","finish_reason"')),
    }),
  ],
}
