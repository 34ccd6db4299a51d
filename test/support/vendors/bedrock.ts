import { claude } from './anthropic.ts'
import { chatServer, readsField } from './base/chat.ts'
import { blocksOf, type ConverseFamily, converseServer, within } from './base/converse.ts'
import { eventFrame } from './base/frames.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { type Endpoint, isJson, type Json, keyed, listOf, type Simulator } from './base/turn.ts'

const isClaude = (model: string) => /anthropic\.claude-/.test(model)

/** The models that the OpenAI form of the runtime host does not serve. */
const isOnlyConverse = (model: string) =>
  /(?:amazon|meta|cohere|ai21|anthropic)\.|deepseek\.r1/.test(model)

const notThere = (model: string) => `The model \`${model}\` isn't supported on this route`

const valueIn = (body: Json, ...keys: string[]): unknown =>
  keys.reduce<unknown>((value, key) => (isJson(value) ? value[key] : undefined), body)

function typeOf({ toolUse, toolResult, reasoningContent }: Json): string {
  if (toolUse) return 'tool_use'
  if (toolResult) return 'tool_result'
  return reasoningContent ? 'thinking' : 'text'
}

/**
 * A request of Converse as one of the messages protocol, for the rules of Claude that do not depend
 * on the protocol.
 */
function asMessages(body: Json): Json {
  const { inferenceConfig, additionalModelRequestFields: more, toolConfig, outputConfig } = body
  const sampling = isJson(inferenceConfig) ? inferenceConfig : {}
  const fields = isJson(more) ? more : {}
  const [choice] = Object.keys(
    isJson(toolConfig) && isJson(toolConfig['toolChoice']) ? toolConfig['toolChoice'] : {},
  )
  const format = valueIn(
    { outputConfig },
    'outputConfig',
    'textFormat',
    'structure',
    'jsonSchema',
    'schema',
  )
  return {
    ...fields,
    temperature: sampling['temperature'],
    top_p: sampling['topP'],
    output_config: {
      ...(isJson(fields['output_config']) ? fields['output_config'] : {}),
      ...(typeof format === 'string' && { format: { schema: JSON.parse(format) as unknown } }),
    },
    ...(choice && { tool_choice: { type: choice } }),
    tools: within(isJson(toolConfig) ? toolConfig['tools'] : [], 'toolSpec').map(
      ({ strict, inputSchema }) => ({
        strict,
        input_schema: isJson(inputSchema) ? inputSchema['json'] : undefined,
      }),
    ),
    messages: listOf(body['messages']).map(({ role, content }) => ({
      role,
      content: listOf(content).map(part => ({
        type: typeOf(part),
      })),
    })),
  }
}

/** The betas that the service accepts for Claude. */
const knownBeta =
  /^(?:claude-code-20250219|interleaved-thinking-2025-05-14|context-1m-2025-08-07|context-management-2025-06-27|token-efficient-tools-2025-02-19|output-128k-2025-02-19|computer-use-2025-(?:01|11)-24|fine-grained-tool-streaming-2025-05-14|effort-2025-11-24|tool-search-tool-2025-10-19|tool-examples-2025-10-29)$/

/** Models that take neither strict tools nor a schema for the response. */
const isLoose = (model: string) => /opus-4-[178]|opus-5|sonnet-5|fable/.test(model)

function refusedByClaude(body: Json, model: string): string | undefined {
  const more = isJson(body['additionalModelRequestFields'])
    ? body['additionalModelRequestFields']
    : {}
  const betas = Array.isArray(more['anthropic_beta']) ? (more['anthropic_beta'] as unknown[]) : []
  if (betas.some(beta => !knownBeta.test(String(beta)))) return 'invalid beta flag'
  if (more['tool_choice'] !== undefined && valueIn(body, 'toolConfig', 'toolChoice') !== undefined)
    return 'tool_choice: Extra inputs are not permitted'
  const tools = within(valueIn(body, 'toolConfig', 'tools'), 'toolSpec')
  if (
    isLoose(model) &&
    (tools.some(({ strict }) => strict === true) ||
      valueIn(body, 'outputConfig', 'textFormat') !== undefined)
  )
    return "This model doesn't support the outputConfig.textFormat field and strict tools."
  const mixed = listOf(body['messages']).some(({ content }) => {
    const kinds = listOf(content).flatMap(Object.keys)
    return (
      kinds.includes('toolResult') && kinds.some(kind => kind === 'document' || kind === 'video')
    )
  })
  return mixed
    ? 'messages: tool_result blocks cannot be next to documents'
    : claude.refuse(asMessages(body), model)
}

/** The rules of Claude on Mantle and with InvokeModel. */
function refusedAsMessages(body: Json, model: string): string | undefined {
  if (!isClaude(model)) return notThere(model)
  const tools = listOf(body['tools'])
  if (tools.some(tool => tool['eager_input_streaming'] !== undefined))
    return 'tools.0.custom.eager_input_streaming: Extra inputs are not permitted'
  if (isLoose(model) && valueIn(body, 'output_config', 'format') !== undefined)
    return 'output_config.format: Extra inputs are not permitted'
  if (isLoose(model) && tools.some(({ strict }) => strict !== undefined))
    return 'tools.0.custom.strict: Extra inputs are not permitted'
  return claude.refuse(body, model)
}

const mantle = messagesServer({
  urls: ['https://bedrock-mantle.us-east-1.api.aws/anthropic/v1/messages'],
  isStrict: true,
  ...claude,
  refuse: refusedAsMessages,
})

/** InvokeModel: the path names the model and whether to stream, and events come in frames. */
const invoking: Endpoint = {
  ...mantle,
  match({ origin, pathname }) {
    const [, name, action] =
      /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream)$/.exec(pathname) ?? []
    if (origin !== 'https://bedrock-runtime.us-east-1.amazonaws.com' || name === undefined)
      return undefined
    return { model: decodeURIComponent(name), stream: action !== 'invoke' }
  },
  authorize: keyed.bearer,
  streamType: 'application/vnd.amazon.eventstream',
  failure: ({ message }) => ({ message }),
  failureHeaders: ({ status }) => ({
    'x-amzn-errortype': status === 401 ? 'UnrecognizedClientException' : 'ValidationException',
  }),
  refuse({ anthropic_version: version, anthropic_beta: betas = [], ...body }, model) {
    const fault = (message: string) => ({ status: 400, message })
    if (version !== 'bedrock-2023-05-31') return fault('anthropic_version: Field required')
    if ((betas as unknown[]).some(beta => !knownBeta.test(String(beta))))
      return fault('invalid beta flag')
    const odd = ['model', 'stream', 'service_tier', 'container', 'mcp_servers'].find(
      key => body[key] !== undefined,
    )
    if (odd) return fault(`${odd}: Extra inputs are not permitted`)
    return JSON.stringify(body).includes('"type":"url"')
      ? fault('URL sources are not supported')
      : mantle.refuse({ model, ...body }, model)
  },
  stream: (body, model) =>
    mantle.stream(body, model).flatMap(frame => {
      const data = /^data: (.*)$/m.exec(String(frame))?.[1] ?? ''
      // It sends no pings.
      return data.includes('"type":"ping"')
        ? []
        : [eventFrame('chunk', { bytes: Buffer.from(data).toString('base64'), p: 'abcdefghij' })]
    }),
}

const topK = (body: Json) => valueIn(body, 'additionalModelRequestFields', 'inferenceConfig')

/** The fields of Nova's own API. */
const refusedByNova = (body: Json): string | undefined => {
  const own = topK(body)
  const stop = valueIn(body, 'inferenceConfig', 'stopSequences')
  if (isJson(own) && Object.keys(own).some(key => key !== 'topK'))
    return 'Malformed input request: #/inferenceConfig: extraneous key is not permitted'
  return Array.isArray(stop) && stop.length > 4
    ? 'Malformed input request: #/inferenceConfig/stopSequences: expected maximum item count: 4'
    : undefined
}

const noStatus = (body: Json): string | undefined =>
  within(blocksOf(body), 'toolResult').some(({ status }) => status !== undefined)
    ? "This model doesn't support the status field. Remove status and try again."
    : undefined

const families: readonly ConverseFamily[] = [
  {
    models: /anthropic\.claude-/,
    leadingAssistant: true,
    midSystem: claude.midSystem,
    fields: [
      'thinking',
      'reasoning_config',
      'top_k',
      'anthropic_beta',
      'tools',
      'tool_choice',
      'output_config',
      'context_management',
      'metadata',
    ],
    caches: ['tools', 'system', 'messages'],
    resultMedia: ['image', 'document'],
    reasoning: 'signed',
    silent: (body, model) => claude.silent(asMessages(body), model),
    refuse: refusedByClaude,
  },
  {
    models: /amazon\.nova-2/,
    fields: ['inferenceConfig', 'reasoningConfig'],
    caches: ['system', 'messages'],
    resultMedia: ['image', 'document'],
    refuse: refusedByNova,
  },
  {
    models: /amazon\.nova/,
    fields: ['inferenceConfig'],
    caches: ['system', 'messages'],
    resultMedia: ['image', 'document'],
    refuse: refusedByNova,
  },
  { models: /openai\.gpt-oss/, fields: ['reasoning_effort'], reasoning: 'plain' },
  { models: /openai\.gpt-\d/, fields: ['reasoning'], reasoning: 'sealed' },
  {
    models: /meta\.llama/,
    choices: ['auto'],
    loneResults: true,
    resultMedia: ['image', 'document'],
  },
  {
    models: /mistral\./,
    choices: ['auto', 'any'],
    loneResults: true,
    resultMedia: ['document'],
    callIds: /^[A-Za-z0-9]{9}$/,
  },
  {
    models: /qwen\./,
    choices: ['auto'],
    leadingAssistant: true,
    fields: ['reasoning_config'],
    reasoning: 'plain',
  },
  { models: /deepseek\.r1/, tools: false, reasoning: 'plain', lateReasoning: true },
  { models: /deepseek\./, choices: ['auto'], reasoning: 'plain' },
  {
    models: /moonshot(?:ai)?\./,
    leadingAssistant: true,
    reasoning: 'plain',
    idOf: nth => `functions.name:${nth}`,
  },
  { models: /zai\./, leadingAssistant: true, reasoning: 'plain' },
  { models: /minimax\./, choices: ['auto'], reasoning: 'plain' },
  { models: /(?:cohere|ai21|google|nvidia)\./ },
  { models: /writer\./, loneResults: true, refuse: noStatus },
]

export const bedrock: Simulator = {
  models: [
    'anthropic.claude-opus-5',
    'anthropic.claude-opus-4-7',
    'openai.gpt-5.6',
    'openai.gpt-oss-120b',
    'us.amazon.nova-2-lite-v1:0',
    'us.amazon.nova-pro-v1:0',
    'us.meta.llama4-maverick-17b-instruct-v1:0',
    'mistral.mistral-large-3-675b-instruct',
    'qwen.qwen3-235b-a22b-2507-v1:0',
    'moonshot.kimi-k2-thinking',
    'us.writer.palmyra-x5-v1:0',
  ],
  endpoints: [
    mantle,
    invoking,
    responsesServer({
      urls: ['https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1/responses'],
      refuse: (_body, model) => (/openai\.gpt-\d/.test(model) ? undefined : notThere(model)),
      // Ids of calls begin again in every response.
      idOf: nth => `call_${nth % 10}`,
    }),
    chatServer({
      urls: ['https://bedrock-runtime.us-east-1.amazonaws.com/v1/chat/completions'],
      roles: ['developer', 'system', 'user', 'assistant', 'tool'],
      refuse: (_body, model) => (isOnlyConverse(model) ? notThere(model) : undefined),
      reason: text => ({ reasoning: text }),
      reasonOf: readsField('reasoning'),
    }),
    converseServer({ base: /^https:\/\/bedrock-runtime\.us-east-1\.amazonaws\.com$/, families }),
  ],
}
