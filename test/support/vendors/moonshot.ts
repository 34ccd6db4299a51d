import { chatServer, has, offered, readsField, schemaHas } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { counted, isJson, listOf, type Simulator } from './base/turn.ts'

export const moonshot: Simulator = {
  models: ['kimi-k3', 'kimi-k2.7-code', 'kimi-k2.6'],
  endpoints: [
    chatServer({
      urls: ['https://api.moonshot.ai/v1/chat/completions'],
      roles: ['system', 'user', 'assistant', 'tool'],
      parts: ['text', 'image_url', 'video_url'],
      refuse(body, model) {
        const fixed = has(
          body,
          'temperature',
          'top_p',
          'n',
          'presence_penalty',
          'frequency_penalty',
        )
        if (fixed) return `invalid ${fixed}: it is fixed for this model`
        if (
          body['reasoning_effort'] !== undefined &&
          (model !== 'kimi-k3' ||
            !['low', 'high', 'max'].includes(String(body['reasoning_effort'])))
        )
          return 'reasoning_effort: not a level of this model'
        if (
          isJson(body['thinking']) &&
          body['thinking']['type'] === 'disabled' &&
          model !== 'kimi-k2.6'
        )
          return 'thinking cannot be disabled on this model'
        if (
          model === 'kimi-k2.7-code' &&
          body['tool_choice'] !== undefined &&
          body['tool_choice'] !== 'auto'
        )
          return 'tool_choice: only auto is supported'
        if (
          listOf(body['messages']).some(message =>
            /^\s*$/.test(readsField('reasoning_content')(message) ?? 'none'),
          )
        )
          return 'reasoning_content: a made-up blank'
        const bad = offered(body).map(({ schema }) =>
          schemaHas(
            schema,
            (key, value, inner) =>
              (key === 'items' && Array.isArray(value)) || (key === 'anyOf' && 'type' in inner),
          ),
        )
        if (bad.some(Boolean)) return `tools: the schema is not valid MFJS: ${bad.find(Boolean)}`
        if (offered(body).some(({ schema }) => isJson(schema) && '$schema' in schema))
          return 'tools: $schema at the root'
        const odd = listOf(body['tools']).some(
          ({ function: fn }) => isJson(fn) && !/^(true|false|undefined)$/.test(`${fn['strict']}`),
        )
        return odd ? 'tools: strict is no boolean' : undefined
      },
      usageIn: 'finish-chunk',
      usage: () => ({
        prompt_tokens: counted.input,
        completion_tokens: counted.output,
        total_tokens: counted.input + counted.output,
        cached_tokens: counted.cached,
      }),
    }),
    messagesServer({
      urls: ['https://api.moonshot.ai/anthropic/v1/messages'],
      signs: false,
      midSystem: () => true,
    }),
    responsesServer({ urls: ['https://api.moonshot.ai/v1/responses'], seals: false }),
  ],
}
