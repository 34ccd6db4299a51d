import { claude } from './anthropic.ts'
import { chatServer } from './base/chat.ts'
import { googleServer } from './base/generate-content.ts'
import { messagesServer } from './base/messages.ts'
import { isJson, type Simulator } from './base/turn.ts'
import { refusedByGemini } from './gemini.ts'

const messages = messagesServer({ urls: [], auth: 'bearer', isStrict: true, ...claude })

/**
 * Claude: the path names the model and whether to stream, and the body names the version of Vertex.
 */
const predicting: Simulator['endpoints'][number] = {
  ...messages,
  match: ({ pathname }) => {
    const [, model, action] =
      /\/locations\/us-central1\/publishers\/anthropic\/models\/([^/:]+):(rawPredict|streamRawPredict)$/.exec(
        pathname,
      ) ?? []
    return model === undefined ? undefined : { model, stream: action === 'streamRawPredict' }
  },
  refuse: ({ anthropic_version: version, ...body }, model) => {
    if (version !== 'vertex-2023-10-16')
      return { status: 400, message: 'anthropic_version: Field required' }
    if (JSON.stringify(body).includes('"type":"url"'))
      return {
        status: 400,
        message: 'messages.0.content.0.image.source: URL sources are not supported',
      }
    return body['model'] === undefined
      ? messages.refuse({ model, ...body }, model)
      : { status: 400, message: 'model: Extra inputs are not permitted' }
  },
}

export const vertex: Simulator = {
  models: ['gemini-3-pro-preview', 'gemini-2.5-flash', 'claude-opus-5'],
  endpoints: [
    predicting,
    googleServer({
      base: /^https:\/\/us-central1-aiplatform\.googleapis\.com\/v1\/projects\/p\/locations\/us-central1\/publishers\/google$/,
      auth: 'bearer',
      signs: model => !/^gemini-2/.test(model),
      refuse: (body, model) =>
        isJson(body['toolConfig']) &&
        body['toolConfig']['includeServerSideToolInvocations'] !== undefined
          ? 'Unknown name "includeServerSideToolInvocations" at \'tool_config\': Cannot find field.'
          : refusedByGemini(body, model),
    }),
    chatServer({
      urls: [
        'https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1/endpoints/openapi/chat/completions',
      ],
      silent: () => true,
    }),
  ],
}
