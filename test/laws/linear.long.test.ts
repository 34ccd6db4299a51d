import { afterAll, describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  explodeResponse,
  normalizeResponse,
  type ProtocolName,
  TranslationError,
  translateRequest,
  translateResponse,
} from '../../src/index.ts'
import { protocolNames } from '../../src/protocols/index.ts'
import { growths } from '../support/grown.ts'
import { requests } from '../support/rich-requests.ts'
import { responses } from '../support/rich-responses.ts'
import { StepCounter, type Steps } from '../support/steps.ts'

/** Work is proportional to the input: no function takes more than 2.6 times the steps for twice as much of anything. */

const least = 40
const counter = new StepCounter()
afterAll(() => counter.close())

/** A refusal is a result, too. */
function tried(work: () => unknown): void {
  try {
    work()
  } catch (error) {
    if (!TranslationError.is(error)) throw error
  }
}

/** The functions whose steps grow faster, each with its steps at four sizes. */
function fasterThanLinear<Body>(
  make: (length: number) => Body,
  work: (body: Body) => void,
): string[] {
  const stepsAt = (length: number): Steps => {
    const body = make(length)
    return counter.count(() => tried(() => work(body)))
  }
  const growsTooFast = (small: number, large: number) => small > 0 && large > 2.6 * small + 60
  const [first, second] = [stepsAt(2 * least), stepsAt(4 * least)]
  const suspects = [...second].filter(([name, count]) => growsTooFast(first.get(name) ?? 0, count))
  if (suspects.length === 0) return []
  // A bound, or a list that is long enough for a map from some length on, looks like growth once.
  const [third, fourth] = [stepsAt(8 * least), stepsAt(16 * least)]
  return suspects
    .map(([name]) => name)
    .filter(name => growsTooFast(third.get(name) ?? 0, fourth.get(name) ?? 0))
    .map(name => `${name}: ${[first, second, third, fourth].map(steps => steps.get(name))}`)
}

/** One body with the fields of all. The first one counts. */
const merged = (bodies: readonly object[]): object => Object.assign({}, ...bodies.toReversed())

const bodiesOf = (bodies: readonly unknown[]) =>
  bodies.flatMap((body, at) =>
    growths(body).map(growth => ({ ...growth, how: `${at} ${growth.how}` })),
  )

describe.each(protocolNames)('%s takes steps proportional to the length of', from => {
  test('requests, to every protocol', { timeout: 600_000 }, () => {
    const faults = bodiesOf([merged(requests[from])]).flatMap(({ how, body }) =>
      fasterThanLinear(body, given => {
        for (const to of protocolNames)
          tried(() =>
            translateRequest(given as never, { from, to, onUnresolvable: 'note' } as never),
          )
      }).map(fault => `${how}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  test('responses, to every protocol', { timeout: 600_000 }, () => {
    const faults = bodiesOf([merged(responses[from])]).flatMap(({ how, body }) =>
      fasterThanLinear(body, given => {
        for (const to of protocolNames)
          tried(() => translateResponse(given as never, { from, to } as never))
        tried(() => normalizeResponse(given as never, { protocol: from } as never))
      }).map(fault => `${how}: ${fault}`),
    )
    expect(faults).toEqual([])
  })

  test('streams in one chunk, to every protocol', { timeout: 600_000 }, () => {
    const faults = bodiesOf([merged(responses[from])]).flatMap(({ how, body }) =>
      fasterThanLinear(
        length => streamOf(body(length), from),
        stream => {
          for (const to of protocolNames) {
            const translator = createStreamTranslator({ from, to } as never)
            translator.push(stream as never)
            translator.end()
          }
        },
      ).map(fault => `${how}: ${fault}`),
    )
    expect(faults).toEqual([])
  })
})

/** Empty: the response cannot be a stream. */
function streamOf(body: unknown, protocol: ProtocolName): string {
  let stream = ''
  tried(() => {
    stream = String(explodeResponse(body as never, { protocol } as never))
  })
  return stream
}
