import { chatServer, lateSystem, plainUsage, readsField } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { listOf, type Simulator } from './base/turn.ts'

const failure = ({ message, status }: { message: string; status: number }) => ({
  error: { message, type: 'BadRequestError', param: null, code: status },
})

export const vllm: Simulator = {
  models: ['Qwen/Qwen3-32B'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:8000/v1/chat/completions'],
      auth: 'none',
      roles: ['system', 'user', 'assistant', 'tool'],
      badRole: role => `Unexpected message role. (${role})`,
      refuse(body) {
        if (lateSystem(body)) return 'System message must be at the beginning.'
        return listOf(body['tools']).some(({ type }) => type !== 'function')
          ? "Input should be 'function'"
          : undefined
      },
      failure,
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
      usageIn: 'every-chunk',
      usage: () => ({ ...plainUsage(), prompt_tokens_details: { cached_tokens: 800 } }),
      quirks: frames =>
        frames.map(frame =>
          frame
            .replace('"delta":{"content"', '"delta":{"tool_calls":[],"content"')
            .replace('"finish_reason"', '"stop_reason":null,"finish_reason"'),
        ),
    }),
    messagesServer({
      urls: ['http://localhost:8000/v1/messages'],
      auth: 'none',
      signs: false,
      midSystem: () => true,
    }),
    responsesServer({
      urls: ['http://localhost:8000/v1/responses'],
      auth: 'none',
      seals: false,
      tools: ['function'],
    }),
  ],
}
