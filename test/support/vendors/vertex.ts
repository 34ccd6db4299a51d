import { chatServer } from './base/chat.ts'
import { googleServer } from './base/generate-content.ts'
import { isJson, type Simulator } from './base/turn.ts'
import { refusedByGemini } from './gemini.ts'

export const vertex: Simulator = {
  models: ['gemini-3-pro-preview', 'gemini-2.5-flash'],
  endpoints: [
    googleServer({
      base: /^https:\/\/us-central1-aiplatform\.googleapis\.com\/v1\/projects\/p\/locations\/us-central1\/publishers\/google$/,
      auth: 'bearer',
      signs: model => !/^gemini-2/.test(model),
      refuse: (body, model) =>
        isJson(body['toolConfig']) && body['toolConfig']['includeServerSideToolInvocations'] !== undefined
          ? 'Unknown name "includeServerSideToolInvocations" at \'tool_config\': Cannot find field.'
          : refusedByGemini(body, model),
    }),
    chatServer({
      urls: ['https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi/chat/completions'],
      silent: () => true,
    }),
  ],
}
