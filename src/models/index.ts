import { alibaba } from './alibaba.ts'
import { anthropic } from './anthropic.ts'
import { google } from './google.ts'
import { mistral } from './mistral.ts'
import type { Maker, Model } from './model.ts'
import { moonshot } from './moonshot.ts'
import { modelOf } from './names.ts'
import { openai } from './openai.ts'
import { xai } from './xai.ts'
import { zai } from './zai.ts'

/** Every known maker. A new one is one file next to these, and one line here. */
export const makers: readonly Maker[] = [
  openai,
  anthropic,
  google,
  xai,
  mistral,
  moonshot,
  zai,
  alibaba,
]

export type Known = { maker: Maker; model: Model }

/** What is known about a model of this name. */
export function knownModel(name: string | undefined): Known | undefined {
  for (const maker of makers) {
    const model = modelOf(name, maker)
    if (model) return { maker, model }
  }
  return undefined
}
