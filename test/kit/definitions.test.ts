import { fileURLToPath } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { expect, test } from 'vitest'
import { defOf, isRequired, type Schema, wordsAt } from '../../src/kit/schema/guard.ts'
import { protocols } from '../../src/protocols/index.ts'
import { isSchema } from '../../src/testing/definition.ts'
import { definitionsAlone } from '../tools/definitions.ts'

// What the package contains of the schemas, and the same schemas of zod itself.

const folder = fileURLToPath(new URL('../../src/protocols', import.meta.url))

/** By name: all schemas that the files of protocols export. */
async function schemasOf(plugins: Plugin[]): Promise<[string, Schema][]> {
  const { outputFiles } = await build({
    stdin: {
      contents: Object.keys(protocols)
        .map(name => `export * from './${name}/schema.ts'`)
        .join('\n'),
      resolveDir: folder,
    },
    bundle: true,
    write: false,
    format: 'esm',
    plugins,
  })
  const source = Buffer.from(outputFiles[0]?.contents ?? []).toString('base64')
  const exported = (await import(
    /* @vite-ignore */ `data:text/javascript;base64,${source}`
  )) as Record<string, unknown>
  return Object.entries(exported).flatMap(([name, value]) =>
    isSchema(value) ? [[name, value] as [string, Schema]] : [],
  )
}

const [alone, whole] = await Promise.all([schemasOf([definitionsAlone]), schemasOf([])])
const every = [...whole.reduce((all, [, schema]) => visit(schema, all), new Set<Schema>())]

/** What guards read, deep. A schema that was met before is the number of its first place. */
function outline(schema: Schema, met = new Map<unknown, number>()): unknown {
  const known = met.get(schema)
  if (known !== undefined) return known
  met.set(schema, met.size)
  const { checks, shape, options, innerType, element, valueType, getter, ...def } = schema._zod
    .def as unknown as {
    type: string
    checks?: { _zod: { def: { check: string; fn: unknown; params?: unknown } } }[]
    shape?: Record<string, Schema>
    options?: Schema[]
    innerType?: Schema
    element?: Schema
    valueType?: Schema
    getter?: () => Schema
    values?: unknown
    discriminator?: unknown
  }
  const inner = (one: Schema | undefined) => one && outline(one, met)
  return {
    type: def.type,
    values: def.values,
    discriminator: def.discriminator,
    checks: (checks ?? []).map(({ _zod: { def } }) => [def.check, String(def.fn), def.params]),
    shape: shape && Object.entries(shape).map(([key, field]) => [key, inner(field)]),
    options: options?.map(inner),
    inner: [innerType, element, valueType, getter?.()].map(inner),
  }
}

/** Every schema inside. */
function visit(schema: Schema, into = new Set<Schema>()): Set<Schema> {
  if (into.has(schema)) return into
  into.add(schema)
  const def = schema._zod.def as unknown as Record<string, unknown>
  const getter = def['getter'] as (() => unknown) | undefined
  const inner = [
    def['innerType'],
    def['element'],
    def['valueType'],
    getter?.(),
    Object.values(def['shape'] ?? {}),
    def['options'],
  ].flat()
  for (const one of inner) if (isSchema(one)) visit(one, into)
  return into
}

test('the same schemas are exported, dozens of them', () => {
  expect(alone.map(([name]) => name)).toEqual(whole.map(([name]) => name))
  expect(whole.length).toBeGreaterThan(30)
})

test.each(alone)('%s has the definition that zod makes', (name, schema) => {
  const [, wanted] = whole.find(([other]) => other === name) ?? []
  if (!wanted) throw new Error(`zod has no ${name}`)
  expect(outline(schema)).toEqual(outline(wanted))
})

test('a key is required where zod says so', () => {
  expect(every.length).toBeGreaterThan(500)
  expect(every.filter(schema => isRequired(schema) !== (schema._zod.optin === undefined))).toEqual(
    [],
  )
})

test('a shape is identified by the words that zod takes', () => {
  let compared = 0
  for (const def of every.map(defOf)) {
    if (def.type !== 'union' || !('discriminator' in def)) continue
    const discriminator = String(def.discriminator)
    for (const option of def.options) {
      expect(wordsAt(option, discriminator)).toEqual(option._zod.propValues?.[discriminator])
      compared++
    }
  }
  expect(compared).toBeGreaterThan(50)
})
