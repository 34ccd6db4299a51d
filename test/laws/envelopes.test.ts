import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  type ProtocolName,
  translateRequest,
  translateResponse,
} from '../../src/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { changed } from '../../src/testing/change.ts'
import { leaves } from '../../src/testing/json.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { thinkerOf } from '../support/reasoning/index.ts'
import { runs } from '../support/runs.ts'
import { sampled } from '../support/sampled.ts'

const question = {
  model: 'any',
  ask: 'What is it?',
  tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
}

/**
 * Opaque to everyone but its issuer: base64 of any bytes, in both alphabets, and words that look
 * like something else.
 */
const signature = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .uint8Array({ minLength: 1, maxLength: 60 })
      .map(bytes => btoa(String.fromCharCode(...bytes))),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('gAAAAAB-_==', 'a.b.c', 'sig__sig_', 'null', '{}', 'ünï'),
  },
)

const proving = pairs.filter(({ to }) => !thinkerOf(to.name).unproven)

describe.each(
  sampled(proving).map(({ from, to }) => ({
    client: from.name as ProtocolName,
    upstream: to.name as ProtocolName,
  })),
)('a signature of $upstream in a conversation of a client of $client', ({ client, upstream }) => {
  const thinker = thinkerOf(upstream)
  const { open, receive, continueWith } = clientOf(client)
  const signed = thinker.shapes.filter(({ response }) => provenIn(response(1)).length > 0)
  if (signed.length === 0)
    throw new Error(
      `show a signature in test/support/reasoning/${upstream}.ts, or say there that its servers have none (\`unproven\`)`,
    )

  /** What the client sends after one response, which has these signatures. */
  async function sentAfter(response: unknown, streamed: boolean) {
    const body = open(question)
    const { context } = translateRequest(body, { from: client, to: upstream })
    const settings = { from: upstream, to: client, context }
    const translator = createStreamTranslator(settings)
    const result = streamed
      ? { text: translator.push(thinker.stream(response)) + translator.end() }
      : translateResponse(response, settings)
    return continueWith(body, await receive(result), { runTool: () => 'done', ask: 'And then?' })
  }
  const received = (sent: unknown) =>
    translateRequest(sent, {
      from: client,
      to: upstream,
      chatCompletions: { reasoningInHistory: 'always' },
    }).body

  test('comes back unchanged, also when a text next to it was edited', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...signed),
        fc.array(signature, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        fc.option(fc.nat()),
        async (...given) => {
          const [shape, values, streamed, pick] = given
          const response = withSignatures(shape.response(1), values)
          const sent = await sentAfter(response.body, streamed)
          const texts = leaves(sent).filter(
            ({ path, value }) =>
              typeof value === 'string' && /\/(text|content|output_text)$/.test(path),
          )
          const text = pick === null ? undefined : texts[pick % texts.length]
          const request = received(
            text
              ? changed(sent, {
                  path: text.path,
                  before: String(text.value),
                  after: `${String(text.value)} edited`,
                })
              : sent,
          )
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          expect(
            thinker.signatures(request).filter(value => response.signatures.includes(value)),
          ).toEqual(response.signatures)
        },
      ),
      runs(1000),
    )
  })

  test('is never forwarded when its envelope was damaged', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...signed),
        fc.array(signature, { minLength: 4, maxLength: 4 }),
        fc.boolean(),
        damage,
        async (...given) => {
          const [shape, values, streamed, hurt] = given
          const response = withSignatures(shape.response(1), values)
          const sent = await sentAfter(response.body, streamed)
          const request = received(
            JSON.parse(JSON.stringify(sent), (_, value: unknown) =>
              typeof value === 'string' ? hurt(value) : value,
            ),
          )
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          const signatures = thinker.signatures(request)
          // A signature of Google is in its own field without an envelope, undamaged.
          const bare = JSON.stringify(sent)
          const wrapped = response.signatures.filter(value => !bare.includes(JSON.stringify(value)))
          expect(
            signatures.filter(
              value =>
                value.includes('xs1.') || value.startsWith('eHMxLmV5') || wrapped.includes(value),
            ),
          ).toEqual([])
        },
      ),
      runs(1000),
    )
  })
})

const carried = /(xs1\.|__sig_|eHMxLmV5)([\w+/-]{8,})/g

/** Envelopes, the last one in base64, with something cut off, put in or left out. */
const damage = fc
  .tuple(fc.constantFrom('cut', 'put', 'lose'), fc.nat())
  .map(([how, at]) => (text: string) => {
    return text.replace(carried, (_, prefix: string, inside: string) => {
      const place = at % inside.length
      if (how === 'cut') return prefix + inside.slice(0, place)
      if (how === 'put') return `${prefix + inside.slice(0, place)}*${inside.slice(place)}`
      return prefix + inside.slice(0, place) + inside.slice(place + 3)
    })
  })

/** Responses of the fixtures name their turn in their signatures. */
const isSignature = (value: unknown): value is string => {
  try {
    return typeof value === 'string' && atob(value).includes(' of turn ')
  } catch {
    return false
  }
}

const provenIn = (body: unknown): string[] =>
  leaves(body).flatMap(({ value }) => (isSignature(value) ? [value] : []))

/** The response with other signatures, all of them different. */
function withSignatures(body: unknown, values: string[]): { body: unknown; signatures: string[] } {
  const signatures: string[] = []
  const proven: unknown = JSON.parse(JSON.stringify(body), (key, value: unknown) => {
    if (!isSignature(value)) return value
    const any = `${values[signatures.length % values.length]}${signatures.length}`
    // One wire has bytes in this place.
    const one = key === 'thoughtSignature' ? btoa(encodeURIComponent(any)) : any
    signatures.push(one)
    return one
  })
  return { body: proven, signatures }
}
