import { readFileSync, writeFileSync } from 'node:fs'
import ts from 'typescript'
import { configSchema } from '../../src/gateway/options.ts'
import { docOf, documentedOptions } from './options.ts'

/** The file that editors read, and its content as the code says now. */
export const schemaFile = new URL('../../docs/config.schema.json', import.meta.url)
export const schemaText = () => `${JSON.stringify(describedSchema(), null, 2)}\n`

/** The part of a JSON Schema that is read and written here. */
export type Schema = {
  description?: string
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: Schema[]
}

const source = new URL('../../src/gateway/options.ts', import.meta.url)
const tree = ts.createSourceFile(
  source.pathname,
  readFileSync(source, 'utf8'),
  ts.ScriptTarget.Latest,
  true,
)

type Constant = { doc: string; value: ts.Expression }

/** By name. */
const constants = new Map<string, Constant>(
  tree.statements
    .filter(ts.isVariableStatement)
    .flatMap(statement =>
      statement.declarationList.declarations.flatMap(
        ({ name, initializer }): [string, Constant][] =>
          initializer
            ? [[name.getText(tree), { doc: docOf(statement, tree), value: initializer }]]
            : [],
      ),
    ),
)

/** The schema of the configuration, in which each setting has the sentences of its docstring. */
export function describedSchema(): Schema {
  const schema: Schema = configSchema()
  for (const settings of settingsIn(constants.get('Config')?.value)) describe(schema, settings)
  return schema
}

/** A setting with its name and its value. */
type Setting = { name: string; doc: string; value: ts.Expression }

function describe(schema: Schema, settings: readonly Setting[]): void {
  for (const { name, doc, value } of settings) {
    const inner = schema.properties?.[name]
    if (!inner) continue
    if (value.getText(tree).startsWith('Mapping')) describeOptions(inner)
    for (const nested of settingsIn(value))
      for (const object of objectsIn(inner))
        if (nested.every(one => Object.hasOwn(object.properties ?? {}, one.name)))
          describe(object, nested)
    const description = doc || docOfConstant(value)
    schema.properties = {
      ...schema.properties,
      [name]: { ...(description && { description }), ...inner },
    }
  }
}

/** The options have the sentences that docs/options.md shows. */
function describeOptions({ properties: groups = {} }: Schema): void {
  const docs = new Map(
    documentedOptions.map(({ group, name, doc }) => [`${group ?? ''}.${name}`, doc]),
  )
  const add = (properties: Record<string, Schema>, group: string) => {
    for (const [name, schema] of Object.entries(properties)) {
      // An option of several protocols means the same in the group of one.
      const description = docs.get(`${group}.${name}`) ?? docs.get(`.${name}`)
      properties[name] = { ...(description && { description }), ...schema }
    }
  }
  add(groups, '')
  for (const [group, schema] of Object.entries(groups)) {
    if (!schema.properties) continue
    add(schema.properties, group)
    const [of] = documentedOptions.filter(one => one.group === group)
    groups[group] = { description: `Options of ${of?.of}.`, ...schema }
  }
}

/** What the docstring says of the constant that a value is, such as `Timeouts.prefault({})`. */
function docOfConstant(value: ts.Expression): string {
  const [name = ''] = /^\w+/.exec(value.getText(tree)) ?? []
  return constants.get(name)?.doc ?? ''
}

/** The settings of each object that a value has, also in lists, records and constants. */
function settingsIn(value: ts.Node | undefined): Setting[][] {
  if (!value) return []
  if (ts.isIdentifier(value)) return settingsIn(constants.get(value.text)?.value)
  if (ts.isArrayLiteralExpression(value)) return value.elements.flatMap(settingsIn)
  if (!ts.isCallExpression(value)) return []
  const { expression } = value
  const [shape] = value.arguments
  if (
    shape &&
    ts.isObjectLiteralExpression(shape) &&
    /(^|\.)(entry|strictObject)$/.test(expression.getText(tree))
  )
    return [membersOf(shape)]
  return [
    ...(ts.isPropertyAccessExpression(expression) ? settingsIn(expression.expression) : []),
    ...value.arguments.flatMap(settingsIn),
  ]
}

function membersOf(shape: ts.ObjectLiteralExpression): Setting[] {
  return shape.properties.flatMap((member): Setting[] => {
    if (ts.isSpreadAssignment(member)) {
      const spread = constants.get(member.expression.getText(tree))?.value
      return spread && ts.isObjectLiteralExpression(spread) ? membersOf(spread) : []
    }
    const name = member.name?.getText(tree) ?? ''
    const doc = docOf(member, tree)
    if (ts.isPropertyAssignment(member)) return [{ name, doc, value: member.initializer }]
    return ts.isShorthandPropertyAssignment(member) ? [{ name, doc, value: member.name }] : []
  })
}

/** The objects that a schema allows, also as entries of lists and records. */
function objectsIn(schema: Schema): Schema[] {
  const { properties, items, additionalProperties: rest, anyOf = [] } = schema
  if (properties) return [schema]
  return [items, typeof rest === 'object' ? rest : undefined, ...anyOf].flatMap(one =>
    one ? objectsIn(one) : [],
  )
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(schemaFile, schemaText())
