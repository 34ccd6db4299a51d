import { chatServer, plainUsage, readsField } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { type Json, listOf, type Simulator } from './base/turn.ts'

const details = (text: string): Json => ({
  reasoning: text,
  reasoning_details: [{ type: 'reasoning.text', text, format: 'unknown', index: 0 }],
})

export const openrouter: Simulator = {
  models: ['deepseek/deepseek-v4', 'z-ai/glm-5.2'],
  endpoints: [
    chatServer({
      urls: ['https://openrouter.ai/api/v1/chat/completions'],
      failure: ({ message, status }) => ({ error: { message, code: status } }),
      reason: details,
      reasonOf: message =>
        listOf(message['reasoning_details'])
          .map(({ text }) => String(text ?? ''))
          .join('') || readsField('reasoning')(message),
      usageIn: 'own-chunk',
      usage: () => ({ ...plainUsage(), cost: 0.01, is_byok: false }),
      head: { provider: 'Somebody' },
      // Comments before the first chunk, the finish reason on two chunks, the end twice.
      quirks: frames => [
        ': OPENROUTER PROCESSING\n\n',
        ': OPENROUTER PROCESSING\n\n',
        ...frames.map(frame =>
          frame.replace(
            '"choices":[],',
            '"choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],',
          ),
        ),
        'data: [DONE]\n\n',
      ],
    }),
    messagesServer({
      urls: ['https://openrouter.ai/api/v1/messages'],
      auth: 'bearer',
      midSystem: () => true,
    }),
    responsesServer({ urls: ['https://openrouter.ai/api/v1/responses'], seals: false }),
  ],
}
