import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { protocolNames, protocols } from '../src/protocols/index.ts'
import { describedSchema, type Schema, schemaFile, schemaText } from './tools/config-schema.ts'
import { documentedOptions } from './tools/options.ts'
import { generated, generatedPages } from './tools/readme.ts'

test.each(generatedPages)(
  'the tables and the code of %s are up to date (npm run fix writes them)',
  page => {
    expect(readFileSync(new URL(`../${page}`, import.meta.url), 'utf8')).toBe(generated(page))
  },
)

test('docs/config.schema.json is up to date (npm run fix writes it)', () => {
  expect(readFileSync(schemaFile, 'utf8')).toBe(schemaText())
})

describe.each(protocolNames)('%s is listed', name => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

  test('in the README by name and path, and in the package', () => {
    expect(read('README.md').split('## ')[0]).toContain(`**${name}**`)
    expect(read('README.md')).toContain(`${protocols[name].address.path}\``)
    expect(JSON.parse(read('package.json'))).toMatchObject({
      keywords: expect.arrayContaining([name]),
    })
  })

  test('in every generated table that has a column for each protocol', () => {
    const columns = read('docs/mapping.md')
      .split('\n')
      .filter(line => /^\| a .*→/.test(line))
    expect(columns.length).toBeGreaterThan(1)
    for (const line of columns) expect(line).toContain(`→ ${name} |`)
  })
})

describe('every option', () => {
  test.each(documentedOptions.map(option => [`${option.of}: ${option.name}`, option.doc]))(
    '%s has a docstring with its default',
    (_, doc) => {
      expect(
        doc,
        'say in its docstring what holds without it, as "Default …" or "Absent: …"; then npm run fix',
      ).toMatch(/\bdefault\b|\bAbsent\b/i)
    },
  )
})

test('every setting of the configuration has a description in its JSON Schema', () => {
  const silent: string[] = []
  let settings = 0
  const walk = (
    { properties = {}, items, additionalProperties: rest, anyOf = [] }: Schema,
    path: string,
  ) => {
    for (const [name, schema] of Object.entries(properties)) {
      settings++
      if (!schema.description) silent.push(`${path}.${name}`)
      walk(schema, `${path}.${name}`)
    }
    for (const inner of [items, rest, ...anyOf])
      if (typeof inner === 'object') walk(inner, `${path}[]`)
  }
  walk(describedSchema(), '')
  expect(silent).toEqual([])
  expect(settings).toBeGreaterThan(200)
})
