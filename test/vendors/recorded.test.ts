import { describe, expect, test } from 'vitest'
import { translateRequest } from '../../src/index.ts'
import { type VendorName, vendors } from '../../src/vendors/index.ts'
import { recordedRequests } from '../corpus/data.ts'

/**
 * What servers of chat-completions refuse, by their own documentation and error texts, checked on
 * requests of recorded clients of other protocols.
 */

type Body = {
  messages: {
    role: string
    content?: unknown
    reasoning_content?: string
    tool_calls?: { id: string }[]
  }[]
  [key: string]: unknown
}
type Check = (body: Body) => string | undefined

const noDeveloper: Check = ({ messages }) =>
  messages.some(({ role }) => role === 'developer')
    ? 'a message with the role developer'
    : undefined
const oneSystem: Check = ({ messages }) =>
  messages.slice(1).some(({ role }) => role === 'system')
    ? 'a system message that is not the first'
    : undefined
const limitIn =
  (field: string, other: string): Check =>
  body =>
    other in body ? `${other} instead of ${field}` : undefined
const without =
  (...fields: string[]): Check =>
  body => {
    const found = fields.filter(field => field in body)
    return found.length > 0 ? `the fields ${found.join(', ')}` : undefined
  }
const reasonsBeforeCalls: Check = ({ messages }) =>
  messages.some(({ tool_calls, reasoning_content }) => tool_calls && !reasoning_content)
    ? 'a tool call without reasoning_content'
    : undefined
const noPlaceholders: Check = ({ messages }) =>
  messages.some(({ reasoning_content }) => reasoning_content?.trim() === '')
    ? 'blank reasoning'
    : undefined
const shortIds: Check = ({ messages }) =>
  messages.some(({ tool_calls }) => tool_calls?.some(({ id }) => !/^[A-Za-z0-9]{9}$/.test(id)))
    ? 'an id that is not of nine letters and digits'
    : undefined

const oldLimit = limitIn('max_tokens', 'max_completion_tokens')
const newLimit = limitIn('max_completion_tokens', 'max_tokens')
const optional = without(
  'store',
  'metadata',
  'safety_identifier',
  'prompt_cache_key',
  'prompt_cache_retention',
  'top_k',
  'min_p',
)

const checks: Partial<Record<VendorName, { model: string; checks: Check[] }>> = {
  deepseek: { model: 'deepseek-chat', checks: [noDeveloper, oldLimit, reasonsBeforeCalls] },
  moonshot: {
    model: 'kimi-k3',
    checks: [
      newLimit,
      noPlaceholders,
      without('temperature', 'top_p', 'n', 'presence_penalty', 'frequency_penalty'),
    ],
  },
  zai: { model: 'glm-5.2', checks: [noDeveloper, oldLimit, noPlaceholders] },
  minimax: { model: 'MiniMax-M3', checks: [noDeveloper, oneSystem, newLimit] },
  alibaba: { model: 'qwen3.8-max', checks: [noDeveloper, oneSystem, oldLimit] },
  mistral: {
    model: 'mistral-medium-3',
    checks: [
      noDeveloper,
      oldLimit,
      shortIds,
      optional,
      without('stream_options', 'logit_bias', 'user'),
    ],
  },
  groq: {
    model: 'openai/gpt-oss-120b',
    checks: [without('logprobs', 'logit_bias', 'top_logprobs')],
  },
  cerebras: {
    model: 'gpt-oss-120b',
    checks: [
      noDeveloper,
      newLimit,
      optional,
      without(
        'frequency_penalty',
        'logit_bias',
        'presence_penalty',
        'parallel_tool_calls',
        'service_tier',
      ),
    ],
  },
  together: { model: 'moonshotai/Kimi-K2', checks: [noDeveloper, oldLimit, without('store')] },
  nvidia: { model: 'meta/llama-4', checks: [noDeveloper, oldLimit, optional] },
  perplexity: { model: 'sonar-pro', checks: [oldLimit, without('tools', 'tool_choice')] },
  ollama: { model: 'qwen3', checks: [noDeveloper, oneSystem, oldLimit] },
  vllm: { model: 'Qwen/Qwen3', checks: [noDeveloper, oneSystem] },
  sglang: { model: 'Qwen/Qwen3', checks: [noDeveloper, oneSystem] },
  'llama-cpp': { model: 'qwen3', checks: [noDeveloper, oneSystem] },
  'lm-studio': { model: 'qwen3', checks: [noDeveloper, oneSystem, oldLimit] },
  openai: { model: 'gpt-6-sol', checks: [newLimit, without('temperature', 'top_p', 'logprobs')] },
}

// Between equal protocols only the fields that the vendor refuses are dropped.
const recorded = recordedRequests().filter(({ protocol }) => protocol !== 'chat-completions')

describe.skipIf(recorded.length === 0)(
  'the requests of recorded clients (WIREGLOT_SHARED names the folder)',
  () => {
    test.each(Object.entries(checks))('are all accepted by %s', (name, { model, checks }) => {
      const faults = new Set<string>()
      let translated = 0
      for (const { name: client, protocol, body, path } of recorded) {
        const settings = {
          from: protocol,
          to: 'chat-completions',
          vendor: name as VendorName,
          model,
          path,
          onUnresolvable: 'note',
        } as const
        const wire = translateRequest(body, settings).body as Body
        translated++
        for (const check of checks) {
          const fault = check(wire)
          if (fault !== undefined) faults.add(`${client.replace(/\/.*/, '')}: ${fault}`)
        }
      }
      expect([...faults]).toEqual([])
      expect(translated).toBeGreaterThan(200)
    })

    test('every vendor of chat-completions is checked, or serves clients as the protocol says', () => {
      const plain = [
        'azure',
        'anthropic',
        'bedrock',
        'fireworks',
        'gemini',
        'huggingface',
        'litellm',
        'openrouter',
        'vertex',
        'xai',
      ]
      expect(
        Object.keys(vendors).filter(name => !(name in checks) && !plain.includes(name)),
      ).toEqual([])
    })
  },
)
