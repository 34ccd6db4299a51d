import { describe, expect, test } from 'vitest'
import { createStreamTranslator, type ProtocolName } from '../../src/index.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { clientOf } from '../support/clients/index.ts'
import { translateRequest, translateResponse } from '../support/untyped.ts'

/**
 * The phase of a message of responses comes back to its server from clients of the other protocols,
 * which know none.
 */

type Item = Record<string, unknown>
const text = (message: string, phase?: string): Item => ({
  type: 'message',
  id: `msg_${message}`,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: message, annotations: [] }],
  ...(phase && { phase }),
})
const call: Item = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'call_1',
  name: 'lookup',
  arguments: '{}',
  status: 'completed',
}
const thought: Item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'SEALED' }

const responses: { name: string; output: Item[] }[] = [
  { name: 'of a preamble before a call', output: [text('Looking.', 'commentary'), call] },
  {
    name: 'of a preamble after reasoning',
    output: [thought, text('Looking.', 'commentary'), call],
  },
  { name: 'of a response', output: [text('Found.', 'final_answer')] },
  {
    name: 'of a preamble and a response',
    output: [text('Looking.', 'commentary'), text('Found.', 'final_answer')],
  },
  {
    name: 'of a response after a text without one',
    output: [text('Hm.'), call, text('Found.', 'final_answer')],
  },
]

const response = (output: Item[]) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt',
  output,
  usage: null,
})

function streamOf(output: Item[]): string {
  const events: Item[] = [
    { type: 'response.created', response: { ...response([]), status: 'in_progress' } },
  ]
  output.forEach((item, output_index) => {
    const { content, ...head } = item
    events.push({
      type: 'response.output_item.added',
      output_index,
      item: content ? { ...head, content: [] } : item,
    })
    if (content) {
      const at = { output_index, content_index: 0, item_id: item['id'] }
      const [part] = content as [{ text: string }]
      const half = part.text.length / 2
      events.push({ type: 'response.content_part.added', ...at, part: { ...part, text: '' } })
      for (const delta of [part.text.slice(0, half), part.text.slice(half)])
        events.push({ type: 'response.output_text.delta', ...at, delta })
      events.push(
        { type: 'response.output_text.done', ...at, text: part.text },
        { type: 'response.content_part.done', ...at, part },
      )
    }
    events.push({ type: 'response.output_item.done', output_index, item })
  })
  events.push({ type: 'response.completed', response: response(output) })
  return events
    .map(
      (event, n) =>
        `event: ${event['type']}\ndata: ${JSON.stringify({ sequence_number: n, ...event })}\n\n`,
    )
    .join('')
}

const question = {
  model: 'gpt',
  ask: 'What is it?',
  tools: [{ name: 'lookup', schema: { type: 'object', properties: {} } }],
}

function reported(output: Item[], to: ProtocolName, streamed: boolean) {
  const settings = { from: 'responses' as const, to }
  if (!streamed) {
    const { body, notes } = translateResponse(response(output), settings)
    return { body, notes }
  }
  const translator = createStreamTranslator(settings)
  return { text: translator.push(streamOf(output)) + translator.end(), notes: translator.notes }
}

const phasesIn = (items: unknown) =>
  (items as Item[])
    .filter(({ type, role }) => type === 'message' && role === 'assistant')
    .map(({ content, phase }) => [textIn(content), phase])
const textIn = (content: unknown) =>
  typeof content === 'string'
    ? content
    : (content as { text: string }[]).map(one => one.text).join('')
const expected = (output: Item[]) => phasesIn(output)

const forms = [
  { form: 'whole', streamed: false },
  { form: 'streamed', streamed: true },
]

describe.each(['messages', 'generate-content', 'chat-completions'] as const)(
  '%s clients keep the phase',
  client => {
    const { open, receive, continueWith } = clientOf(client)
    const next = async (output: Item[], streamed: boolean) => {
      const body = reported(output, client, streamed)
      expect(body.notes.filter(({ path }) => path.endsWith('/phase'))).toEqual([])
      return continueWith(open(question), await receive(body), {
        runTool: () => 'found',
        ask: 'And then?',
      })
    }

    test.each(responses.flatMap(result => forms.map(form => ({ ...result, ...form }))))(
      '$name, $form',
      async ({ output, streamed }) => {
        const { body } = translateRequest(await next(output, streamed), {
          from: client,
          to: 'responses',
          model: 'gpt',
        })
        expect(phasesIn((body as { input: unknown }).input)).toEqual(expected(output))
      },
    )

    test.each(
      (['messages', 'generate-content', 'chat-completions'] as const).filter(to => to !== client),
    )('%s servers never receive it', async to => {
      const { body, notes } = translateRequest(
        await next([text('Looking.', 'commentary'), call], false),
        { from: client, to, model: 'other' },
      )
      expect(JSON.stringify(body)).not.toMatch(/commentary|xs1\.|eHMxL/)
      const lost = notes.filter(
        ({ code }) => code === (to === 'chat-completions' ? 'message.phase' : 'field.unsupported'),
      )
      expect(lost.map(({ path }) => path)).toContainEqual(
        expect.stringMatching(/^\/(messages|contents)\/1\/(content|parts)(\/\d)?$/),
      )
      expect(strictOf(to).checkRequest(body)).toEqual([])
    })
  },
)

test('keeps both phases for a messages client that moves thinking to the front', () => {
  const { content } = reported(
    [text('Looking.', 'commentary'), text('Found.', 'final_answer')],
    'messages',
    false,
  ).body as { content: { type: string }[] }
  const sorted = [
    ...content.filter(({ type }) => type !== 'text'),
    ...content.filter(({ type }) => type === 'text'),
  ]
  const received = {
    model: 'gpt',
    max_tokens: 99,
    messages: [
      { role: 'user', content: 'x' },
      { role: 'assistant', content: sorted },
      { role: 'user', content: 'y' },
    ],
  }
  const { body } = translateRequest(received, { from: 'messages', to: 'responses' })
  expect(phasesIn((body as { input: unknown }).input)).toEqual([
    ['Looking.', 'commentary'],
    ['Found.', 'final_answer'],
  ])
})

test.each(['messages', 'generate-content'] as const)(
  'passes the phase through a second gateway over %s',
  between => {
    const output = [text('Looking.', 'commentary'), call]
    const { body } = translateResponse(reported(output, between, false).body, {
      from: between,
      to: 'responses',
    })
    expect(phasesIn((body as { output: unknown }).output)).toEqual(expected(output))
    const translator = createStreamTranslator({ from: between, to: 'responses' })
    const frames = translator.push(reported(output, between, true).text ?? '') + translator.end()
    const done =
      frames
        .split('\n')
        .find(line => line.includes('response.completed') && line.startsWith('data:')) ?? ''
    expect(phasesIn(JSON.parse(done.slice(5)).response.output)).toEqual(expected(output))
  },
)

test.each(['messages', 'generate-content'] as const)(
  'a refusal behind a text, written as text for clients of %s, has the phase of the text',
  to => {
    const content = [
      { type: 'output_text', text: 'Looking.', annotations: [] },
      { type: 'refusal', refusal: 'No.' },
    ]
    const { body } = reported(
      [
        {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          phase: 'commentary',
          content,
        },
      ],
      to,
      false,
    )
    const blocks =
      to === 'messages'
        ? (body as { content: Item[] }).content
        : (body as { candidates: { content: { parts: Item[] } }[] }).candidates[0]?.content.parts
    expect(blocks?.map(block => block['text'] || 'phase')).toEqual([
      'phase',
      'Looking.',
      'phase',
      'No.',
    ])
  },
)
