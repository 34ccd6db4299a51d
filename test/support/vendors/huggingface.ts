import { chatServer, fieldsBut, readsField } from './base/chat.ts'
import { responsesServer } from './base/responses.ts'
import type { Simulator } from './base/turn.ts'

/** The router passes bodies on: here to a provider that refuses `store`. */
export const huggingface: Simulator = {
  models: ['openai/gpt-oss-120b:cerebras'],
  endpoints: [
    chatServer({
      urls: ['https://router.huggingface.co/v1/chat/completions'],
      fields: fieldsBut(
        'store',
        'metadata',
        'safety_identifier',
        'prompt_cache_key',
        'prompt_cache_retention',
        'prompt_cache_options',
      ),
      unknown: field => `property '${field}' is unsupported`,
      failure: ({ message }) => ({ error: message }),
      reason: text => ({ reasoning: text }),
      // By the provider behind, one of two fields.
      reasonOf: message =>
        readsField('reasoning')(message) ?? readsField('reasoning_content')(message),
    }),
    responsesServer({
      urls: ['https://router.huggingface.co/v1/responses'],
      seals: false,
      tools: ['function', 'mcp'],
    }),
  ],
}
