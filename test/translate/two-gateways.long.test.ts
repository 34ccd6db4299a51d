import { describe, expect, test } from 'vitest'
import {
  createStreamTranslator,
  type ProtocolName,
  type TranslationContext,
} from '../../src/index.ts'
import { all } from '../../src/testing/bodies.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Body, clientOf } from '../support/clients/index.ts'
import { type Shape, thinkerOf } from '../support/reasoning/index.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

/**
 * A gateway whose channel is another one (`foreignSignatures: 'wrap'`): what the second one's
 * upstream thought comes back to it over both.
 */

const question = {
  model: 'any',
  ask: 'What is it?',
  tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
}

const names = all.map(({ name }) => name as ProtocolName)

type Chain = { client: ProtocolName; between: ProtocolName; upstream: ProtocolName }

// Where all three are one, bytes pass.
const chains = names.flatMap(client =>
  names.flatMap(between =>
    names
      .filter(upstream => client !== between || between !== upstream)
      .map((upstream): Chain => ({ client, between, upstream })),
  ),
)

const keepAll = { chatCompletions: { reasoningInHistory: 'always' as const } }

/** Unsigned reasoning comes back sealed, where the first gateway would leave it out. */
const seals = { chatCompletions: { unsignedReasoning: 'seal' as const } }

/** The upstream's request of each turn, and the client's request for it. */
async function converse(
  { client, between, upstream }: Chain,
  shape: Shape,
  { streamed = false, turns = 3 } = {},
) {
  const { open, receive, continueWith } = clientOf(client)
  const received: unknown[] = []
  const sent: Body[] = []
  const notes: string[] = []
  let body = open(question)
  for (let turn = 1; ; turn++) {
    sent.push(body)
    const first = translateRequest(body, { from: client, to: between, foreignSignatures: 'wrap' })
    const { path } = first.context
    const second = translateRequest(first.body, {
      from: between,
      to: upstream,
      ...(path !== undefined && { path }),
      ...keepAll,
    })
    received.push(JSON.parse(JSON.stringify(second.body)))
    notes.push(...[...first.notes, ...second.notes].map(({ code }) => code))
    if (turn > turns) return { requests: received, sent, notes }
    const response = shape.response(turn)
    const inner = { from: upstream, to: between, context: second.context, ...seals }
    const outer = { from: between, to: client, context: first.context }
    const result = streamed
      ? { text: streamText(streamText(thinkerOf(upstream).stream(response), inner), outer) }
      : { body: translateResponse(translateResponse(response, inner).body, outer).body }
    body = continueWith(body, await receive(result), {
      runTool: name => `result of ${name}`,
      ask: 'And then?',
    })
  }
}

function streamText(
  source: string,
  settings: { from: ProtocolName; to: ProtocolName; context: TranslationContext } & Partial<
    typeof seals
  >,
): string {
  const translator = createStreamTranslator(settings)
  let text = ''
  for (let at = 0; at < source.length; at += 41) text += translator.push(source.slice(at, at + 41))
  return text + translator.end()
}

/** A stream joins the segments of reasoning before it knows where they end. */
function joined(content: unknown): unknown {
  if (!Array.isArray(content)) return content
  return content.map((item: { summary?: { text: string }[]; content?: { text: string }[] }) => {
    const { summary, content: raw = [], ...rest } = item
    return summary
      ? { ...rest, thought: [...summary, ...raw].map(({ text }) => text).join('\n\n') }
      : item
  })
}

describe.each(chains)(
  'a $client client of a gateway before a $between gateway before a $upstream upstream',
  chain => {
    const { client, between, upstream } = chain
    const thinker = thinkerOf(upstream)
    // Other servers than Google's have no place for unsigned reasoning.
    const wanted = (content: unknown) =>
      Array.isArray(content) ? content.filter(part => thinker.wants?.(part) ?? true) : content

    // A chat client keeps nothing of a seal, and unsigned reasoning is for no other server.
    const isUnsealed = (shape: Shape) =>
      client === 'chat-completions' && between !== client && shape.name === 'plain reasoning'

    test.each(thinker.shapes.filter(shape => !isUnsealed(shape)))(
      'gives its reasoning back as it was: $name',
      async shape => {
        const { requests: received } = await converse(chain, shape)
        for (const [turns, request] of received.entries()) {
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          expect(thinker.echoed(request).map(wanted)).toEqual(
            [1, 2, 3].slice(0, turns).map(turn => wanted(thinker.essence(shape.response(turn)))),
          )
        }
      },
    )

    const isReported = (shape: Shape) => {
      // The signatures of its streams come last, and late ones leave a synthesized id.
      if (
        between === 'chat-completions' ||
        shape.name === 'signed details whose signatures come last'
      )
        return false
      // Chunks of a thought that came before the signed one are reasoning without a signature.
      return !(
        client === 'generate-content' &&
        upstream === client &&
        shape.name === 'a signed thought, then a call'
      )
    }
    const shapes = thinker.shapes.filter(shape => isReported(shape) && !isUnsealed(shape))
    if (
      shapes.length > 0 &&
      (client !== between || client === 'generate-content' || client === 'messages')
    )
      test.each(shapes)('gives its reasoning back, streamed: $name', async shape => {
        const { requests: received } = await converse(chain, shape, { streamed: true })
        const kept = (content: unknown) => joined(wanted(content))
        for (const [turns, request] of received.entries()) {
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          expect(thinker.echoed(request).map(kept)).toEqual(
            [1, 2, 3].slice(0, turns).map(turn => kept(thinker.essence(shape.response(turn)))),
          )
        }
      })

    if (between === 'chat-completions')
      test.each(thinker.shapes)(
        'drops no signature of a stream without a note: $name',
        async shape => {
          const { requests: received, notes } = await converse(chain, shape, { streamed: true })
          // What comes last led to no call, which this upstream refuses.
          const isLoose =
            client !== between &&
            upstream === 'responses' &&
            /only the encrypted|before each call/.test(shape.name)
          expect(notes.includes('reasoning.loose')).toBe(isLoose)
          if (!isLoose)
            expect(thinker.signatures(received.at(-1)).toSorted()).toEqual(
              thinker.signatures((await converse(chain, shape)).requests.at(-1)).toSorted(),
            )
        },
      )

    test('sends no more for the last of many turns than for the first', async () => {
      const [shape] = thinker.shapes
      if (!shape) throw new Error('no shapes')
      const { requests: received, sent } = await converse(chain, shape, { turns: 12 })
      for (const bodies of [received, sent]) {
        const lengths = bodies.map(body => JSON.stringify(body).length)
        const grown = lengths.slice(1).map((length, turn) => length - (lengths[turn] ?? 0))
        // The number of the turn has two digits, in base64 too.
        expect(Math.max(...grown)).toBeLessThanOrEqual((grown[1] ?? 0) + 40)
      }
    })
  },
)

test.each(names)(
  '%s: a history for another gateway of the same protocol stays unchanged',
  async name => {
    const upstream = name === 'messages' ? 'responses' : 'messages'
    const [shape] = thinkerOf(upstream).shapes
    if (!shape) throw new Error('no shapes')
    const { sent } = await converse({ client: name, between: name, upstream }, shape)
    const { body, notes } = translateRequest(sent.at(-1), {
      from: name,
      to: name,
      foreignSignatures: 'wrap',
    })
    expect(JSON.stringify(body)).toMatch(/xs1\.|eHMxLm/)
    expect(body).toBe(sent.at(-1))
    expect(notes).toEqual([])
  },
)
