import { chatServer, fieldsBut, plainUsage, readsField } from './base/chat.ts'
import { isJson, type Json, listOf, type Simulator } from './base/turn.ts'

const under = ({ function: inner }: Json, key: string) => (isJson(inner) ? inner[key] : undefined)

const refused = [
  'frequency_penalty', 'logit_bias', 'presence_penalty', 'parallel_tool_calls', 'service_tier', 'store', 'metadata', 'safety_identifier', 'prompt_cache_key',
  'prompt_cache_retention', 'prompt_cache_options', 'max_tokens', 'functions', 'function_call', 'modalities', 'audio', 'verbosity', 'web_search_options', 'moderation',
] // biome-ignore format: one list

export const cerebras: Simulator = {
  models: ['gpt-oss-120b', 'zai-glm-4.7'],
  endpoints: [
    chatServer({
      urls: ['https://api.cerebras.ai/v1/chat/completions'],
      fields: fieldsBut(...refused).concat('disable_reasoning', 'reasoning_format'),
      unknown: field => ({
        status: 400,
        message: `body.${field}: property 'body.${field}' is unsupported`,
        code: 'wrong_api_format',
        param: 'validation_error',
      }),
      failure: ({ message, param, code }) => ({
        message,
        type: 'invalid_request_error',
        param,
        code,
      }),
      roles: ['system', 'user', 'assistant', 'tool'],
      refuse(body, model) {
        const odd = listOf(body['messages'])
          .flatMap(message => Object.keys(message))
          .find(key => key === 'reasoning_content' || key === 'reasoning_details')
        if (odd) return `property 'messages.${odd}' is unsupported`
        const isStrict = listOf(body['tools']).map(tool => under(tool, 'strict') === true)
        if (new Set(isStrict).size > 1)
          return "Tools with mixed values for 'strict' are not allowed. Please set all tools to 'strict: true' or 'strict: false'"
        const isGlm = model.startsWith('zai-glm')
        if (body['disable_reasoning'] !== undefined && !isGlm)
          return "property 'disable_reasoning' is unsupported"
        if (isGlm && listOf(body['messages']).some(message => message['reasoning'] !== undefined))
          return "property 'messages.reasoning' is unsupported"
        return isJson(body['thinking']) ? "property 'thinking' is unsupported" : undefined
      },
      reason: text => ({ reasoning: text }),
      reasonOf: message =>
        readsField('reasoning')(message) ??
        /^<think>([\s\S]*?)<\/think>/.exec(String(message['content']))?.[1],
      usageIn: 'finish-chunk',
      usage: () => ({ ...plainUsage(), time_info: { total_time: 0.1 } }),
    }),
  ],
}
