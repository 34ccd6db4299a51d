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

type Version = { name: string | undefined; major: number; minor: number }

/** Name and version of a Claude model. Undefined: it is none, or its version is unknown. */
export function claudeVersion(model: string | undefined): Version | undefined {
  if (model === undefined) return undefined
  const named =
    /claude-(opus|sonnet|haiku|fable|mythos)(?:-(\d{1,2})(?!\d))?(?:[-.](\d{1,2})(?!\d))?/.exec(
      model,
    )
  const old = /claude-(?:v)?(\d{1,2})(?:[-.](\d{1,2})(?!\d))?(?:-(opus|sonnet|haiku))?/.exec(model)
  if (named?.[2])
    return {
      name: named[1],
      major: Number(named[2]),
      minor: Number(named[3] ?? 0),
    }
  if (old) return { name: old[3], major: Number(old[1]), minor: Number(old[2] ?? 0) }
  return undefined
}

/** Is it a Claude model of at least this version? */
export function isClaudeFrom(model: string | undefined, major: number, minor: number): boolean {
  const version = claudeVersion(model)
  return (
    version !== undefined &&
    (version.major > major || (version.major === major && version.minor >= minor))
  )
}

/** Some models of Claude refuse strict tools and schemas for the response. */
export function refusesSchemas(model: string | undefined): boolean {
  const { name, major, minor } = claudeVersion(model) ?? {}
  if (name === undefined) return false
  if (name === 'fable' || isClaudeFrom(model, 5, 0)) return true
  return name === 'opus' && major === 4 && (minor === 1 || (minor ?? 0) >= 7)
}

/** Some families always think, and their servers refuse to disable it. */
export const alwaysThinks = (model: string | undefined): boolean =>
  /^(?:fable|mythos)$/.test(claudeVersion(model)?.name ?? '')

/** Are both known models of Claude, of different names? */
export function isOtherModel(one: string | undefined, other: string | undefined): boolean {
  const [name, otherName] = [claudeVersion(one)?.name, claudeVersion(other)?.name]
  return name !== undefined && otherName !== undefined && name !== otherName
}
