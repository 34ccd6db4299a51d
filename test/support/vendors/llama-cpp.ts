import { chatServer, lateSystem, nullContent } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import type { Simulator } from './base/turn.ts'

export const llamaCpp: Simulator = {
  models: ['qwen3-8b.gguf'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:8080/v1/chat/completions'],
      auth: 'none',
      failure: ({ message, status }) => ({
        error: { code: status, message, type: 'invalid_request_error' },
      }),
      refuse: body => {
        if (lateSystem(body)) return 'System message must be at the beginning.'
        return nullContent(body) ? 'Input should be a valid string' : undefined
      },
    }),
    messagesServer({
      urls: ['http://localhost:8080/v1/messages'],
      auth: 'none',
      signs: false,
      midSystem: () => false,
    }),
    responsesServer({
      urls: ['http://localhost:8080/v1/responses'],
      auth: 'none',
      seals: false,
      tools: ['function'],
    }),
  ],
}
