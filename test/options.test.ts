import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { clients } from '../src/clients/index.ts'
import { makers } from '../src/models/index.ts'
import { modelSettings } from '../src/models/settings.ts'
import { type OptionWords, type Protocol, sharedOptions } from '../src/protocol.ts'
import { optionGroups } from '../src/protocols/check-options.ts'
import { protocolNames, protocols } from '../src/protocols/index.ts'
import { type Vendor, vendors } from '../src/vendors/index.ts'
import { documentedOptions } from './tools/options.ts'

const docs = new URL('../docs/', import.meta.url)
const pages = [
  new URL('../README.md', import.meta.url),
  ...readdirSync(docs, { recursive: true, encoding: 'utf8' })
    .filter(name => name.endsWith('.md'))
    .map(name => new URL(name, docs)),
]
/** Without what is generated from the code. */
const written = pages.map(page =>
  readFileSync(page, 'utf8').replaceAll(/<!-- ([\w./-]+) -->[\s\S]*?<!-- \/\1 -->/g, ''),
)
const examples = written.flatMap(text =>
  [...text.matchAll(/```\w*\n([\s\S]*?)```|`([^`\n]*)`/g)].map(([code]) => code),
)

const isExample = (path: string) => {
  const [group, name] = path.split('.')
  const pattern =
    name === undefined
      ? new RegExp(`\\b${group}["']?(:|=)`)
      : new RegExp(`\\b${group}(\\.${name}=|["']?: \\{[^{}]*\\b${name}["']?:)`)
  return examples.some(code => pattern.test(code))
}

type Settings = Readonly<Record<string, unknown>> | undefined

const isGroup = (name: string) => Object.hasOwn(optionGroups, name)
const pathsIn = (settings: Settings) =>
  Object.entries(settings ?? {}).flatMap(([name, value]) =>
    isGroup(name) ? Object.keys(value as object).map(option => `${name}.${option}`) : [name],
  )

const ofVendors = Object.values<Vendor>(vendors).flatMap(({ facts }) =>
  facts.flatMap(({ options, responseOptions }) => [options, responseOptions]),
)
const ofClients = Object.values(clients).flatMap(({ needs = [] }) =>
  needs.map(({ options }) => options),
)
const ofModels = makers.flatMap(({ models }) =>
  models
    .flatMap(({ names }) => names)
    .map(name => name.replaceAll('*', '').replace('+', ''))
    .flatMap(name => protocolNames.map(protocol => modelSettings(protocol, name)?.options)),
)
/** What the gateway sets in every exchange that needs it. */
const ofGateway = Object.values<Protocol>(protocols).flatMap(
  ({ optionsKey, agentDefaults, outputLimit, signatureStorage }): Settings[] => [
    agentDefaults,
    { [optionsKey]: { ...outputLimit?.demanded, ...outputLimit?.defaults(1) } },
    {
      [optionsKey]: {
        ...signatureStorage?.writing,
        ...signatureStorage?.reading(() => undefined),
      },
    },
  ],
)
const set = new Set([...ofVendors, ...ofClients, ...ofModels, ...ofGateway].flatMap(pathsIn))

const isShared = (name: string) => Object.hasOwn(sharedOptions, name)
const all = [
  ...Object.keys(sharedOptions),
  ...Object.entries(optionGroups).flatMap(([group, table]) =>
    Object.keys(table).flatMap(name => (isShared(name) ? [] : [`${group}.${name}`])),
  ),
]

test.each(all)('%s has a user: a vendor, a model, a client, the gateway, or an example', path => {
  expect(set.has(path) || isExample(path)).toBe(true)
})

test('nothing sets an option of several protocols in a group, where it would override users', () => {
  const grouped = [...set].filter(path => isShared(path.slice(path.indexOf('.') + 1)))
  expect(grouped.filter(path => path.includes('.'))).toEqual([])
})

test('the docs name only options that exist', () => {
  const groups = Object.keys(optionGroups).join('|')
  const named = written.flatMap(text =>
    [...text.matchAll(new RegExp(`\`(${groups})\\.(\\w+)`, 'g'))].map(
      ([, group = '', name = '']) => `${group}.${name}`,
    ),
  )
  expect(named.length).toBeGreaterThan(10)
  const known = (path: string) => {
    const [group = '', name = ''] = path.split('.')
    return Object.hasOwn(optionGroups[group] ?? {}, name)
  }
  expect(named.filter(path => !known(path))).toEqual([])
})

describe('the default of an option is the first value of its table', () => {
  const tables: Record<string, Readonly<Record<string, OptionWords>>> = {
    ...optionGroups,
    several: sharedOptions,
  }
  const withWords = documentedOptions.flatMap(({ of, group, name, doc }) => {
    const words = tables[group ?? of]?.[name]
    return typeof words === 'object' ? [{ path: `${group ?? of}.${name}`, words, doc }] : []
  })

  test.each(withWords)('$path', ({ words, doc }) => {
    // Where the default is no value, the words say so.
    if (doc.includes('Default:')) return
    const [, first, second] = /`([\w-]+)` \(default\)|Default `([\w-]+)`/.exec(doc) ?? []
    expect(first ?? second, doc).toBe(words[0])
  })
})
