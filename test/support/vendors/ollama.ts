import { chatServer, has, lateSystem, readsField } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { type Json, listOf, type Simulator } from './base/turn.ts'

const efforts = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'ultra', 'max']
const failure = ({ message }: { message: string }) => ({
  error: { message, type: 'invalid_request_error', param: null, code: null },
})
const byAddress = (body: Json) =>
  listOf(body['messages'])
    .flatMap(({ content }) => listOf(content))
    .some(part => /"(url|type)":\s?"(https?:|url")/.test(JSON.stringify(part)))

export const ollama: Simulator = {
  models: ['qwen3:8b'],
  endpoints: [
    chatServer({
      urls: ['http://localhost:11434/v1/chat/completions'],
      auth: 'none',
      parts: ['text', 'image_url', 'input_audio'],
      failure,
      refuse(body) {
        if (lateSystem(body)) return 'System message must be at the beginning'
        if (has(body, 'max_completion_tokens'))
          return 'max_completion_tokens is not read here: the limit is max_tokens'
        if (byAddress(body)) return 'invalid image input'
        return body['reasoning_effort'] === undefined ||
          efforts.includes(String(body['reasoning_effort']))
          ? undefined
          : 'invalid reasoning value'
      },
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
    }),
    messagesServer({
      urls: ['http://localhost:11434/v1/messages'],
      auth: 'none',
      blocks: ['text', 'image', 'thinking', 'tool_use', 'tool_result'],
      signs: false,
      midSystem: () => false,
    }),
    responsesServer({
      urls: ['http://localhost:11434/v1/responses'],
      auth: 'none',
      seals: false,
      tools: ['function'],
    }),
  ],
}
