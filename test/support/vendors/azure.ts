import { claude } from './anthropic.ts'
import { chatServer, fieldsBut } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { keyed, type Refusal, type Simulator } from './base/turn.ts'
import { openai } from './openai.ts'

const [responses, chat] = openai.endpoints as [
  Simulator['endpoints'][number],
  Simulator['endpoints'][number],
]
const own = { urls: ['https://acme.openai.azure.com/openai/v1/responses'] }
const failure = ({ message, code, status }: Refusal) => ({
  error: { code: String(code ?? status), message, details: message },
})
const chatUrls = ['https://acme.openai.azure.com/openai/v1/chat/completions']
const base = chatServer({
  urls: chatUrls,
  auth: 'api-key',
  fields: fieldsBut(),
  parts: ['text', 'image_url', 'input_audio'],
  silent: () => true,
  roles: ['developer', 'system', 'user', 'assistant', 'tool'],
})

/**
 * The models of OpenAI, with its own address, key, error bodies and a first chunk without choices.
 */
export const azure: Simulator = {
  models: ['gpt-4.1', 'gpt-5.6-sol'],
  endpoints: [
    { ...responses, match: responsesServer(own).match, authorize: keyed['api-key'], failure },
    {
      ...chat,
      match: base.match,
      authorize: base.authorize,
      failure,
      refuse: (body, model) => base.refuse(body, model) ?? chat.refuse(body, model),
      stream: (body, model) => [
        `data: ${JSON.stringify({ id: '', object: '', created: 0, model: '', choices: [], prompt_filter_results: [] })}\n\n`,
        ...chat.stream(body, model),
      ],
    },
    messagesServer({
      urls: ['https://acme.services.ai.azure.com/anthropic/v1/messages'],
      isStrict: true,
      ...claude,
    }),
  ],
}
