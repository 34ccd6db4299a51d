import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type ProtocolName, translateRequest, translateResponse } from '../../src/index.ts'
import { pairs } from '../../src/testing/bodies.ts'
import { changed } from '../../src/testing/change.ts'
import { leaves } from '../../src/testing/json.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { thinkerOf } from '../support/reasoning/index.ts'
import { runs } from '../support/runs.ts'

const question = { model: 'any', ask: 'What is it?', tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }] }

/** Opaque to everyone but its issuer: base64 of any bytes, in both alphabets, and words that look like something else. */
const proof = fc.oneof(
  { weight: 6, arbitrary: fc.uint8Array({ minLength: 1, maxLength: 60 }).map(bytes => btoa(String.fromCharCode(...bytes))) },
  { weight: 1, arbitrary: fc.constantFrom('gAAAAAB-_==', 'a.b.c', 'sig__sig_', 'null', '{}', 'ünï') },
)

const proving = pairs.filter(({ to }) => !thinkerOf(to.name).unproven)

describe.each(proving.map(({ from, to }) => ({ client: from.name as ProtocolName, upstream: to.name as ProtocolName })))(
  'a proof of $upstream in the hands of a client of $client',
  ({ client, upstream }) => {
    const thinker = thinkerOf(upstream)
    const { open, receive, goOn } = clientOf(client)
    const signed = thinker.shapes.filter(({ answer }) => provenIn(answer(1)).length > 0)
    if (signed.length === 0) throw new Error(`show a proof in test/support/reasoning/${upstream}.ts, or say there that its servers have none (\`unproven\`)`)

    /** What the client sends after one reply, whose proofs are these. */
    async function sentAfter(answer: unknown, streamed: boolean) {
      const body = open(question)
      const { context } = translateRequest(body, { from: client, to: upstream })
      const settings = { from: upstream, to: client, context }
      const translator = createStreamTranslator(settings)
      const reply = streamed ? { text: translator.push(thinker.stream(answer)) + translator.end() } : translateResponse(answer, settings)
      return goOn(body, await receive(reply), { runTool: () => 'done', ask: 'And then?' })
    }
    const asked = (sent: unknown) => translateRequest(sent, { from: client, to: upstream, chatCompletions: { reasoningInHistory: 'always' } }).body

    test('comes back byte by byte, also where a text beside it was edited', async () => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...signed), fc.array(proof, { minLength: 4, maxLength: 4 }), fc.boolean(), fc.option(fc.nat()), async (...given) => {
          const [shape, values, streamed, pick] = given
          const answer = withProofs(shape.answer(1), values)
          const sent = await sentAfter(answer.body, streamed)
          const texts = leaves(sent).filter(({ path, value }) => typeof value === 'string' && /\/(text|content|output_text)$/.test(path))
          const text = pick === null ? undefined : texts[pick % texts.length]
          const request = asked(text ? changed(sent, { path: text.path, before: String(text.value), after: `${String(text.value)} edited` }) : sent)
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          expect(thinker.proofs(request).filter(value => answer.proofs.includes(value))).toEqual(answer.proofs)
        }),
        runs(1000),
      )
    })

    test('is never sent on when its envelope was damaged, and neither is the envelope', async () => {
      await fc.assert(
        fc.asyncProperty(fc.constantFrom(...signed), fc.array(proof, { minLength: 4, maxLength: 4 }), fc.boolean(), damage, async (...given) => {
          const [shape, values, streamed, hurt] = given
          const answer = withProofs(shape.answer(1), values)
          const sent = await sentAfter(answer.body, streamed)
          const request = asked(JSON.parse(JSON.stringify(sent), (_, value: unknown) => (typeof value === 'string' ? hurt(value) : value)))
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          const proofs = thinker.proofs(request)
          // What Google made stands in its own field without an envelope, which nothing has damaged.
          const bare = JSON.stringify(sent)
          const wrapped = answer.proofs.filter(value => !bare.includes(JSON.stringify(value)))
          expect(proofs.filter(value => value.includes('xs1.') || value.startsWith('eHMxLmV5') || wrapped.includes(value))).toEqual([])
        }),
        runs(1000),
      )
    })
  },
)

const carried = /(xs1\.|__sig_|eHMxLmV5)([\w+/-]{8,})/g

/** Envelopes, the last one in base64, with something cut off, put in or left out. */
const damage = fc.tuple(fc.constantFrom('cut', 'put', 'lose'), fc.nat()).map(([how, at]) => (text: string) => {
  return text.replace(carried, (_, prefix: string, inside: string) => {
    const place = at % inside.length
    if (how === 'cut') return prefix + inside.slice(0, place)
    if (how === 'put') return `${prefix + inside.slice(0, place)}*${inside.slice(place)}`
    return prefix + inside.slice(0, place) + inside.slice(place + 3)
  })
})

/** Replies of the fixtures say in their proofs which turn they are of. */
const isProof = (value: unknown): value is string => {
  try {
    return typeof value === 'string' && atob(value).includes(' of turn ')
  } catch {
    return false
  }
}

const provenIn = (body: unknown): string[] => leaves(body).flatMap(({ value }) => (isProof(value) ? [value] : []))

/** The reply with other proofs, all of them different. */
function withProofs(body: unknown, values: string[]): { body: unknown; proofs: string[] } {
  const proofs: string[] = []
  const proven: unknown = JSON.parse(JSON.stringify(body), (key, value: unknown) => {
    if (!isProof(value)) return value
    const any = `${values[proofs.length % values.length]}${proofs.length}`
    // One wire has bytes in this place.
    const one = key === 'thoughtSignature' ? btoa(encodeURIComponent(any)) : any
    proofs.push(one)
    return one
  })
  return { body: proven, proofs }
}
