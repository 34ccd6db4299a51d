import { curlOf } from '../clients/curl.ts'
import { defaultKeyEnv } from '../clients/index.ts'
import type { GatewayConfig } from '../gateway/gateway.ts'
import { type ProtocolName, protocolNames, protocols } from '../protocols/index.ts'
import { type Environment, vendorsIn } from './environment.ts'
import type { ConfigSource } from './source.ts'

/** `keysFrom`: where clients get their key, for people. Absent: they need none. */
type HelpFacts = {
  config: GatewayConfig
  environment: Environment
  keysFrom: string | undefined
  allExamples: boolean | undefined
}

/**
 * What to open, one command that works as printed, and how to point a client here. With the two
 * lines that follow it has at most 12.
 */
export function helpOf(
  url: string,
  { title, isFound, isDemo }: ConfigSource,
  { config, environment, keysFrom, allExamples }: HelpFacts,
): string[] {
  const model = modelOf(config)
  const unused = isFound ? unusedKeys(config, environment) : []
  const lines = [title]
  if (unused.length > 0) lines.push(`set, but not used by this configuration: ${unused.join(', ')}`)
  lines.push(...(isDemo ? [] : [served(model)]), `base URL: ${url}`)
  if (config.console !== false) lines.push(`console: ${url}/console`)
  const keyed = keysFrom ? { keyEnv: defaultKeyEnv } : {}
  if (keysFrom) lines.push(`export ${defaultKeyEnv}=...   # ${keysFrom}`)
  const exampleOf = (name: ProtocolName) =>
    curlOf(url, name, { model, stream: isText(name), ...keyed })
  lines.push(
    ...(allExamples ? allOf(exampleOf) : ['', ...protocolNames.slice(0, 1).map(exampleOf), '']),
  )
  lines.push(`a client: npx wireglot client-config claude-code --base ${url} --model ${model}`)
  if (!allExamples) lines.push('every protocol: npx wireglot serve --examples')
  return lines
}

const allOf = (exampleOf: (name: ProtocolName) => string): string[] => [
  '',
  ...protocolNames.flatMap(name => [`# ${name}`, exampleOf(name), '']),
  'For one JSON object instead of a stream, leave out "stream":true, or write generateContent in place of streamGenerateContent.',
  '',
]

/**
 * Variables with keys of vendors that a configuration contains neither by name nor, as modules do,
 * by value.
 */
function unusedKeys(config: GatewayConfig, environment: Environment): string[] {
  const text = JSON.stringify(config)
  const isUsed = (variable: string) =>
    text.includes(variable) || text.includes(environment[variable] ?? variable)
  return vendorsIn(environment).flatMap(({ keyVariable }) =>
    keyVariable === undefined || isUsed(keyVariable) ? [] : keyVariable,
  )
}

/** A terminal cannot show a stream of binary frames. */
const isText = (name: ProtocolName) => protocols[name].framing === undefined

const served = (model: string) =>
  model === anyModel
    ? `models: those of the upstream; write one in place of ${anyModel}`
    : `model: ${model}`

/** A placeholder in examples if the configuration names no model. */
const anyModel = 'MODEL'

function modelOf(config: GatewayConfig): string {
  const named = config.models?.find(({ id }) => !id.endsWith('*'))?.id
  return named ?? config.channels.find(({ embedded }) => embedded)?.embedded ?? anyModel
}
