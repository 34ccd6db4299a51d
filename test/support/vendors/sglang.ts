import { chatServer, lateSystem } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import type { Simulator } from './base/turn.ts'

export const sglang: Simulator = {
  models: ['Qwen/Qwen3-32B'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:30000/v1/chat/completions'],
      auth: 'none',
      failure: ({ message, status }) => ({
        object: 'error',
        message,
        type: 'BadRequestError',
        param: null,
        code: status,
      }),
      refuse: body => (lateSystem(body) ? 'System message must be at the beginning.' : undefined),
    }),
    messagesServer({
      urls: ['http://localhost:30000/v1/messages'],
      auth: 'none',
      signs: false,
      midSystem: () => true,
    }),
  ],
}
