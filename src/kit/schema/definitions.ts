// What the build contains instead of `zod/mini`, except in `wireglot/schemas`: schemas with what
// guards read of their definitions. The parsers of zod, which are never called, take 7 kB of gzip.
// Only what the schemas of the wires use; `test/kit/definitions.test.ts` compares every definition
// with that of zod.

type Def = { type: string; checks?: readonly Check[]; [key: string]: unknown }
type Check = { _zod: { def: object } }

class Definition {
  readonly _zod: { def: Def }

  constructor(def: Def) {
    this._zod = { def }
  }

  get shape(): unknown {
    return this._zod.def['shape']
  }

  check(...checks: Check[]): Definition {
    const { def } = this._zod
    return new Definition({ ...def, checks: [...(def.checks ?? []), ...checks] })
  }
}

/* @__NO_SIDE_EFFECTS__ */
const kind = (type: string) => () => new Definition({ type })

export const string = /* @__PURE__ */ kind('string')
export const number = /* @__PURE__ */ kind('number')
export const boolean = /* @__PURE__ */ kind('boolean')
export const unknown = /* @__PURE__ */ kind('unknown')
const nothing = /* @__PURE__ */ kind('null')
const absent = /* @__PURE__ */ kind('undefined')

export { absent as undefined, nothing as null }

/* @__NO_SIDE_EFFECTS__ */
export const literal = (words: unknown) =>
  new Definition({ type: 'literal', values: Array.isArray(words) ? words : [words] })
/* @__NO_SIDE_EFFECTS__ */
export const optional = (innerType: Definition) => new Definition({ type: 'optional', innerType })
/* @__NO_SIDE_EFFECTS__ */
export const nullable = (innerType: Definition) => new Definition({ type: 'nullable', innerType })
/* @__NO_SIDE_EFFECTS__ */
export const nullish = (innerType: Definition) => optional(nullable(innerType))
/* @__NO_SIDE_EFFECTS__ */
export const array = (element: Definition) => new Definition({ type: 'array', element })
/* @__NO_SIDE_EFFECTS__ */
export const record = (_: Definition, valueType: Definition) =>
  new Definition({ type: 'record', valueType })
/* @__NO_SIDE_EFFECTS__ */
export const looseObject = (shape: object) => new Definition({ type: 'object', shape })
/* @__NO_SIDE_EFFECTS__ */
export const union = (options: readonly Definition[]) => new Definition({ type: 'union', options })
/* @__NO_SIDE_EFFECTS__ */
export const discriminatedUnion = (discriminator: string, options: readonly Definition[]) =>
  new Definition({ type: 'union', options, discriminator })
/* @__NO_SIDE_EFFECTS__ */
export const lazy = (getter: () => Definition) => new Definition({ type: 'lazy', getter })
/* @__NO_SIDE_EFFECTS__ */
export const refine = (fn: (value: never) => unknown, params?: string | object): Check => ({
  _zod: { def: { check: 'custom', fn, ...(typeof params === 'object' && params) } },
})
