import { chatServer, has, offered } from './base/chat.ts'
import { messagesServer } from './base/messages.ts'
import { responsesServer } from './base/responses.ts'
import { counted, isJson, type Json, type Simulator } from './base/turn.ts'

const efforts: Record<string, string[]> = {
  'grok-4.6': ['low', 'medium', 'high', 'xhigh'],
  'grok-4.5': ['low', 'medium', 'high'],
  'grok-4.3': ['none', 'low', 'medium', 'high'],
  'grok-3-mini': ['low', 'high'],
}

const badEffort = (effort: unknown, model: string) =>
  effort !== undefined && !efforts[model]?.includes(String(effort))
    ? `This model does not support 'reasoning_effort' value '${String(effort)}'`
    : undefined

const sampling = (body: Json) => {
  const field = has(body, 'presence_penalty', 'frequency_penalty', 'stop')
  return field && `Argument not supported on this model: ${field}`
}

const badRoot = (schemas: unknown[]) =>
  schemas.some(
    schema => isJson(schema) && ('oneOf' in schema || 'anyOf' in schema || '$schema' in schema),
  )
    ? 'tools: the parameters must be a plain object schema'
    : undefined

export const xai: Simulator = {
  models: ['grok-4.5', 'grok-4.6', 'grok-4.20-reasoning'],
  endpoints: [
    responsesServer({
      urls: ['https://api.x.ai/v1/responses'],
      tools: [
        'function',
        'web_search',
        'x_search',
        'image_generation',
        'collections_search',
        'file_search',
        'code_execution',
        'code_interpreter',
        'mcp',
        'shell',
      ],
      itemId: (kind, nth) => (kind === 'rs' ? 'rs_0' : `${kind}_${nth}`),
      refuse(body, model) {
        const foreign = has(body, 'prompt_cache_retention', 'safety_identifier')
        if (foreign)
          return {
            status: 422,
            message: `Failed to deserialize the JSON body into the target type: unknown field \`${foreign}\``,
          }
        if (JSON.stringify(body['tools'] ?? []).includes('external_web_access'))
          return { status: 422, message: 'unknown field `external_web_access`' }
        const hasTools = Array.isArray(body['tools']) && body['tools'].length > 0
        if (body['tool_choice'] !== undefined && !hasTools)
          return 'tool_choice is given without tools'
        const tools = Array.isArray(body['tools']) ? body['tools'].filter(isJson) : []
        const effort = isJson(body['reasoning'])
          ? (body['reasoning']['effort'] ?? undefined)
          : undefined
        return (
          badRoot(tools.map(tool => tool['parameters'])) ??
          sampling(body) ??
          badEffort(effort, model)
        )
      },
    }),
    chatServer({
      urls: ['https://api.x.ai/v1/chat/completions'],
      roles: ['developer', 'system', 'user', 'assistant', 'tool'],
      failure: ({ message }) => ({ code: 'Client specified an invalid argument', error: message }),
      refuse: (body, model) =>
        badRoot(offered(body).map(({ schema }) => schema)) ??
        sampling(body) ??
        badEffort(body['reasoning_effort'], model),
      idOf: nth => String(nth),
      usage: () => ({
        prompt_tokens: counted.input,
        completion_tokens: counted.output - counted.reasoning,
        total_tokens: counted.input + counted.output,
        prompt_tokens_details: { cached_tokens: counted.cached },
        completion_tokens_details: { reasoning_tokens: counted.reasoning },
        num_sources_used: 0,
      }),
      usageIn: 'own-chunk',
    }),
    messagesServer({ urls: ['https://api.x.ai/v1/messages'], midSystem: () => true }),
  ],
}
