import { chatServer, fieldsBut, plainUsage } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { counted, isJson, listOf, type Simulator } from './base/turn.ts'

/** In front of a model whose provider takes neither `store` nor `metadata`. */
export const litellm: Simulator = {
  models: ['my-claude'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:4000/v1/chat/completions'],
      fields: fieldsBut(
        'store',
        'safety_identifier',
        'prompt_cache_retention',
        'logit_bias',
        'service_tier',
      ).concat('thinking', 'cache_control'),
      unknown: field => ({
        status: 400,
        message: `litellm.UnsupportedParamsError: anthropic does not support parameters: ['${field}']`,
        code: '400',
      }),
      roles: ['system', 'developer', 'user', 'assistant', 'tool'],
      reason: text => ({ reasoning_content: text }),
      reasonOf: message =>
        listOf(message['thinking_blocks'])
          .map(({ thinking }) => String(thinking))
          .join('') ||
        (typeof message['reasoning_content'] === 'string'
          ? message['reasoning_content']
          : undefined),
      refuse: body => (isJson(body['extra_body']) ? 'extra_body' : undefined),
      usage: () => ({
        ...plainUsage(),
        cache_read_input_tokens: counted.cached,
        cache_creation_input_tokens: 0,
      }),
    }),
    responsesServer({ urls: ['http://localhost:4000/v1/responses'], seals: false }),
    messagesServer({
      urls: ['http://localhost:4000/v1/messages'],
      auth: 'bearer',
      midSystem: () => true,
    }),
  ],
}
