import { describe, expect, test } from 'vitest'
import { differences } from '../../src/console/translate/differences.ts'
import { examine } from '../../src/console/translate/examine.ts'
import { examples } from '../../src/console/translate/examples.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { strictOf } from '../../src/testing/index.ts'
import { responses } from '../gateway/support.ts'

const now = 1_700_000_000

describe('differences of values after a round trip', () => {
  test.each<[what: string, was: unknown, now: unknown, found: object[]]>([
    ['nothing, where all is the same', { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ['nothing, where something was added', { a: 1 }, { a: 1, b: 2 }, []],
    ['nothing, for keys in another order', { a: 1, b: [2] }, { b: [2], a: 1 }, []],
    ['one that is another', { a: { 'b/c': 1 } }, { a: { 'b/c': 2 } }, [{ path: '/a/b~1c', was: 1, now: 2 }]],
    ['each leaf of what is gone', { a: { b: 1, c: [2] } }, {}, [{ path: '/a/b', was: 1 }, { path: '/a/c/0', was: 2 }]],
    ['an empty object that is gone', { a: {} }, {}, [{ path: '/a', was: {} }]],
    ['null, which is not absent', { a: null }, {}, [{ path: '/a', was: null }]],
    ['a text that became a list', { a: 'x' }, { a: ['x'] }, [{ path: '/a', was: 'x', now: ['x'] }]],
    ['the first item of a list, and not all behind it', ['a', 'b', 'c'], ['b', 'c'], [{ path: '/0', was: 'a' }]],
    ['one in the middle', [{ a: 1 }, { a: 2 }, { a: 3 }], [{ a: 1 }, { a: 3 }], [{ path: '/1/a', was: 2 }]],
    ['the last item', [1, 2, 3], [1, 2], [{ path: '/2', was: 3 }]],
    ['keys that every object has', { toString: 1 }, {}, [{ path: '/toString', was: 1 }]],
  ])('%s', (_, was, returned, found) => {
    expect(differences(was, returned)).toEqual(found)
  }) // biome-ignore format: a table
})

describe('round trips of a body', () => {
  const request = {
    model: 'm',
    messages: [{ role: 'user', content: 'Hi' }],
    logit_bias: { '1': 2 },
    seed: 7,
  }

  test('does not list a value that a note covers', async () => {
    const { targets } = await examine(JSON.stringify(request), { now })
    for (const { notes, differences: found } of targets) {
      expect(notes).toContainEqual(
        expect.objectContaining({ kind: 'dropped', path: '/logit_bias' }),
      )
      expect(found).toEqual([])
    }
  })

  test('lists a changed value even without a note', async () => {
    const { targets } = await examine(JSON.stringify({ ...responses.messages, id: 'msg_1' }), {
      now,
    })
    const difference = targets
      .find(({ protocol }) => protocol === 'responses')
      ?.differences.find(({ path }) => path === '/id')
    expect(difference).toEqual({ path: '/id', was: 'msg_1', now: 'resp_msg_1' })
  })

  test('also through a protocol with the model in its path', async () => {
    const { targets } = await examine(JSON.stringify(request), { now })
    expect(targets.find(({ protocol }) => protocol === 'generate-content')).toMatchObject({
      notes: [{ path: '/logit_bias' }],
      differences: [],
    })
  })
})

describe.each(protocolNames)('the examples of %s', name => {
  const own = examples().filter(({ protocol }) => protocol === name)

  test('are legal in its protocol', () => {
    const strict = strictOf(name)
    const body = (kind: string): unknown =>
      JSON.parse(own.find(example => example.kind === kind)?.text ?? '')
    expect(strict.checkRequest(body('request'))).toEqual([])
    expect(strict.checkResponse(body('response'))).toEqual([])
  })

  test.each(own)(
    'recognizes the $kind and translates it to every other protocol',
    async ({ kind, text }) => {
      const examined = await examine(text, { now })
      expect(examined).toMatchObject({ protocol: name, kind })
      const others = protocolNames.filter(other => other !== name)
      expect(
        examined.targets.map(({ protocol, fault, noReturn }) => fault ?? noReturn ?? protocol),
      ).toEqual(others)
    },
  )

  test('has the frames of a stream, and of its translations', async () => {
    const stream = own.find(({ kind }) => kind === 'stream')?.text ?? ''
    const examined = await examine(stream, { now })
    for (const { text, frames } of [
      { text: stream, frames: examined.frames },
      ...examined.targets,
    ]) {
      const datas = [...(text ?? '').matchAll(/^data: (.*)$/gm)].map(([, data]) => data)
      expect(datas.length).toBeGreaterThan(2)
      expect(frames?.map(({ data }) => data)).toEqual(datas)
      for (const { data, value } of frames ?? [])
        expect(value).toEqual(data === '[DONE]' ? undefined : JSON.parse(data))
    }
  })
})

test('has an example of each kind in each protocol', () => {
  expect(examples()).toHaveLength(3 * Object.keys(protocols).length)
})
