import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import type { UsualRequest } from '../../src/canonical/usual.ts'
import { parseJson } from '../../src/kit/json.ts'
import { UsualTurns } from '../../src/kit/usual.ts'
import type { OptionWords, Protocol } from '../../src/protocol.ts'
import { all } from '../../src/testing/bodies.ts'
import { translateRequest } from '../../src/translate/request.ts'
import { recordedRequests, shared, skipReason } from '../corpus/data.ts'
import { withOddValues } from '../support/odd-values.ts'
import { runs } from '../support/runs.ts'

/** Requests of the usual kind are translated without the canonical model. Nobody can tell. */

const pairs = all.flatMap(from => all.filter(to => to !== from).map(to => ({ name: `${from.name} → ${to.name}`, from, to })))

/** Both ways from one protocol to another: with the shortcut, and without. */
function bothWays(wire: unknown, from: Protocol, to: Protocol, path?: string, given: object = {}) {
  const options = { ...given, ...(path !== undefined && { path }) }
  const { usual: _, ...plainly } = from
  return { short: outcome(() => translateRequest(wire, from, to, all, options)), plain: outcome(() => translateRequest(wire, plainly, to, all, options)) }
}

/** As text, because the order of keys counts, too. */
function outcome(translate: () => unknown): string {
  try {
    return JSON.stringify(translate(), undefined, 1)
  } catch (error) {
    return `${String(error)} ${JSON.stringify(error)}`
  }
}

/** All that a request of the usual kind can hold. */
function example(isMessage: boolean): UsualRequest {
  const turns = new UsualTurns()
  turns.user(['What is in a.txt and b.txt?', 'Look at both.'])
  turns.assistant('I look.')
  turns.call('call_1', 'read', { path: 'a.txt', lines: [1, 2.5], deep: { whole: true } })
  turns.call('call_2', 'list', { path: 'b.txt' })
  turns.result('call_1', 'a')
  turns.result('call_2', '{"b":[1]}')
  turns.user(['And c?'])
  turns.user(['Hello?'])
  turns.assistant(undefined)
  turns.call('call_3', 'read', {})
  turns.result('call_3', ' c\n')
  turns.assistant('It says c.')
  turns.user(['Thanks'])
  return {
    model: 'model-1',
    instructions: { text: 'Be brief.', isMessage },
    turns: turns.turns,
    tools: [
      {
        name: 'read',
        description: 'Reads a file.',
        parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        strict: false,
      },
      { name: 'list', description: undefined, parameters: { type: 'object', properties: {} }, strict: undefined },
    ],
    mayCall: true,
    maxTokens: 1000,
    temperature: 0.5,
    stream: true,
    storeless: true,
  }
}

const pathOf = ({ name }: Protocol) => (name === 'generate-content' ? '/v1beta/models/model-1:streamGenerateContent' : undefined)

describe.each(pairs)('$name', ({ from, to }) => {
  test.each([true, false])('a request of the usual kind takes the short way (instructions as a message: %s)', isMessage => {
    const wire = from.usual?.write(example(isMessage))?.wire
    const decode = vi.fn(from.decodeRequest)
    expect(translateRequest(wire, { ...from, decodeRequest: decode }, to, all, {}).body).not.toEqual(wire)
    expect(decode).not.toHaveBeenCalled()
  })

  test('with any odd value anywhere it says what the plain way says', () => {
    const wire = from.usual?.write(example(from.name === 'responses'))?.wire
    const odd = withOddValues(wire)
    expect(odd.length).toBeGreaterThan(500)
    for (const { body, path, after } of [...odd, ...withProtoKeys(wire)]) {
      const { short, plain } = bothWays(body, from, to, pathOf(from))
      expect(short, `${path}: ${JSON.stringify(after)?.slice(0, 80)}`).toBe(plain)
    }
  })

  test('whatever option is given, it says what the plain way says', () => {
    const wire = from.usual?.write(example(false))?.wire
    const words: Record<string, OptionWords> = {
      ...from.options,
      ...to.options,
      strict: 'flag',
      onUnresolvable: ['note'],
      truncated: ['length'],
      model: ['', 'a/b', 'claude-opus-4-8'],
    }
    for (const [name, values] of Object.entries(words))
      for (const value of values === 'flag' ? [true] : values === 'number' ? [7] : values === 'text' ? ['x'] : values) {
        const { short, plain } = bothWays(wire, from, to, pathOf(from), { [name]: value })
        expect(short, `${name}: ${value}`).toBe(plain)
      }
  })

  test('any conversation gives what it gives the plain way', () => {
    fc.assert(
      fc.property(conversations, fc.infiniteStream(fc.nat(1000)), (request, dice) => {
        const wire = disturbed(from.usual?.write(request as UsualRequest)?.wire, dice)
        const { short, plain } = bothWays(wire, from, to, pathOf(from))
        expect(short).toBe(plain)
      }),
      runs(400),
    )
  })
})

describe.skipIf(!shared)(`what real clients sent (${skipReason})`, () => {
  test('is translated as the plain way does it', () => {
    let usual = 0
    for (const { name, protocol, body, path } of recordedRequests())
      for (const { from, to } of pairs)
        if (from.name === protocol) {
          const { short, plain } = bothWays(body, from, to, path)
          expect(short, name).toBe(plain)
          if (from.usual?.read(body, path)) usual++
        }
    expect(usual).toBeGreaterThan(30)
  })
})

/** Each object of a body with a key that some protocols refuse. */
function withProtoKeys(wire: unknown): { body: unknown; path: string; after: unknown }[] {
  const text = JSON.stringify(wire)
  const odd: { body: unknown; path: string; after: unknown }[] = []
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    const more = text[at + 1] === '}' ? '"__proto__":{"x":1}' : '"__proto__":{"x":1},'
    const body = parseJson(text.slice(0, at + 1) + more + text.slice(at + 1))
    if (body !== undefined) odd.push({ body, path: `at ${at}`, after: more })
  }
  return odd
}

/** Mostly usual words, and some at the edge. */
const mostly = <T>(usual: T[], odd: T[]) => fc.oneof({ weight: 12, arbitrary: fc.constantFrom(...usual) }, { weight: 1, arbitrary: fc.constantFrom(...odd) })

const texts = mostly(
  ['Hi', 'a\nb', ' padded ', '"quoted" \\ {"json":1}', '狐 🦊'],
  ['', ' ', '\n\ufeff', '\ud800', '<think>x</think>y', 'xs1.eyJ2IjoiIn0', 'x-anthropic-billing-header: a\nb'],
)
const names = mostly(['read', 'list_all', 'mcp__a__b'], ['9lives', 'a.b', 'a:b', '', 'ü', 'n'.repeat(65), '__proto__'])
const ids = mostly(['call_1', 'call_2', 'toolu_3', 'x'], ['', 'a'.repeat(41), 'a'.repeat(65), 'a b', 'a__sig_b', '../x'])
const inputs = mostly<unknown>(
  ['{}', '{"a":1}', '{"a":{"b":[null,"x"]}}', '{ "a" : 1.50 }'],
  [
    '',
    ' ',
    '[]',
    'null',
    '{"a":',
    '{"a":12345678901234567890}',
    '{"a":1e400}',
    '{"__proto__":{"x":1}}',
    '{"a":1,"a":2}',
    '"x"',
    `${'{"a":'.repeat(200)}1${'}'.repeat(200)}`,
  ],
)
const models = mostly<string | undefined>(
  ['model-1', 'claude-opus-4-8', 'gemini-2.5-pro', 'gpt-5.1'],
  [undefined, '', 'models/x', 'a/b', '../..', 'claude-3-haiku'],
)
const schemas = mostly<unknown>(
  [
    { type: 'object', properties: {} },
    { type: 'object', properties: { a: { type: 'STRING', nullable: true } }, required: ['a'], additionalProperties: false },
  ],
  [
    {},
    { type: 'string' },
    { properties: {} },
    { type: ['object', 'null'] },
    { type: 'OBJECT' },
    { type: 'object', anyOf: [{}] },
    { type: 'object', $ref: '#/x' },
    null,
    undefined,
  ],
)

const turns = fc.array(
  fc.oneof(
    fc.record({ role: fc.constant('user' as const), texts: fc.array(texts, { minLength: 1, maxLength: 3 }) }),
    fc.record({
      role: fc.constant('assistant' as const),
      text: fc.option(texts, { nil: undefined }),
      calls: fc.array(fc.record({ id: ids, name: names, input: inputs }), { maxLength: 3 }),
      answered: mostly([true], [false]),
      said: texts,
    }),
  ),
  { maxLength: 6 },
)

const conversations = fc
  .record({
    model: models,
    instructions: fc.option(fc.record({ text: texts, isMessage: fc.boolean() }), { nil: undefined }),
    turns,
    tools: fc.option(
      fc.array(
        fc.record({
          name: names,
          description: mostly<string | undefined>(['d'], ['', undefined]),
          parameters: schemas,
          strict: mostly<unknown>([undefined, false], [true, null]),
        }),
        { maxLength: 3 },
      ),
      { nil: undefined },
    ),
    mayCall: fc.boolean(),
    maxTokens: mostly<unknown>([1000, 16, undefined], [0, -1, 1, 15, 1.5, 1e21]),
    temperature: mostly<unknown>([undefined, 0, 0.7, 1], [1.5, 2, -1, null]),
    stream: mostly<unknown>([undefined, true, false], [null]),
    storeless: fc.boolean(),
  })
  .map(request => ({ ...request, turns: [...request.turns.flatMap(withResults), ...(request.turns.length % 3 ? [{ role: 'user', texts: ['go on'] }] : [])] }))

type Said =
  | { role: 'user'; texts: string[] }
  | { role: 'assistant'; text: string | undefined; calls: { id: string; name: string; input: unknown }[]; answered: boolean; said: string }

function withResults(turn: Said): object[] {
  if (turn.role === 'user') return [turn]
  const { answered, said, ...rest } = turn
  return rest.calls.length > 0 && answered ? [rest, { role: 'results', results: rest.calls.map(call => ({ call, text: said })) }] : [rest]
}

/** Now and then an item of a list is left out, doubled or swapped with the next one, or a key gets company. */
function disturbed(wire: unknown, dice: fc.Stream<number>): unknown {
  const draw = () => dice.next().value ?? 0
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      const items = value.map(visit)
      const at = draw() % Math.max(items.length, 1)
      switch (draw() % 60) {
        case 0:
          return items.toSpliced(at, 1)
        case 1:
          return items.toSpliced(at, 0, items[at])
        case 2:
          return items.toSpliced(at, 2, ...items.slice(at, at + 2).reverse())
        default:
          return items
      }
    }
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value).map(([key, one]) => [key, visit(one)] as const)
    const extra = draw() % 100
    if (extra === 0) return Object.fromEntries([...entries, ['id', 'x']])
    if (extra === 1) return Object.fromEntries([...entries, ['status', 'completed']])
    if (extra === 2) return Object.fromEntries([...entries, ['refusal', null]])
    if (extra === 3) return Object.fromEntries([...entries, ['cache_control', { type: 'ephemeral' }]])
    if (extra === 4) return Object.fromEntries(entries.toReversed())
    return Object.fromEntries(entries)
  }
  return visit(wire)
}
