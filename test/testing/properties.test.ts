import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  type ProtocolName,
  translateRequest,
  translateResponse,
} from '../../src/index.ts'
import { protocols } from '../../src/protocols.ts'
import * as testing from '../../src/testing/index.ts'
import { runs } from '../support/runs.ts'
import { written } from '../support/written.ts'

const names = Object.keys(protocols) as ProtocolName[]
const from: ProtocolName = 'messages'
const to: ProtocolName = 'chat-completions'
const create = () => createStreamTranslator({ from, to })
const holds = (property: fc.IRawProperty<unknown>) => () => fc.assert(property, runs(200))

const fails = (property: fc.IRawProperty<unknown>, message: RegExp) => {
  const { failed, errorInstance } = fc.check(property, { numRuns: 2_000, seed: 1 }) as {
    failed: boolean
    errorInstance?: unknown
  }
  expect(failed).toBe(true)
  expect(String(errorInstance)).toMatch(message)
}

describe('the properties hold for wireglot itself', () => {
  test('returns the same result for any split', holds(testing.splitProperty(from, create)))
  test('writes legal streams', holds(testing.legalStreamProperty({ from, to }, create)))
  test(
    'never makes a cut-off stream look complete',
    holds(testing.truncationProperty({ from, to }, create)),
  )
  test(
    'does not change its input',
    holds(
      testing.purityProperty(testing.requestOf(from), body => translateRequest(body, { from, to })),
    ),
  )
  test(
    'restores a body within one protocol',
    holds(
      testing.roundTripProperty(
        testing.requestOf(from),
        body => protocols[from].decodeRequest(body).value,
        value => written(value as never, protocols[from]).wire,
      ),
    ),
  )
  test.each(names)('%s: legal random streams, and cut ones that are cut', name => {
    const validator = testing.strictOf(name)
    const wires = (text: string) => testing.framesOf(text).map(({ wire }) => wire)
    fc.assert(
      fc.property(
        testing.streamOf(name),
        text =>
          validator.checkStream(wires(text)).length === 0 &&
          validator.outcome(wires(text)) === 'success',
      ),
      runs(100),
    )
    fc.assert(
      fc.property(testing.cutStreamOf(name), text => validator.outcome(wires(text)) === 'cut'),
      runs(100),
    )
  })
})

const pairs = names.flatMap(from => names.filter(to => to !== from).map(to => ({ from, to })))

describe('noSilentLossProperty for wireglot', () => {
  test.each(pairs)('requests of $from toward $to', pair => {
    fc.assert(
      testing.noSilentLossProperty(testing.requestOf(pair.from), body =>
        translateRequest(body, pair),
      ),
      runs(300),
    )
  })

  test.each(pairs)('responses of $from toward $to', pair => {
    fc.assert(
      testing.noSilentLossProperty(testing.responseOf(pair.from), body =>
        translateResponse(body, pair),
      ),
      runs(300),
    )
  })

  test.each(
    pairs.filter(({ from, to }) => ![from, to].some(name => protocols[name].frames.withoutModel)),
  )('finds the model that a converter from $from toward $to forgets', pair => {
    const forgetful = (body: unknown) => {
      const { body: converted, notes } = translateResponse(body, pair)
      const { model: _, modelVersion: __, ...rest } = converted as Record<string, unknown>
      return { body: rest, notes }
    }
    fails(
      testing.noSilentLossProperty(testing.responseOf(pair.from), forgetful),
      /lost silently: \/model/,
    )
  })
})

describe('values that are not a loss', () => {
  test.each([
    [
      'requests',
      { messages: [], response_format: { type: 'json_schema', json_schema: { name: 'a' } } },
    ],
    ['responses', { object: 'response', status: 'completed' }],
  ])('a label in %s is no loss, and another value of the same body is', (_, body) => {
    const nothing = () => ({ body: {} })
    const isLossy = (one: unknown) =>
      fc.check(testing.noSilentLossProperty(fc.constant(one), nothing), { numRuns: 50, seed: 1 })
        .failed
    const { object: _object, status: _status, ...rest } = body as Record<string, unknown>
    expect(isLossy({ ...body, model: 'm' })).toBe(true)
    expect(
      isLossy(
        'object' in body
          ? { object: 'response', ...rest }
          : { messages: [], response_format: { json_schema: { name: 'a' } } },
      ),
    ).toBe(false)
  })
})

test('the status of a message without content is no loss, and that of another one is', () => {
  const isLossy = (content: unknown) => {
    const body = {
      input: [{ type: 'message', status: 'completed', ...(content !== undefined && { content }) }],
    }
    const property = testing.noSilentLossProperty(
      fc.constant(body),
      () => ({ body: {} }),
      path => path !== '/input/0/status',
    )
    return fc.check(property, { numRuns: 50, seed: 1 }).failed
  }
  expect([undefined, null, '', [], 'Hello', [{ type: 'input_image' }]].map(isLossy)).toEqual([
    false,
    false,
    false,
    false,
    true,
    true,
  ])
})

test('whether an empty text is a thought is no loss, and of another text it is', () => {
  const isLossy = (text: string) => {
    const property = testing.noSilentLossProperty(
      fc.constant({ candidates: [{ content: { parts: [{ thought: false, text }] } }] }),
      () => ({ body: {} }),
      path => !path.endsWith('/thought'),
    )
    return fc.check(property, { numRuns: 50, seed: 1 }).failed
  }
  expect(['', 'Hello'].map(isLossy)).toEqual([false, true])
})

describe('the properties find a fault:', () => {
  test('lines that are split by chunk', () => {
    const byChunk = () => ({
      push: (chunk: Uint8Array | string) =>
        (typeof chunk === 'string' ? chunk : new TextDecoder().decode(chunk)).trim(),
      end: () => '',
    })
    fails(testing.splitProperty(from, byChunk), /depends on how the bytes are split/)
  })

  test('a stream that is passed unchanged', () => {
    let text = ''
    const through = () => ({
      push(chunk: Uint8Array | string) {
        text = String(chunk)
        return text
      },
      end: () => '',
    })
    fails(testing.legalStreamProperty({ from, to: from }, through), /no legal stream/)
  })

  test('an end that is always written', () => {
    const ended = () => {
      const inner = create()
      return {
        push: inner.push,
        end: () =>
          'data: {"id":"1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
      }
    }
    fails(testing.truncationProperty({ from, to }, ended), /truncated stream looks complete/)
  })

  test('a field that is lost without a note', () => {
    const lossy = (body: unknown) => {
      const { temperature: _, ...rest } = body as { temperature?: unknown }
      return { body: rest, notes: [] }
    }
    fails(
      testing.noSilentLossProperty(testing.requestOf(from), lossy),
      /lost silently: \/temperature/,
    )
    const noted = (body: unknown) => ({
      ...lossy(body),
      notes: [{ kind: 'dropped' as const, path: '/temperature', code: 'x', reason: 'no place' }],
    })
    fc.assert(testing.noSilentLossProperty(testing.requestOf(from), noted), runs(500))
    fc.assert(
      testing.noSilentLossProperty(testing.requestOf(from), lossy, path => path === '/temperature'),
      runs(500),
    )
  })

  test.each([
    [
      'purityProperty',
      (convert: () => never) => testing.purityProperty(testing.requestOf(from), convert),
    ],
    [
      'noSilentLossProperty',
      (convert: () => never) => testing.noSilentLossProperty(testing.requestOf(from), convert),
    ],
    [
      'roundTripProperty',
      (convert: () => never) =>
        testing.roundTripProperty(testing.requestOf(from), convert, convert),
    ],
  ])('%s reports a conversion that throws anything but a TranslationError', (_, property) => {
    const broken = () => {
      throw new TypeError('a fault of the conversion')
    }
    fails(property(broken), /a fault of the conversion/)
  })

  test('a body that is changed', () => {
    fails(
      testing.purityProperty(testing.requestOf(from), body => {
        if (typeof body === 'object' && body !== null) Object.assign(body, { stream: true })
        return { body }
      }),
      /read only|not extensible/,
    )
  })

  test('a way back that forgets', () => {
    fails(
      testing.roundTripProperty(
        testing.requestOf(from),
        body => body,
        body => ({ ...(body as object), model: 'another' }),
      ),
      /round trip changed/,
    )
  })
})
