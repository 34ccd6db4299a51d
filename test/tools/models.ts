import { makers } from '../../src/models/index.ts'
import type { Maker, Model, Source } from '../../src/models/model.ts'
import { modelPrices } from '../../src/models/prices.ts'

const code = (names: readonly string[]) => names.map(name => `\`${name}\``).join(', ')
const count = (tokens: number | undefined) => tokens?.toLocaleString('en-US') ?? ''
const link = ({ url, date }: Source) => `[${date}](${url})`

const head = ['model', 'context', 'output', 'reads', 'thinking', 'efforts', 'differs']

/** What a request for the model must not have. */
function differences(model: Model): string[] {
  const { budget, refuses = [] } = model
  return [
    ...(budget?.least === undefined ? [] : [`budget from ${count(budget.least)}`]),
    ...(budget?.most === undefined ? [] : [`budget up to ${count(budget.most)}`]),
    ...(model.sampling === 'none' ? ['no sampling'] : []),
    ...(model.sampling === 'one' ? ['temperature or top_p'] : []),
    ...(model.samplingWithThinking === false ? ['no sampling while it thinks'] : []),
    ...(refuses.length > 0 ? [`no ${code(refuses)}`] : []),
    ...(model.toolChoice ? ['no forced tool'] : []),
    ...(model.effortWithTools ? ['tools in chat-completions without reasoning'] : []),
    ...(model.toolSchemas ? ['plain schemas of tools'] : []),
    ...(model.serialCalls === false ? ['no limit to one call'] : []),
    ...(model.mediaInResults === false ? ['no media in results'] : []),
    ...(model.jsonWithTools ? ['no JSON format next to tools'] : []),
    ...(model.prefill === false ? ['no prefill'] : []),
    ...(model.systemAnywhere ? ['system messages anywhere'] : []),
    ...(model.preservedThinking ? ['preserved thinking'] : []),
    ...(model.converseSchemas === false ? ['no schemas in converse'] : []),
  ]
}

const thinkingOf = ({ thinking }: Model) =>
  thinking?.length === 0 ? 'none' : (thinking ?? []).join(', ').replaceAll('_', ' ')

const rowOf = (model: Model): string[] => [
  code(model.names),
  count(model.contextTokens),
  count(model.outputTokens),
  (model.input ?? []).join(', '),
  thinkingOf(model),
  [model.efforts, model.chatEfforts && `chat-completions: ${model.chatEfforts}`]
    .filter(Boolean)
    .join('; '),
  differences(model).join(', '),
]

/** A file of a table is named by its path alone. */
function linked(url: string): string {
  const file = /\/blob\/[^/]+\/(.+)\.toml$/.exec(url)?.[1]
  return file ? `[${file}](${url})` : url
}

function sourcesOf({ models }: Maker): string {
  const all = new Map(models.flatMap(({ sources }) => sources.map(one => [one.url, one] as const)))
  const words = [...all.values()].map(({ url, date }) => `${linked(url)} (${date})`)
  return ['Sources:', '', ...words.map(word => `- ${word}`)].join('\n')
}

/** A section for each maker. */
export const modelSections = makers.map(maker => ({
  title: maker.title,
  head,
  rows: maker.models.map(rowOf),
  sources: sourcesOf(maker),
}))

const dollars = (price: number | undefined) => (price === undefined ? '' : String(price))

export const priceRows = modelPrices.map(
  ({ names, input, output, cacheRead, cacheWrite, source }) => [
    code(names),
    ...[input, output, cacheRead, cacheWrite].map(dollars),
    link(source),
  ],
)
