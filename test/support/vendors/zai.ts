import { callsWithEmptyNames, chatServer, has, readsField } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { isJson, listOf, type Simulator } from './base/turn.ts'

const efforts: Record<string, string[]> = {
  'glm-5.2': ['low', 'medium', 'high', 'max'],
  'glm-5.3': ['low', 'high', 'max'],
}

export const zai: Simulator = {
  models: ['glm-5.3', 'glm-5.2', 'glm-4.7'],
  endpoints: [
    chatServer({
      urls: ['https://api.z.ai/api/paas/v4/chat/completions'],
      failure: ({ message }) => ({ error: { code: '1210', message } }),
      textOnly: ['system', 'tool', 'assistant'],
      refuse(body, model) {
        const foreign = has(
          body,
          'max_completion_tokens',
          'frequency_penalty',
          'presence_penalty',
          'thinking_budget',
          'stream_options',
          'store',
          'metadata',
          'prompt_cache_key',
          'safety_identifier',
        )
        if (foreign) return `Invalid API parameter: ${foreign}`
        if (body['tool_choice'] !== undefined && body['tool_choice'] !== 'auto')
          return 'tool_choice: only auto is supported'
        if (
          body['reasoning_effort'] !== undefined &&
          !efforts[model]?.includes(String(body['reasoning_effort']))
        )
          return 'reasoning_effort: please use low, high, or max'
        if (
          isJson(body['thinking']) &&
          body['thinking']['type'] === 'disabled' &&
          model === 'glm-5.3'
        )
          return 'thinking cannot be disabled: please use low, high, or max'
        if (isJson(body['response_format']) && body['response_format']['type'] === 'json_schema')
          return 'response_format: unknown type json_schema'
        if (
          listOf(body['tools']).some(({ function: fn }) => isJson(fn) && fn['strict'] !== undefined)
        )
          return 'tools: strict is unknown'
        if (
          listOf(body['tools']).length > 0 &&
          body['stream'] === true &&
          body['tool_stream'] !== true
        )
          return 'arguments come in one chunk after a long silence without tool_stream'
        const messages = listOf(body['messages'])
        if (messages.some(message => message['name'] !== undefined))
          return 'messages: name is unknown'
        if (
          messages.some(message => /^\s*$/.test(readsField('reasoning_content')(message) ?? 'none'))
        )
          return 'reasoning_content: a made-up blank'
        return messages.some(({ role }) => role === 'user')
          ? undefined
          : 'messages: at least one user message is required'
      },
      usageIn: 'finish-chunk',
      callFrames: callsWithEmptyNames,
      head: { request_id: 'req-7' },
    }),
    messagesServer({
      urls: ['https://api.z.ai/api/anthropic/v1/messages'],
      signs: false,
      midSystem: () => true,
    }),
  ],
}
