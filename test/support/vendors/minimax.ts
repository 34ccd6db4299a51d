import { chatServer, has, lateSystem } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { isJson, type Json, listOf, type Simulator } from './base/turn.ts'

const invalid = (message: string) => `invalid params, ${message} (2013)`

export const minimax: Simulator = {
  models: ['MiniMax-M3', 'MiniMax-M2.7'],
  endpoints: [
    messagesServer({
      urls: ['https://api.minimax.io/anthropic/v1/messages'],
      // A middle system message is not among the roles that its page names.
      midSystem: () => false,
    }),
    chatServer({
      urls: ['https://api.minimax.io/v1/chat/completions'],
      badRole: role => invalid(`chat content has invalid message role: ${role}`),
      refuse(body: Json, model) {
        if (lateSystem(body)) return invalid('chat content has invalid message role: system')
        const foreign = has(
          body,
          'reasoning_effort',
          'frequency_penalty',
          'presence_penalty',
          'parallel_tool_calls',
          'response_format',
          'seed',
          'tool_choice',
          'store',
          'metadata',
        )
        if (foreign) return invalid(`unknown field ${foreign}`)
        if (
          isJson(body['thinking']) &&
          model.startsWith('MiniMax-M2') &&
          body['thinking']['type'] === 'disabled'
        )
          return invalid('thinking cannot be disabled')
        return listOf(body['tools']).some(
          ({ function: fn }) => isJson(fn) && fn['strict'] !== undefined,
        )
          ? invalid('strict is unknown')
          : undefined
      },
      reason: text => ({ content: `<think>${text}</think>` }),
      reasonOf: ({ content, reasoning_content: apart }) =>
        typeof apart === 'string'
          ? apart
          : /^<think>([\s\S]*?)<\/think>/.exec(String(content))?.[1],
      failure: ({ message }) => ({
        type: 'error',
        error: { type: 'bad_request_error', message, http_code: '400' },
      }),
    }),
  ],
}
