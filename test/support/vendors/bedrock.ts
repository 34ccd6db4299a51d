import { claude } from './anthropic.ts'
import { chatServer, readsField } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { listOf, type Simulator } from './base/turn.ts'

export const bedrock: Simulator = {
  models: ['anthropic.claude-opus-5', 'anthropic.claude-opus-4-7', 'openai.gpt-oss-120b'],
  endpoints: [
    messagesServer({
      urls: ['https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages'],
      isStrict: true,
      ...claude,
      refuse: (body, model) =>
        listOf(body['tools']).some(tool => tool['eager_input_streaming'] !== undefined)
          ? 'tools.0.custom.eager_input_streaming: Extra inputs are not permitted'
          : claude.refuse(body, model),
    }),
    responsesServer({
      urls: ['https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/responses'],
      // Ids of calls begin again in every response.
      idOf: nth => `call_${nth % 10}`,
    }),
    chatServer({
      urls: ['https://bedrock-runtime.us-east-1.amazonaws.com/v1/chat/completions'],
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
    }),
  ],
}
