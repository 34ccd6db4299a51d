import {
  chatServer,
  fieldsBut,
  has,
  openaiFailure,
  plainUsage,
  readsField,
  wholeCalls,
} from './base/chat.ts'
import { responsesServer } from './base/responses.ts'
import { listOf, type Simulator } from './base/turn.ts'

function effortsOf(model: string): string[] {
  if (model.includes('gpt-oss')) return ['low', 'medium', 'high']
  return model.includes('qwen3') ? ['none', 'default'] : []
}

export const groq: Simulator = {
  models: ['openai/gpt-oss-120b', 'qwen/qwen3-32b', 'llama-3.3-70b-versatile'],
  endpoints: [
    chatServer({
      urls: ['https://api.groq.com/openai/v1/chat/completions'],
      fields: fieldsBut('logprobs', 'logit_bias', 'top_logprobs').concat(
        'reasoning_format',
        'include_reasoning',
      ),
      unknown: field => `property '${field}' is unsupported`,
      roles: ['system', 'developer', 'user', 'assistant', 'tool'],
      failure: openaiFailure,
      refuse(body, model) {
        if (has(body, 'n') && body['n'] !== 1) return "'n' : number must be at most 1"
        if (listOf(body['messages']).some(message => message['name'] !== undefined))
          return "property 'messages.name' is unsupported"
        const words = effortsOf(model)
        const effort = body['reasoning_effort']
        return effort === undefined || words.includes(String(effort))
          ? undefined
          : `reasoning_effort must be one of ${words.join(', ')}`
      },
      silent: model => model.startsWith('llama'),
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
      callFrames: wholeCalls,
      usageIn: 'finish-chunk',
      usage: () => ({ ...plainUsage(), queue_time: 0.01, total_time: 0.4 }),
      quirks: frames =>
        frames.map((frame, at) =>
          at === 0 ? frame.replace('"object"', '"x_groq":{"id":"req_7"},"object"') : frame,
        ),
    }),
    responsesServer({
      urls: ['https://api.groq.com/openai/v1/responses'],
      seals: false,
      tools: ['function', 'code_interpreter', 'browser_search', 'mcp'],
    }),
  ],
}
