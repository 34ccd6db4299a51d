import { chatServer, fieldsBut } from './base/chat.ts'
import { isJson, listOf, type Simulator } from './base/turn.ts'

const refused = [
  'max_completion_tokens', 'store', 'metadata', 'safety_identifier', 'prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'service_tier', 'verbosity',
  'web_search_options', 'modalities', 'audio', 'moderation', 'prediction',
] // biome-ignore format: one list

export const nvidia: Simulator = {
  models: ['moonshotai/kimi-k2.6', 'openai/gpt-oss-120b', 'deepseek-ai/deepseek-v3.2'],
  endpoints: [
    chatServer({
      urls: ['https://integrate.api.nvidia.com/v1/chat/completions'],
      fields: fieldsBut(...refused).concat('chat_template_kwargs'),
      unknown: field => ({
        status: 400,
        message: `[{'type': 'extra_forbidden', 'loc': ('body', '${field}'), 'msg': 'Extra inputs are not permitted'}]`,
        param: field,
      }),
      failure: ({ message, status }) => ({ status, title: 'Bad Request', detail: message }),
      refuse(body, model) {
        if (listOf(body['messages']).some(({ role }, at) => at > 0 && role === 'system'))
          return 'System message must be at the beginning.'
        if (body['reasoning_effort'] !== undefined && !model.includes('gpt-oss'))
          return 'reasoning_effort is not supported by this model'
        if (
          model.includes('kimi') &&
          body['parallel_tool_calls'] !== false &&
          listOf(body['tools']).length > 0
        )
          return 'This model only supports single tool-calls at once!'
        if (
          listOf(body['messages']).some(
            ({ role, content }) =>
              Array.isArray(content) &&
              (role !== 'user' || listOf(content).every(({ type }) => type === 'text')),
          )
        )
          return 'content must be a string'
        return listOf(body['tools']).some(
          ({ function: fn }) => isJson(fn) && fn['strict'] !== undefined,
        )
          ? 'strict is not supported'
          : undefined
      },
      serial: body => body['parallel_tool_calls'] === false,
    }),
  ],
}
