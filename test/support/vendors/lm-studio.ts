import { chatServer, has, lateSystem } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { isJson, type Simulator } from './base/turn.ts'

export const lmStudio: Simulator = {
  models: ['qwen3-8b'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:1234/v1/chat/completions'],
      auth: 'none',
      failure: ({ message }) => ({ error: message }),
      refuse(body) {
        if (lateSystem(body)) return 'System message must be at the beginning.'
        if (has(body, 'max_completion_tokens'))
          return 'max_completion_tokens is not read here: the limit is max_tokens'
        return isJson(body['response_format']) && body['response_format']['type'] === 'json_object'
          ? "'response_format.type' must be 'json_schema' or 'text'"
          : undefined
      },
    }),
    responsesServer({
      urls: ['http://localhost:1234/v1/responses'],
      auth: 'none',
      seals: false,
      tools: ['function', 'mcp'],
    }),
    messagesServer({
      urls: ['http://localhost:1234/v1/messages'],
      auth: 'none',
      signs: false,
      midSystem: () => false,
    }),
  ],
}
