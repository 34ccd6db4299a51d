import { amazonPrices } from './amazon.ts'
import { anthropicPrices } from './anthropic.ts'
import { coherePrices } from './cohere.ts'
import { deepseekPrices } from './deepseek.ts'
import { googlePrices } from './google.ts'
import { mistralPrices } from './mistral.ts'
import { moonshotPrices } from './moonshot.ts'
import { isNamed } from './names.ts'
import { openaiPrices } from './openai.ts'
import type { ModelPrice } from './price.ts'
import { xaiPrices } from './xai.ts'

export type { ModelPrice } from './price.ts'

/**
 * What the makers ask for their models; of several that fit a name the first one counts.
 * @example
 * import { modelPrices } from 'wireglot/models'
 *
 * console.log(modelPrices.every(({ source }) => source.url.startsWith('https://'))) // true
 */
export const modelPrices: readonly ModelPrice[] = [
  ...openaiPrices,
  ...anthropicPrices,
  ...googlePrices,
  ...amazonPrices,
  ...coherePrices,
  ...deepseekPrices,
  ...mistralPrices,
  ...moonshotPrices,
  ...xaiPrices,
]

/**
 * The price of a model of this name. Undefined: it is not known.
 * @example
 * import { knownPrice } from 'wireglot/models'
 *
 * console.log(knownPrice('claude-haiku-4-5')?.output) // 5
 */
export const knownPrice = (name: string): ModelPrice | undefined =>
  modelPrices.find(({ names }) => names.some(pattern => isNamed(name, pattern)))
