import { expect, test } from 'vitest'
import { translateRequest, type VendorName } from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'

const ref = (name: string) => ({ $ref: `#/$defs/${name}` })

const leaves: Record<string, object> = {
  'no type': { description: 'any' },
  text: { type: 'string' },
  object: { type: 'object', properties: { p: { type: 'string' } }, required: ['p'] },
}

const combined =
  (word: string) =>
  (next: string, other: string): [object, object] => [
    { [word]: [ref(next), ref(other), ref(next)] },
    { [word]: [ref(other), ref(next)] },
  ]

const conditional = (next: string, other: string): object =>
  Object.fromEntries([
    ['if', ref(next)],
    ['then', ref(other)],
    ['else', ref(next)],
  ])

/** How a definition names the two of the next level. */
const forms: Record<string, (next: string, other: string) => [object, object]> = {
  allOf: combined('allOf'),
  anyOf: combined('anyOf'),
  oneOf: combined('oneOf'),
  conditions: (next, other) => [conditional(next, other), conditional(other, next)],
  properties: (next, other) => [
    { type: 'object', properties: { x: ref(next), y: ref(other) } },
    { type: 'object', properties: { y: ref(next), x: ref(other) } },
  ],
}

const levels = 60

/** A short schema of which a tree would have more nodes than can be counted. */
function web(form: string, leaf: string): object {
  const { a, b }: Record<string, object> = {
    a: leaves[leaf] ?? {},
    b: { ...leaves[leaf], title: 'b' },
  }
  const definitions: Record<string, object> = { [`a${levels}`]: a ?? {}, [`b${levels}`]: b ?? {} }
  for (let i = 0; i < levels; i++) {
    const [one, other] = forms[form]?.(`a${i + 1}`, `b${i + 1}`) ?? []
    Object.assign(definitions, { [`a${i}`]: one, [`b${i}`]: other })
  }
  return { anyOf: [ref('a0'), ref('b0')], $defs: definitions }
}

const vendors: (VendorName | undefined)[] = [
  undefined,
  'moonshot',
  'llama-cpp',
  'deepseek',
  'bedrock',
]

// What follows every way through them would never end.
test.each(
  Object.keys(forms).flatMap(form => Object.keys(leaves).map(leaf => [form, leaf] as const)),
)('definitions that name each other by %s, down to %s, are read once each', (form, leaf) => {
  const schema = web(form, leaf)
  const most = 20 * JSON.stringify(schema).length
  for (const to of protocolNames)
    for (const vendor of vendors)
      for (const strict of [false, true])
        for (const body of [
          { tools: [{ type: 'function', function: { name: 'f', parameters: schema, strict } }] },
          { response_format: { type: 'json_schema', json_schema: { name: 'f', schema, strict } } },
        ]) {
          const given = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }
          const { body: sent } = translateRequest(
            given as never,
            { from: 'chat-completions', to, ...(vendor && { vendor }) } as never,
          )
          expect(JSON.stringify(sent).length).toBeLessThan(most)
        }
})
