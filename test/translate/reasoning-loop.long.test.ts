import { describe, expect, test } from 'vitest'
import { createStreamTranslator, translateRequest, translateResponse } from '../../src/index.ts'
import { type ProtocolName, protocols } from '../../src/protocols/index.ts'
import { all, pairs } from '../../src/testing/bodies.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Body, clientOf, type Echo } from '../support/clients/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { type Shape, thinkerOf } from '../support/reasoning/index.ts'

const question = {
  model: 'any',
  ask: 'What is it?',
  tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
}

const names = all.map(({ name }) => name as Covered)

type Loop = {
  client: Covered
  upstream: Covered
  shape: Shape
  streamed: boolean
  echo?: Echo
  options?: { chatCompletions?: object; generateContent?: object; responses?: object }
}

/**
 * Three turns: the client sends back what its official library returned. Returns the upstream's
 * request of each turn, and the client's last request.
 */
async function converse({
  client,
  upstream,
  shape,
  streamed,
  echo,
  options = {},
}: Loop): Promise<{ received: unknown[]; last: Body }> {
  const { open, receive, continueWith } = clientOf(client)
  const thinker = thinkerOf(upstream)
  const requested: unknown[] = []
  let body = open(question)
  const kept: Record<string, string> = {}
  const storedSignatures = (callId: string) => kept[callId]
  let ids = 0
  for (let turn = 1; turn <= 4; turn++) {
    const { body: request, context } = translateRequest(body, {
      from: client,
      to: upstream,
      ...options,
      chatCompletions: { ...options.chatCompletions, storedSignatures },
    })
    requested.push(JSON.parse(JSON.stringify(request)))
    if (turn === 4) break
    const response = shape.response(turn)
    // Responses of some protocols have no id.
    const newId = (prefix: string) => `${prefix}${turn}x${ids++}`
    const settings = {
      from: upstream,
      to: client,
      newId,
      context: JSON.parse(JSON.stringify(context)) as typeof context,
      ...options,
    }
    const result = streamed
      ? streamText(thinker.stream(response), settings)
      : translateResponse(response, settings)
    Object.assign(kept, JSON.parse(JSON.stringify(result.signatures ?? {})))
    const received = await receive(result)
    body = continueWith(body, received, {
      runTool: name => `result of ${name} in ${turn}`,
      ask: 'And then?',
      ...(echo && { echo }),
    })
  }
  return { received: requested, last: body }
}

function streamText(source: string, settings: Parameters<typeof createStreamTranslator>[0]) {
  const translator = createStreamTranslator(settings)
  let text = ''
  for (let at = 0; at < source.length; at += 41) text += translator.push(source.slice(at, at + 41))
  text += translator.end()
  return { text, signatures: translator.signatures }
}

const forms = [
  { streamed: false, form: 'whole' },
  { streamed: true, form: 'streamed' },
]

/** Chat servers get older reasoning only on request. */
const keepAll = { chatCompletions: { reasoningInHistory: 'always' as const } }

describe.each(
  pairs.map(({ from, to }) => ({ client: from.name as Covered, upstream: to.name as Covered })),
)('a $client client of a $upstream upstream', ({ client, upstream }) => {
  const thinker = thinkerOf(upstream)
  const wanted = (content: unknown) =>
    Array.isArray(content) ? content.filter(part => thinker.wants?.(part) ?? true) : content
  describe.each(
    thinker.shapes.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))),
  )('$name, $form', ({ shape, streamed }) => {
    test('is restored unchanged for the upstream, for three turns', async () => {
      const { received } = await converse({ client, upstream, shape, streamed, options: keepAll })
      for (const [turns, request] of received.entries()) {
        expect(strictOf(upstream).checkRequest(request)).toEqual([])
        const kept = client === 'chat-completions' ? wanted : (content: unknown) => content
        expect((thinker.echoed(request) as unknown[]).map(kept)).toEqual(
          [1, 2, 3].slice(0, turns).map(turn => kept(thinker.essence(shape.response(turn)))),
        )
      }
    })
  })
})

describe.each(names.filter(name => name !== 'chat-completions'))(
  'a chat-completions client of a %s upstream that sends back only what it knows',
  upstream => {
    const thinker = thinkerOf(upstream)
    const wanted = (content: unknown) =>
      Array.isArray(content) ? content.filter(part => thinker.wants?.(part) ?? true) : content
    const calling = thinker.shapes.filter(shape => !shape.name.includes('without a call'))
    const client = 'chat-completions'

    test.each(calling.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))))(
      'restores everything that the caller keeps: $name, $form',
      async ({ shape, streamed }) => {
        const { received } = await converse({
          client,
          upstream,
          shape,
          streamed,
          echo: 'rebuilt',
          options: { chatCompletions: { ...keepAll.chatCompletions, signatures: 'store' } },
        })
        for (const [turns, request] of received.entries())
          expect((thinker.echoed(request) as unknown[]).map(wanted)).toEqual(
            [1, 2, 3].slice(0, turns).map(turn => wanted(thinker.essence(shape.response(turn)))),
          )
      },
    )

    test.each(
      thinker.shapes.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))),
    )('makes legal requests: $name, $form', async ({ shape, streamed }) => {
      for (const signatures of ['field', 'store', 'none']) {
        const { received } = await converse({
          client,
          upstream,
          shape,
          streamed,
          echo: 'rebuilt',
          options: { chatCompletions: { signatures } },
        })
        for (const request of received) expect(strictOf(upstream).checkRequest(request)).toEqual([])
      }
    })

    test('notes signatures that nothing keeps', () => {
      const [shape] = thinker.shapes.filter(({ name }) => name.includes('without a call'))
      const settings = {
        from: upstream,
        to: client,
        chatCompletions: { signatures: 'store' },
      } as const
      const whole = translateResponse(shape?.response(1), settings)
      expect(whole.notes.map(({ code }) => code)).toContain('reasoning.signature-dropped')
      expect(whole.signatures).toEqual({})
      expect(JSON.stringify(whole.body)).not.toContain('xs1.')
      const translator = createStreamTranslator(settings)
      expect(translator.push(thinker.stream(shape?.response(1))) + translator.end()).not.toContain(
        'xs1.',
      )
      expect(translator.notes.map(({ code }) => code)).toContain('reasoning.signature-dropped')
    })
  },
)

const forgetful = [
  {
    client: 'chat-completions',
    options: { chatCompletions: { ...keepAll.chatCompletions, signedReasoning: 'calls' } },
  },
  {
    client: 'generate-content',
    options: { ...keepAll, generateContent: { signedReasoning: 'calls' } },
  },
] as const

describe.each(
  forgetful.flatMap(one =>
    names.filter(name => name !== one.client).map(upstream => ({ ...one, upstream })),
  ),
)(
  'a $client client of a $upstream upstream that forgets reasoning',
  ({ client, options, upstream }) => {
    const thinker = thinkerOf(upstream)
    const wanted = (content: unknown) =>
      client === 'chat-completions' && Array.isArray(content)
        ? content.filter(part => thinker.wants?.(part) ?? true)
        : content
    // Where one text ended and the next began is lost on clients that join texts.
    const calling = thinker.shapes.filter(
      ({ name, response }) => callsOf(response(1)).length > 0 && !name.includes('two texts'),
    )
    const loop = { client, upstream, options }

    test.each(calling.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))))(
      'sends back what was thought before its calls: $name, $form',
      async ({ shape, streamed }) => {
        const { received } = await converse({ ...loop, shape, streamed, echo: 'thoughtless' })
        for (const [turns, request] of received.entries()) {
          expect(strictOf(upstream).checkRequest(request)).toEqual([])
          expect(thinker.echoed(request).map(wanted)).toEqual(
            [1, 2, 3].slice(0, turns).map(turn => wanted(thinker.essence(shape.response(turn)))),
          )
        }
      },
    )

    test.each(calling.map(shape => ({ shape, name: shape.name })))(
      'sends only text of it to another provider: $name',
      async ({ shape }) => {
        const { last } = await converse({ ...loop, shape, streamed: false, echo: 'thoughtless' })
        for (const second of names.filter(name => name !== upstream && !isMaker(name, shape))) {
          const { body } = translateRequest(last, { from: client, to: second, ...keepAll })
          const written = JSON.stringify(body)
          for (const value of [...signaturesOf(shape), 'xs1.', btoa('xs1.ey')])
            expect(written).not.toContain(value)
          expect(strictOf(second).checkRequest(body)).toEqual([])
        }
      },
    )

    test.each(calling.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))))(
      'sends reasoning that it keeps only once: $name, $form',
      async ({ shape, streamed }) => {
        const { received } = await converse({ ...loop, shape, streamed })
        for (const [turns, request] of received.entries())
          expect(thinker.echoed(request).map(wanted)).toEqual(
            [1, 2, 3].slice(0, turns).map(turn => wanted(thinker.essence(shape.response(turn)))),
          )
      },
    )
  },
)

const sealed = {
  chatCompletions: { ...keepAll.chatCompletions, unsignedReasoning: 'seal' as const },
}
const unproven: Pick<Loop, 'client' | 'options' | 'echo'>[] = [
  { client: 'messages', options: sealed, echo: 'thoughtless' },
  {
    client: 'responses',
    options: { ...sealed, responses: { rawReasoning: 'summary' } },
    echo: 'thoughtless',
  },
  { client: 'generate-content', options: sealed },
]

describe.each(unproven)('a $client client that forgets unsigned reasoning', loop => {
  const upstream = 'chat-completions'
  const thinker = thinkerOf(upstream)
  const plain = thinker.shapes.filter(shape => signaturesOf(shape).length === 0)

  test.each(
    thinker.shapes.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))),
  )('sends all reasoning back to a chat server: $name, $form', async ({ shape, streamed }) => {
    const { received } = await converse({ ...loop, upstream, shape, streamed })
    for (const [turns, request] of received.entries()) {
      expect(strictOf(upstream).checkRequest(request)).toEqual([])
      expect(thinker.echoed(request)).toEqual(
        [1, 2, 3].slice(0, turns).map(turn => thinker.essence(shape.response(turn))),
      )
    }
  })

  test.each(plain.flatMap(shape => forms.map(form => ({ ...form, shape, name: shape.name }))))(
    'has no signature for another provider: $name, $form',
    async ({ shape, streamed }) => {
      const { last } = await converse({ ...loop, upstream, shape, streamed })
      expect(JSON.stringify(last)).toMatch(/xs1\.|eHMxLm/)
      for (const second of names.filter(name => name !== upstream)) {
        const { body, notes } = translateRequest(last, {
          from: loop.client,
          to: second,
          ...keepAll,
        })
        expect(JSON.stringify(body)).not.toMatch(/xs1\.|eHMxLm|"(signature|encrypted_content)":/)
        expect(notes.map(({ code }) => code)).toContain('reasoning.foreign-signature')
        expect(strictOf(second).checkRequest(body)).toEqual([])
      }
    },
  )
})

const switches = names.flatMap(client =>
  names.flatMap(first =>
    names.filter(second => second !== first).map(second => ({ client, first, second })),
  ),
)

describe.each(switches)(
  'a $client client that goes from a $first upstream to a $second one',
  ({ client, first, second }) => {
    const thinker = thinkerOf(first)
    const signed = thinker.shapes.filter(shape => signaturesOf(shape).length > 0)

    // Between equal protocols bytes pass; what the official library makes of a stream is its own
    // affair.
    const reported = client === first ? forms.slice(0, 1) : forms

    test.each(
      signed
        .filter(shape => !isMaker(second, shape))
        .flatMap(shape => reported.map(form => ({ ...form, shape, name: shape.name }))),
    )('sends no foreign signatures to it: $name, $form', async ({ shape, streamed }) => {
      const { last } = await converse({ client, upstream: first, shape, streamed })
      const { body, notes } = translateRequest(last, { from: client, to: second, ...keepAll })
      const written = JSON.stringify(body)
      for (const value of signaturesOf(shape)) expect(written).not.toContain(value)
      expect(written).not.toContain('xs1.')
      expect(
        notes.filter(({ code }) => code === 'reasoning.foreign-signature').length,
      ).toBeGreaterThanOrEqual(signaturesOf(shape).length)
      // The SDK of AWS writes the model into the path.
      const { modelId: _, ...sent } = body as Body
      expect(strictOf(second).checkRequest(sent)).toEqual([])
      expect(callsOf(body)).toEqual(callsOf(last))
    })
  },
)

/** Has a reseller passed on signatures that this protocol makes? They are its own, then. */
function isMaker(name: ProtocolName, shape: Shape): boolean {
  const { resold } = protocols[name]
  return resold?.issuer === name && JSON.stringify(shape.response(1)).includes(resold.format)
}

/** The signatures of all three turns. */
function signaturesOf(shape: Shape): string[] {
  return [1, 2, 3].flatMap(turn => {
    const reported: string[] = []
    JSON.stringify(shape.response(turn), (key, value: unknown) => {
      if (
        typeof value === 'string' &&
        ['signature', 'data', 'encrypted_content', 'thoughtSignature'].includes(key)
      )
        reported.push(value)
      return value
    })
    return reported
  })
}

/** Ids of calls and results, wherever they stand. */
function callsOf(body: unknown): string[] {
  return (
    JSON.stringify(body)
      .match(/(?:toolu|tooluse|call)_\d_\d|id\dx\d/g)
      ?.toSorted() ?? []
  )
}

describe.each(covered)('a %s client in the middle of a loop', client => {
  const manual: Record<Covered, object> = {
    'chat-completions': { reasoning_effort: 'high' },
    responses: { reasoning: { effort: 'high' } },
    messages: { thinking: { type: 'enabled', budget_tokens: 8192 } },
    'generate-content': { generationConfig: { thinkingConfig: { thinkingBudget: 8192 } } },
  }
  const ask = { ...manual[client], model: 'claude-opus-4-5' }
  const [shape = never()] = thinkerOf('responses').shapes
  const loop = { client, upstream: 'responses' as const, shape, streamed: false }
  const off = 'reasoning.disabled-unsigned-loop'

  test('has manual thinking off with an upstream that did not sign the loop, and on again after it', async () => {
    const { last } = await converse(loop)
    const inside = translateRequest({ ...last, ...ask }, { from: client, to: 'messages' })
    expect(inside.body).not.toHaveProperty('thinking')
    expect(inside.notes.map(({ code }) => code)).toContain(off)
    expect(strictOf('messages').checkRequest(inside.body)).toEqual([])
    const message = clientOf(client).continueWith(
      { ...last, ...ask },
      await clientOf(client).receive(translateResponse(outcome, { from: 'messages', to: client })),
      shown,
    )
    const after = translateRequest(message, { from: client, to: 'messages' })
    expect(after.body).toMatchObject({ thinking: { type: 'enabled' } })
    expect(after.notes.map(({ code }) => code)).not.toContain(off)
  })

  test('keeps adaptive thinking on', async () => {
    const { last } = await converse(loop)
    const adaptive = client === 'messages' ? { thinking: { type: 'adaptive' } } : manual[client]
    const { body } = translateRequest(
      { ...last, ...adaptive, model: 'claude-opus-5-5' },
      { from: client, to: 'messages' },
    )
    expect(body).toMatchObject({ thinking: { type: 'adaptive' } })
  })
})

const shown = { runTool: () => '', ask: 'And then?' }
const outcome = {
  id: 'msg_9',
  type: 'message',
  role: 'assistant',
  model: 'claude-opus-4-5',
  content: [{ type: 'text', text: 'It is this.', citations: null }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 8, output_tokens: 9 },
}

function never(): never {
  throw new Error('no shapes')
}
