import { describe, expect, test } from 'vitest'
import { explode } from '../../src/canonical/explode.ts'
import type { Message, Part, Signature } from '../../src/canonical/message.ts'
import type { CanonicalResponse } from '../../src/canonical/response.ts'
import { createStreamTranslator } from '../../src/index.ts'
import { all } from '../../src/testing/bodies.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf, type Echo } from '../support/clients/index.ts'
import { written } from '../support/written.ts'

/** A provider that signs calls and texts, which no client of the wires here takes for its own. */
const signature = (value: string): { signature: Signature } => ({
  signature: { value, issuer: 'elsewhere', model: 'gemini-3-pro', form: 'thought' },
})
const call = (nth: number, signed?: string): Part => ({
  type: 'tool-call',
  id: `call_${nth}`,
  name: 'lookup',
  kind: 'function',
  input: `{"nth":${nth}}`,
  ...(signed && signature(signed)),
})
const text = (message: string, signed?: string): Part => ({
  type: 'text',
  text: message,
  ...(signed && signature(signed)),
})
const thought = (message: string, signed?: string): Part => ({
  type: 'reasoning',
  segments: [{ kind: 'summary', text: message }],
  ...(signed && signature(signed)),
})

const shapes: { name: string; parts: Part[] }[] = [
  { name: 'on a call', parts: [call(1, 'A')] },
  { name: 'on the first of two calls', parts: [call(1, 'A'), call(2)] },
  { name: 'on each of two calls', parts: [call(1, 'A'), call(2, 'B')] },
  { name: 'on the second call', parts: [text('Looking. '), call(1), call(2, 'B')] },
  { name: 'on a call after reasoning', parts: [thought('Hm.', 'T'), call(1, 'A')] },
  { name: 'on a call after text', parts: [thought('Hm.', 'T'), text('Looking. '), call(1, 'A')] },
  { name: 'on the last text', parts: [text('It is this.', 'A')] },
  { name: 'on a text before a call', parts: [text('Looking. ', 'A'), call(1)] },
  { name: 'on an empty text after the response', parts: [text('It is this.'), text('', 'A')] },
  { name: 'on reasoning and on the text', parts: [thought('Hm.', 'T'), text('It is this.', 'A')] },
]

const question = {
  model: 'any',
  ask: 'What is it?',
  tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
}
const forms = [
  { form: 'whole', streamed: false },
  { form: 'streamed', streamed: true },
]

const protocolOf = (name: string) => all.find(one => one.name === name) as (typeof all)[number]

function reportedTo(
  protocol: (typeof all)[number],
  parts: Part[],
  streamed: boolean,
  options: object = {},
) {
  const finish = {
    reason: parts.some(({ type }) => type === 'tool-call')
      ? ('tool_calls' as const)
      : ('stop' as const),
  }
  const response: CanonicalResponse = {
    id: 'response_1',
    model: 'gemini-3-pro',
    createdAt: 1,
    candidates: [{ index: 0, messages: [{ role: 'assistant', origin: 'message', parts }], finish }],
  }
  if (!streamed) {
    const { wire, notes, signatures } = protocol.encodeResponse(response, options)
    return { body: wire, notes, signatures }
  }
  const state = protocol.streamEncoder.initial(options)
  let frames = ''
  const write = (wire: unknown) => {
    frames += protocol.frames.write(wire)
  }
  for (const event of explode(response)) protocol.streamEncoder.step(state, event, write)
  protocol.streamEncoder.end(state, write)
  return { text: frames, notes: state.notes, signatures: state.signatures }
}

describe.each(all)('a $name client keeps a signature', protocol => {
  const { open, receive, continueWith } = clientOf(protocol.name)

  const reported = (parts: Part[], streamed: boolean, options: object) =>
    reportedTo(protocol, parts, streamed, options)

  async function echoed(
    parts: Part[],
    streamed: boolean,
    { echo, ...options }: { echo?: Echo; signatures?: string } = {},
  ) {
    const response = reported(parts, streamed, options)
    expect(
      response.notes.filter(
        ({ code }) =>
          code.startsWith('reasoning.') &&
          !['reasoning.signature-empty', 'reasoning.dialect-field'].includes(code),
      ),
    ).toEqual([])
    const next = continueWith(open(question), await receive(response), {
      runTool: () => 'found',
      ask: 'And then?',
      ...(echo && { echo }),
    })
    const { value } = protocol.decodeRequest(next, {
      storedSignatures: (id: string) => response.signatures?.[id],
    } as object)
    return value.messages.filter(({ role }) => role === 'assistant').flatMap(essence)
  }

  test.each(shapes.flatMap(shape => forms.map(form => ({ ...shape, ...form }))))(
    '$name, $form',
    async ({ parts, streamed }) => {
      expect(await echoed(parts, streamed)).toEqual(essence({ parts }))
    },
  )

  if (protocol.name === 'chat-completions')
    test.each(
      shapes
        .filter(({ parts }) => parts.some(({ type }) => type === 'tool-call'))
        .flatMap(shape => forms.map(form => ({ ...shape, ...form }))),
    )('$name, $form, with what the caller keeps', async ({ parts, streamed }) => {
      expect(await echoed(parts, streamed, { echo: 'rebuilt', signatures: 'store' })).toEqual(
        essence({ parts }),
      )
    })

  test('$name without a part is reported, and never sent', () => {
    const response = reported([call(1, 'SECRET')], false, {})
    const [{ name }] = all.filter(one => one !== protocol) as [(typeof all)[number]]
    for (const other of [protocol, ...all.filter(one => one.name === name)]) {
      const { value } = protocol.decodeResponse(response.body)
      const result: Part = {
        type: 'tool-result',
        callId: 'call_1',
        kind: 'function',
        content: [text('found')],
      }
      const messages: Message[] = [
        { role: 'user', origin: 'message', parts: [text('What?')] },
        ...(value.candidates[0]?.messages ?? []),
        { role: 'tool', origin: 'message', parts: [result] },
      ]
      const { wire, notes } = written({ model: 'claude-opus-5-5', messages }, other)
      expect(JSON.stringify(wire)).not.toMatch(/SECRET|xs1\./)
      expect(notes.map(({ code }) => code)).toContain('reasoning.foreign-signature')
      expect(strictOf(other.name).checkRequest(wire)).toEqual([])
    }
  })
})

describe.each(forms)(
  'a messages client that takes the last block for the response, of a response without calls, $form',
  ({ streamed }) => {
    const ending = shapes.filter(({ parts }) => !parts.some(({ type }) => type === 'tool-call'))

    // Claude Code prints the last block, and nothing where that is no text.
    test.each(ending)('ends with the text, and notes the signature $name', async ({ parts }) => {
      const { receive } = clientOf('messages')
      const response = reportedTo(protocolOf('messages'), parts, streamed, {
        lastSignature: 'drop',
      })
      const { content } = (await receive(response)) as { content: { type: string }[] }
      expect(content.at(-1)?.type).toBe('text')
      // In a complete response the signature of a text goes before it; in a stream it comes too
      // late.
      const isInFront = !streamed && content.at(-2)?.type === 'redacted_thinking'
      expect(response.notes.map(({ code }) => code).includes('reasoning.trailing-signature')).toBe(
        !isInFront,
      )
      if (parts.some(part => part.type === 'text' && part.text !== '' && part.signature))
        expect(isInFront).toBe(!streamed)
    })

    test('keeps a signature when there is no other block', async () => {
      const response = reportedTo(protocolOf('messages'), [text('', 'A')], streamed, {
        lastSignature: 'drop',
      })
      const { content } = (await clientOf('messages').receive(response)) as {
        content: { type: string }[]
      }
      expect(content.map(({ type }) => type)).toEqual(['redacted_thinking'])
      expect(response.notes.map(({ code }) => code)).not.toContain('reasoning.trailing-signature')
    })
  },
)

test('a complete response without calls ends in its text for any messages client', async () => {
  const response = reportedTo(protocolOf('messages'), [text('Hello', 'A')], false)
  const { content } = (await clientOf('messages').receive(response)) as {
    content: { type: string }[]
  }
  expect(content.map(({ type }) => type)).toEqual(['redacted_thinking', 'text'])
})

/** Signatures that a chat server sends after the response, which streams can place nowhere else. */
test.each([
  ['of reasoning', [{ reasoning_content: 'Hm.' }, { content: 'It is' }, { content: ' this.' }]],
  ['without reasoning', [{ content: 'It is' }, { content: ' this.' }]],
])(
  'a stream whose signature %s comes last ends in its text for a client that takes the last block for the response',
  async (_, deltas) => {
    const proven = {
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'c2VhbGVk', index: 0 }],
    }
    const chunk = (delta: object, finish_reason: string | null = null) =>
      `data: ${JSON.stringify({ id: 'c', model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    const translator = createStreamTranslator({
      from: 'chat-completions',
      to: 'messages',
      messages: { lastSignature: 'drop' },
    })
    const chunks = [
      ...[...deltas, proven].map(delta => chunk(delta)),
      chunk({}, 'stop'),
      'data: [DONE]\n\n',
    ]
    const reported = chunks.map(part => translator.push(part)).join('') + translator.end()
    const { content } = (await clientOf('messages').receive({ text: reported })) as {
      content: { type: string }[]
    }
    expect(content.at(-1)).toMatchObject({ type: 'text', text: 'It is this.' })
    expect(translator.notes.map(({ code }) => code)).toContain('reasoning.trailing-signature')
  },
)

/** Content in order, with its signatures. */
function essence({ parts }: Pick<Message, 'parts'>) {
  // An empty text says nothing, unless it is signed (2.2).
  return parts
    .filter(part => part.type !== 'text' || part.text || part.signature)
    .map(part => {
      const { value, issuer, model, form } = part.signature ?? {}
      const signed = part.signature ? { signature: { value, issuer, model, form } } : {}
      if (part.type === 'text') return { text: part.text, ...signed }
      if (part.type === 'reasoning')
        return { thought: part.segments.map(segment => segment.text), ...signed }
      return part.type === 'tool-call'
        ? { id: part.id, input: JSON.parse(part.input) as unknown, ...signed }
        : part.type
    })
}
