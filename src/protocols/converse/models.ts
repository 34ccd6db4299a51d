import type { ConverseOptions } from './options.ts'
import type { ConverseFamily } from './vocabulary.ts'

/** What a model takes, judged by its id. */

const vendors: readonly (readonly [name: RegExp, family: ConverseFamily])[] = [
  [/^anthropic\.|^claude-/, 'claude'],
  [/^amazon\.nova-2|^nova-2/, 'nova2'],
  [/^amazon\.nova|^nova-/, 'nova'],
  [/^amazon\.titan/, 'titan'],
  [/^openai\.gpt-oss/, 'gpt-oss'],
  [/^openai\./, 'gpt'],
  [/^meta\./, 'llama'],
  [/^mistral\./, 'mistral'],
  [/^qwen\./, 'qwen'],
  [/^deepseek\./, 'deepseek'],
  [/^moonshot(?:ai)?\./, 'kimi'],
  [/^zai\./, 'glm'],
  [/^minimax\./, 'minimax'],
  [/^writer\./, 'writer'],
  [/^cohere\./, 'cohere'],
  [/^ai21\./, 'ai21'],
]

/** ARNs of these say nothing about the model behind them. */
const isOpaque =
  /^arn:.*:(?:application-inference-profile|provisioned-model|custom-model-deployment|imported-model|prompt|prompt-router|endpoint)\//

/** The id without the head of an ARN and the prefix of a region. */
export function bareId(model: string): string {
  return model
    .slice(model.lastIndexOf('/') + 1)
    .replace(/^(?:us|eu|apac|jp|au|ca|us-gov|global)\./, '')
}

export function familyOf(
  model: string | undefined,
  { family }: ConverseOptions = {},
): ConverseFamily {
  const given = givenFamily(model, family)
  if (given !== undefined) return given
  if (model === undefined || isOpaque.test(model)) return 'unknown'
  const bare = bareId(model)
  return (
    vendors.find(([name]) => name.test(bare))?.[1] ??
    (/^[a-z0-9]+\./.test(bare) ? 'other' : 'unknown')
  )
}

function givenFamily(
  model: string | undefined,
  family: ConverseOptions['family'],
): ConverseFamily | undefined {
  if (typeof family !== 'function') return family
  return model === undefined ? undefined : family(model)
}
