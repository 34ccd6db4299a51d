import { callsWithEmptyNames, chatServer, has, lateSystem } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { isJson, type Simulator } from './base/turn.ts'

export const alibaba: Simulator = {
  models: ['qwen3.8-max', 'qwen3-32b'],
  endpoints: [
    chatServer({
      urls: ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1/chat/completions'],
      parts: ['text', 'image_url', 'input_audio', 'video_url'],
      refuse(body, model) {
        if (lateSystem(body)) return 'System message must be at the beginning.'
        const foreign = has(body, 'max_completion_tokens', 'frequency_penalty')
        if (foreign) return `Unrecognized request argument supplied: ${foreign}`
        if (body['reasoning_effort'] !== undefined && model !== 'qwen3.8-max')
          return 'reasoning_effort is not supported by this model: use enable_thinking'
        const wantsSchema =
          isJson(body['response_format']) && body['response_format']['type'] === 'json_schema'
        return wantsSchema && model !== 'qwen3.8-max'
          ? 'response_format: json_schema is not supported by this model'
          : undefined
      },
      callFrames: callsWithEmptyNames,
    }),
    messagesServer({
      urls: ['https://dashscope-intl.aliyuncs.com/apps/anthropic/v1/messages'],
      midSystem: () => false,
    }),
    responsesServer({
      urls: ['https://dashscope-intl.aliyuncs.com/compatible-mode/v1/responses'],
      seals: false,
    }),
  ],
}
