import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator, TranslationError } from '../../src/index.ts'
import type { ProtocolName } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Example, outcomeOf } from '../support/examples/example.ts'
import { noteGroups } from '../support/examples/index.ts'
import { blocks, chat, items } from '../support/examples/wires.ts'
import {
  collectStream,
  explodeResponse,
  translateError,
  translateRequest,
  translateResponse,
} from '../support/untyped.ts'

const thrownBy = (act: () => unknown): TranslationError => {
  try {
    act()
  } catch (error) {
    if (TranslationError.is(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

const examples = noteGroups.flatMap(({ name, notes, examples: known }) =>
  Object.entries(known)
    .filter(([, { from }]) => from !== 'canonical')
    .map(([code, example]) => ({
      name: `${name} ${code}`,
      kind: notes[code]?.kind ?? 'dropped',
      code,
      example,
    })),
)
const whole = examples.filter(({ example }) => example.kind !== 'stream')
const streams = examples.filter(({ example }) => example.kind === 'stream')

const strictly = (
  example: Example,
  strict: boolean | Parameters<typeof translateRequest>[1]['strict'] = true,
): Example => ({
  ...example,
  options: { ...example.options, ...(strict !== undefined && { strict }) },
})

describe('a body whose translation makes a note', () => {
  test.each(whole)(
    '$name is refused with all notes where its kind is forbidden',
    ({ code, kind, example }) => {
      const { notes } = outcomeOf(example)
      const error = thrownBy(() => outcomeOf(strictly(example, [kind])))
      expect(error).toMatchObject({ code: 'inexpressible', protocol: example.to, notes })
      expect(error.path).toBe(notes.find(note => note.kind === kind)?.path)
      expect(error.message).toContain(notes.find(note => note.kind === kind)?.code ?? code)
    },
  )

  test.each(whole)('$name is translated where other kinds are forbidden', ({ example }) => {
    const { notes, target } = outcomeOf(example)
    const others = (['dropped', 'approximated', 'synthesized'] as const).filter(kind =>
      notes.every(note => note.kind !== kind),
    )
    expect(outcomeOf(strictly(example, others))).toEqual({ notes, target })
  })

  test('`strict: true` accepts synthesized values', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'hi' }] }
    const { notes } = translateRequest(body, {
      from: 'chat-completions',
      to: 'messages',
      strict: true,
    })
    expect(notes.map(({ kind }) => kind)).toEqual(['synthesized'])
  })
})

describe('a stream whose translation makes a note', () => {
  test.each(streams)(
    '$name ends as failed, legally, where its kind is forbidden',
    ({ kind, example }) => {
      const { target, notes } = outcomeOf(strictly(example, [kind]))
      const { checkStream, outcome } = strictOf(example.to)
      expect(checkStream(target as unknown[])).toEqual([])
      expect(outcome(target as unknown[])).toBe('failed')
      expect(notes.some(note => note.kind === kind)).toBe(true)
    },
  )

  test.each(streams)('$name is translated where other kinds are forbidden', ({ example }) => {
    const { notes, target } = outcomeOf(example)
    const others = (['dropped', 'approximated', 'synthesized'] as const).filter(kind =>
      notes.every(note => note.kind !== kind),
    )
    expect(outcomeOf(strictly(example, others))).toEqual({ notes, target })
  })

  const wire = (events: unknown[]) =>
    events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')
  const message = [
    ...blocks.block(0, { type: 'text', text: 'yes' }),
    { type: 'content_block_start', index: 1, content_block: { type: 'novelty', secret: 'word' } },
    { type: 'content_block_stop', index: 1 },
    ...blocks.block(2, { type: 'text', text: 'more' }),
  ]

  test.each(['chat-completions', 'responses'] as const)(
    'to %s: the output before it is sent, the error has code and path, and nothing follows',
    to => {
      const translator = createStreamTranslator({ from: 'messages', to, strict: ['dropped'] })
      const text = translator.push(wire(blocks.stream(message)))
      expect(text).toContain('yes')
      expect(text).not.toContain('more')
      expect(translator.push(wire(message)) + translator.end()).toBe('')
      expect(translator).toMatchObject({ finished: false, error: { kind: 'unsupported' } })
      const first = translator.notes.find(({ kind }) => kind === 'dropped')
      expect(translator.error?.message).toContain(`(${first?.code} at ${first?.path})`)
      expect(text).not.toContain('word')
      expect(strictOf(to).checkStream(framesOf(text).map(frame => frame.wire))).toEqual([])
    },
  )

  test.each(['chat-completions', 'responses'] as const)(
    'to %s: any split of the bytes gives the same text',
    to => {
      const bytes = new TextEncoder().encode(wire(blocks.stream(message)))
      const at = (cuts: number[]) => {
        const translator = createStreamTranslator({ from: 'messages', to, strict: true })
        const edges = [0, ...cuts.toSorted((a, b) => a - b), bytes.length]
        return (
          edges
            .slice(1)
            .map((edge, i) => translator.push(bytes.slice(edges[i], edge)))
            .join('') + translator.end()
        )
      }
      const expected = at([])
      fc.assert(
        fc.property(
          fc.array(fc.nat(bytes.length), { maxLength: 6 }),
          cuts => at(cuts) === expected,
        ),
        { numRuns: 50 },
      )
    },
  )

  test('the error itself makes no notes: a refused stream has those of a refused response', () => {
    const response = chat.response({ role: 'assistant', content: 'Hi' }, {}, { created: 7 })
    const route = { from: 'chat-completions', to: 'messages', strict: true } as const
    const { notes } = thrownBy(() => translateResponse(response, route))
    const translator = createStreamTranslator(route)
    translator.push(explodeResponse(response, { protocol: 'chat-completions' }))
    translator.end()
    expect(notes).not.toEqual([])
    expect(translator.notes).toEqual(notes)
  })

  test('never emits a refused approximate end', () => {
    const translator = createStreamTranslator({
      from: 'messages',
      to: 'chat-completions',
      strict: true,
    })
    const text =
      translator.push(
        wire(
          blocks.stream(blocks.block(0, { type: 'text', text: 'yes' }), {
            stop_reason: 'pause_turn',
          }),
        ),
      ) + translator.end()
    expect(text).toContain('yes')
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('"finish_reason":"stop"')
    expect(translator).toMatchObject({ finished: false, error: { kind: 'unsupported' } })
  })

  test('an upstream that failed itself is reported unchanged', () => {
    const failed = [{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }]
    const translator = createStreamTranslator({
      from: 'messages',
      to: 'chat-completions',
      strict: true,
    })
    expect(translator.push(wire(failed)) + translator.end()).toContain('Overloaded')
    expect(translator.error?.kind).toBe('overloaded')
  })
})

describe('between equal protocols, strict', () => {
  const responses: [ProtocolName, object][] = [
    ['chat-completions', chat.response({ content: 'yes' })],
    ['responses', items.response([items.text('yes')])],
    ['messages', blocks.response([{ type: 'text', text: 'yes' }])],
  ]

  test.each(responses)(
    'reads a response of %s all the same, and changes nothing of it',
    (protocol, body) => {
      const options = { from: protocol, to: protocol, strict: true }
      expect(translateResponse(body, options)).toEqual({ body, notes: [] })
      expect(
        thrownBy(() => translateResponse({ ...body, choices: 1, output: 1, content: 1 }, options))
          .code,
      ).toBe('malformed')
      const odd = { ...body, novelty: 1 }
      expect(translateResponse(odd, options)).toEqual({ body: odd, notes: [] })
    },
  )

  test.each(responses)('lets a stream of %s pass, and an error too', (protocol, body) => {
    const text = explodeResponse(body, { protocol, strict: ['dropped', 'approximated'] })
    const translator = createStreamTranslator({ from: protocol, to: protocol, strict: true })
    expect(translator.push(text) + translator.end()).toBe(text)
    const error = { status: 418, headers: {}, body: 'teapot' }
    expect(translateError(error, { from: protocol, to: protocol, strict: true })).toEqual({
      ...error,
      notes: [],
    })
  })

  test('a collected stream is refused for what could not be read of it', async () => {
    const text = `data: <html>\n\n${explodeResponse(blocks.response([{ type: 'text', text: 'yes' }]), { protocol: 'messages' })}`
    expect(
      (await collectStream([text], { protocol: 'messages' })).notes.map(({ code }) => code),
    ).toEqual(['stream.unreadable-frame'])
    await expect(
      collectStream([text], { protocol: 'messages', strict: true }),
    ).rejects.toMatchObject({ code: 'inexpressible' })
  })
})
