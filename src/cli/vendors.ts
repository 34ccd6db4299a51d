import { type Command, InvalidArgumentError } from 'commander'
import { similar } from '../kit/text/similar.ts'
import { makers } from '../models/index.ts'
import type { Model, Source } from '../models/model.ts'
import type { Endpoint, Fact, Vendor } from '../vendors/index.ts'
import { vendors } from '../vendors/index.ts'

const all: readonly Vendor[] = Object.values(vendors)

/** Adds `wireglot vendors`. */
export function addVendors(program: Command): void {
  program
    .command('vendors')
    .description('list the known vendors, or show what applies to one and why')
    .argument('[name]', 'a name of the list', toVendor)
    .addHelpText('after', '\nExample: wireglot vendors deepseek')
    .action((vendor: Vendor | undefined) => {
      process.stdout.write(`${(vendor ? described(vendor) : listed()).join('\n')}\n`)
    })
}

/** @throws InvalidArgumentError, which names the vendor that was meant */
export function toVendor(name: string): Vendor {
  const vendor = all.find(one => one.name === name)
  if (vendor) return vendor
  const names = all.map(one => one.name)
  const meant = similar(name, names)
  throw new InvalidArgumentError(
    `There is no vendor ${name}${meant === undefined ? '.' : `; did you mean ${meant}?`} There are ${names.join(', ')}.`,
  )
}

function listed(): string[] {
  const width = Math.max(...all.map(({ name }) => name.length))
  return all.map(
    ({ name, endpoints }) =>
      `${name.padEnd(width)}  ${endpoints.map(({ protocol }) => protocol).join(', ')}`,
  )
}

function described({ name, title, keyVariable, endpoints, facts }: Vendor): string[] {
  const channel = {
    vendor: name,
    ...(keyVariable !== undefined && { apiKey: `env:${keyVariable}` }),
  }
  return [
    title,
    '',
    `A channel: ${JSON.stringify(channel)}`,
    '',
    'Endpoints:',
    ...endpoints.flatMap(endpointLines),
    '',
    'Facts:',
    ...facts.flatMap(factLines),
    ...modelLines(name),
  ]
}

/** What is known about the models that the vendor itself makes. */
function modelLines(name: string): string[] {
  const maker = makers.find(one => (one.vendor ?? one.name) === name)
  return maker ? ['', 'Models:', ...maker.models.flatMap(linesOf)] : []
}

function linesOf({ names, sources, ...facts }: Model): string[] {
  const known = Object.entries(facts).map(([key, value]) => `    ${key}: ${JSON.stringify(value)}`)
  return [`  - ${names.join(', ')}`, ...known, ...sourceLines(sources)]
}

function endpointLines({
  protocol,
  baseUrl,
  regions = {},
  auth,
  support,
  sources,
}: Endpoint): string[] {
  const more = Object.entries(regions).map(([region, url]) => `    region ${region}: ${url}`)
  const only = support === 'partial' ? ', only if the channel names this protocol' : ''
  return [`  ${protocol}: ${baseUrl} (key: ${auth}${only})`, ...more, ...sourceLines(sources)]
}

function factLines({
  fact,
  protocols,
  models,
  options,
  responseOptions,
  refuses,
  speak,
  sources,
}: Fact): string[] {
  const lines = [`  - ${fact}`]
  if (protocols) lines.push(`    protocols: ${protocols.join(', ')}`)
  if (models) lines.push(`    models: ${models.join(', ')}`)
  if (options) lines.push(`    options: ${JSON.stringify(options)}`)
  if (responseOptions) lines.push(`    options for responses: ${JSON.stringify(responseOptions)}`)
  if (refuses) lines.push(`    dropped fields: ${refuses.join(', ')}`)
  if (speak)
    lines.push(
      `    protocol: ${speak.protocol}${speak.when === 'tools' ? ' for requests with tools' : ''}`,
    )
  return [...lines, ...sourceLines(sources)]
}

const sourceLines = (sources: readonly Source[]) =>
  sources.map(({ url, date }) => `    source: ${url} (${date})`)
