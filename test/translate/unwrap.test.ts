import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { startUnwrapping, unwrapText } from '../../src/translate/unwrap.ts'

function unwrap(chunks: string[]) {
  const state = startUnwrapping()
  const out = chunks.map(chunk => unwrapText(state, chunk))
  return { text: out.join(''), out, state }
}

describe('the text inside {"input":"…"}', () => {
  test('is emitted unescaped as it arrives', () => {
    const { out, state } = unwrap(['{"inp', 'ut":"*** Be', 'gin\\', 'n\\u00', 'e9"}'])
    expect(out).toEqual(['', '*** Be', 'gin', '\n', 'é'])
    expect(state.phase).toBe('closed')
  })

  test.each([
    ['{"input":"ls","timeout":5}', 'beside'],
    ['{"input":"ls"} and so on', 'beside'],
    ['{"input":"ls"}}', 'beside'],
    ['{"input":"ls" \n} ', 'closed'],
    ['{"input":"ls"', 'after'],
  ])('of %s reports what came after the string', (json, phase) => {
    for (const chunks of [[json], [...json]])
      expect(unwrap(chunks)).toMatchObject({ text: 'ls', state: { phase } })
  })

  test('may continue after a numeric escape with a character that could be one more digit', () => {
    expect(unwrap(['{"input":"caf\\u00e9a"}']).text).toBe('caféa')
  })

  test('is restored for any string, with any escapes and any split', () => {
    const spelled = fc
      .string({ unit: 'binary' })
      .chain(text =>
        fc.tuple(
          fc.constant(text),
          fc.constantFrom(0, 1, 2),
          fc.array(fc.nat(40), { maxLength: 8 }),
        ),
      )
    fc.assert(
      fc.property(spelled, ([text, every, cuts]) => {
        // Every character by its number, every other one, or none that can do without.
        const escaped =
          every === 0
            ? JSON.stringify(text).slice(1, -1)
            : text.replace(/[\s\S]/g, (char, place: number) =>
                place % every === 0
                  ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
                  : JSON.stringify(char).slice(1, -1),
              )
        const json = ` { "input" : "${escaped}" } `
        const chunks: string[] = []
        let rest = json
        for (const cut of cuts) {
          chunks.push(rest.slice(0, cut))
          rest = rest.slice(cut)
        }
        const { text: got, out } = unwrap([...chunks, rest])
        expect(got).toBe(text)
        for (const chunk of out) expect(chunk.isWellFormed()).toBe(true)
      }),
    )
  })

  test.each(['{"other":"x"}', '["input"]', '{"input":5}', 'plain text', '{}'])(
    '%s is something else and stays as it is',
    json => {
      const { text, state } = unwrap([...json])
      expect(text).toBe(json)
      expect(state.phase).toBe('raw')
    },
  )
})

test('keeps input that was cut in the middle of an escape', () => {
  const events = [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'm',
        content: [],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'toolu_1', name: 'sh', input: {} },
    },
    {
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: '{"input":"ls \\' },
    },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'max_tokens', stop_sequence: null },
      usage: { output_tokens: 9 },
    },
    { type: 'message_stop' },
  ]
  const context = {
    from: 'chat-completions',
    to: 'messages',
    tools: { sh: { name: 'sh', wrapped: true } },
  }
  const translator = createStreamTranslator({ from: 'messages', to: 'chat-completions', context })
  const frames = framesOf(
    translator.push(events.map(event => `data: ${JSON.stringify(event)}\n\n`).join('')) +
      translator.end(),
  )
  const message = frames.map(
    ({ wire }) =>
      (wire as { choices?: { delta?: { tool_calls?: { custom?: { input?: string } }[] } }[] })
        .choices?.[0]?.delta,
  )
  expect(
    message
      .flatMap(delta => delta?.tool_calls?.map(({ custom }) => custom?.input ?? '') ?? [])
      .join(''),
  ).toBe('ls \\')
  expect(translator.notes.map(({ code }) => code)).toContain('freeform.unwrap-failed')
})

test('notes arguments after the string', () => {
  const call = {
    index: 0,
    id: 'call_1',
    type: 'function',
    function: { name: 'sh', arguments: '{"input":"ls","timeout":5}' },
  }
  const chunks = [
    { delta: { tool_calls: [call] } },
    { delta: {}, finish_reason: 'tool_calls' },
  ].map(choice => ({
    id: 'c',
    choices: [{ index: 0, ...choice }],
  }))
  const context = {
    from: 'responses',
    to: 'chat-completions',
    tools: { sh: { name: 'sh', wrapped: true } },
  }
  const translator = createStreamTranslator({ from: 'chat-completions', to: 'responses', context })
  const text =
    translator.push(chunks.map(chunk => `data: ${JSON.stringify(chunk)}\n\n`).join('')) +
    translator.end()
  expect(text).toContain('"input":"ls"')
  expect(translator.notes).toContainEqual(
    expect.objectContaining({
      code: 'freeform.extra-arguments',
      kind: 'dropped',
      path: '/choices/0/message/tool_calls/0',
    }),
  )
})
