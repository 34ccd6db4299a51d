import { alibaba } from './alibaba.ts'
import { amazon } from './amazon.ts'
import { anthropic } from './anthropic.ts'
import { cohere } from './cohere.ts'
import { deepseek } from './deepseek.ts'
import { google } from './google.ts'
import { meta } from './meta.ts'
import { minimax } from './minimax.ts'
import { mistral } from './mistral.ts'
import type { Maker, Model } from './model.ts'
import { moonshot } from './moonshot.ts'
import { modelOf } from './names.ts'
import { openai } from './openai.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

/**
 * Every known maker of models. A new one is one file next to these, and one line here.
 * @example
 * import { makers } from 'wireglot/models'
 *
 * console.log(makers.flatMap(({ models }) => models).length > 50) // true
 */
export const makers: readonly Maker[] = [
  openai,
  anthropic,
  google,
  amazon,
  meta,
  mistral,
  deepseek,
  moonshot,
  zai,
  alibaba,
  minimax,
  xai,
  cohere,
]

/** A model, and who made it. */
export type Known = { maker: Maker; model: Model }

/**
 * What is known about a model of this name. Undefined: nothing.
 * @example
 * import { knownModel } from 'wireglot/models'
 *
 * console.log(knownModel('gemini-3.8-flash')?.model.outputTokens) // 65536
 */
export function knownModel(name: string | undefined): Known | undefined {
  if (name === undefined) return undefined
  if (lookups.has(name)) return lookups.get(name)
  if (lookups.size >= mostNames) lookups.clear()
  const found = search(name)
  lookups.set(name, found)
  return found
}

const mostNames = 1000
const lookups = new Map<string, Known | undefined>()

function search(name: string): Known | undefined {
  for (const maker of makers) {
    const model = modelOf(name, maker)
    if (model) return { maker, model }
  }
  return undefined
}
