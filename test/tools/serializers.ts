import { fileURLToPath } from 'node:url'
import { type Plugin, transformSync } from 'esbuild'
import fastJsonStringify, { type Schema as AnySchema } from 'fast-json-stringify'

export type Schema =
  | { type: 'string' }
  | { type: 'number' }
  | { type: 'array'; items: Schema }
  | { type: 'object'; properties: Record<string, Schema>; additionalProperties?: boolean }

const text = { type: 'string' } as const
const number = { type: 'number' } as const

/**
 * The body of a list of models, with its keys in the order in which the address writes them. Every
 * type must be exact: another value is converted without an error. A key that is undefined is left
 * out. Unknown keys are written last; a model has none.
 */
export const modelListShape = {
  type: 'object',
  additionalProperties: true,
  properties: {
    object: text,
    data: {
      type: 'array',
      items: {
        type: 'object',
        properties: {
          id: text,
          object: text,
          created: number,
          owned_by: text,
          context_length: number,
          max_output_tokens: number,
        },
      },
    },
  },
} satisfies Schema & AnySchema

/**
 * The code that fast-json-stringify writes for the shape, with our own `literals` for single
 * values: its own read `process`, which browsers do not have.
 */
function modelListCode(): string {
  const before = 'module.exports = '
  const after = '(validator, serializer)'
  const whole = fastJsonStringify(modelListShape, { mode: 'standalone' }).toString().trimEnd()
  const start = whole.indexOf(before)
  if (start < 0 || !whole.endsWith(after))
    throw new Error('fast-json-stringify writes another kind of module')
  const make = whole.slice(start + before.length, -after.length)
  const { code } = transformSync(`make = ${make}`, { minifySyntax: true })
  return `import { literals } from './literals.ts'
export const modelList = /* @__PURE__ */ (${code.trimEnd().slice('make = '.length, -1)})(null, literals)`
}

export const modelListFile = fileURLToPath(
  new URL('../../src/kit/json/model-list.ts', import.meta.url),
)

/** For esbuild and so for tsup: lists of models are written by generated code. */
export const serializers: Plugin = {
  name: 'wireglot-serializers',
  setup(builder) {
    builder.onLoad({ filter: /[\\/]kit[\\/]json[\\/]model-list\.ts$/ }, () => ({
      contents: modelListCode(),
      loader: 'js',
    }))
  },
}
