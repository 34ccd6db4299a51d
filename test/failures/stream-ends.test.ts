import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { protocols } from '../../src/protocols/index.ts'
import { framesOf } from '../../src/testing/streams.ts'
import { strictOf } from '../../src/testing/strict/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import {
  begun,
  callEvents,
  callItem,
  chunk,
  done,
  ended,
  frame,
  messageItem,
  others,
  part,
  report,
  responsesResponse,
  responsesStream,
  shown,
  textBlock,
  textEvents,
  toolBlock,
} from './support.ts'

const opening = chunk({ role: 'assistant', content: '' })
const call = callItem('call_q', 'pay', '{"sum":100}')

/** How streams end. Complete means only what its source marked as complete. */
const endings: Record<
  Covered,
  [what: string, outcome: 'success' | 'failed', ...wires: unknown[]][]
> = {
  'chat-completions': [
    [
      'a finish reason and [DONE]',
      'success',
      opening,
      chunk({ content: 'Half' }),
      chunk({}, 'stop'),
      done,
    ],
    [
      'a finish reason without [DONE], as many servers do',
      'success',
      opening,
      chunk({ content: 'Half' }),
      chunk({}, 'stop'),
    ],
    ['nothing after its text', 'failed', opening, chunk({ content: 'Half' })],
    ['nothing after its first chunk', 'failed', opening],
    [
      'nothing in the middle of a call',
      'failed',
      opening,
      part(0, '{"sum":10', { id: 'call_q', name: 'pay' }),
    ],
    [
      'nothing after a whole call',
      'failed',
      opening,
      part(0, '{"sum":100}', { id: 'call_q', name: 'pay' }),
    ],
    [
      'an error without a frame around it, and [DONE]',
      'failed',
      opening,
      chunk({ content: 'Half' }),
      { object: 'error', message: 'engine died', code: 500 },
      done,
    ],
    [
      'words of a failure',
      'failed',
      opening,
      chunk({ content: 'Half' }),
      { detail: 'engine died' },
    ],
    [
      'words of a failure, and [DONE]',
      'failed',
      opening,
      chunk({ content: 'Half' }),
      { code: 'InternalError', message: 'engine died' },
      done,
    ],
    [
      'an error inside of its choice, and [DONE]',
      'failed',
      opening,
      {
        ...chunk({}),
        choices: [{ index: 0, delta: {}, finish_reason: null, error: { message: 'engine died' } }],
      },
      done,
    ],
    ['nothing at all', 'failed'],
  ],
  responses: [
    [
      'response.completed',
      'success',
      ...responsesStream(textEvents(0, 'Half'), responsesResponse([messageItem('Half')])),
    ],
    ['nothing after a whole text', 'failed', ...responsesStream(textEvents(0, 'Half'), undefined)],
    [
      'nothing after half a text',
      'failed',
      ...responsesStream(textEvents(0, 'Half').slice(0, 3), undefined),
    ],
    [
      'nothing in the middle of a call',
      'failed',
      ...responsesStream(callEvents(0, call, '{"sum":10').slice(0, 2), undefined),
    ],
    [
      'nothing after a whole call',
      'failed',
      ...responsesStream(callEvents(0, call, '{"sum":100}'), undefined),
    ],
    [
      '[DONE] in the place of its end',
      'failed',
      ...responsesStream(textEvents(0, 'Half').slice(0, 3), undefined),
      done,
    ],
    ['nothing at all', 'failed'],
  ],
  messages: [
    ['message_stop', 'success', begun(), ...textBlock(0, 'Half'), ...ended('end_turn')],
    [
      'the reason why it stopped',
      'success',
      begun(),
      ...textBlock(0, 'Half'),
      ...ended('end_turn').slice(0, 1),
    ],
    [
      'that reason and [DONE]',
      'success',
      begun(),
      ...toolBlock(0, 'toolu_q', 'pay', '{"sum":100}'),
      ...ended('tool_use').slice(0, 1),
      done,
    ],
    [
      'that reason inside of a block',
      'failed',
      begun(),
      ...toolBlock(0, 'toolu_q', 'pay', '{"sum":10').slice(0, 2),
      ...ended('tool_use').slice(0, 1),
    ],
    [
      'counts and no reason',
      'failed',
      begun(),
      ...textBlock(0, 'Half'),
      { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 4 } },
    ],
    ['nothing after a whole block', 'failed', begun(), ...textBlock(0, 'Half')],
    ['nothing after half a block', 'failed', begun(), ...textBlock(0, 'Half').slice(0, 2)],
    ['nothing after its start', 'failed', begun()],
    [
      'nothing in the middle of a call',
      'failed',
      begun(),
      ...toolBlock(0, 'toolu_q', 'pay', '{"sum":10').slice(0, 2),
    ],
    [
      'nothing after a whole call',
      'failed',
      begun(),
      ...toolBlock(0, 'toolu_q', 'pay', '{"sum":100}'),
    ],
    ['nothing at all', 'failed'],
  ],
  'generate-content': [
    ['a finish reason', 'success', frame([{ text: 'Half' }]), frame([{ text: '' }], 'STOP')],
    ['a finish reason beside its text', 'success', frame([{ text: 'Half' }], 'STOP')],
    ['nothing after its text', 'failed', frame([{ text: 'Half' }])],
    ['nothing after a first frame without words', 'failed', frame([])],
    [
      'nothing in the middle of a call',
      'failed',
      frame([{ functionCall: { id: 'call_q', name: 'pay', willContinue: true } }]),
      frame([
        {
          functionCall: {
            partialArgs: [{ jsonPath: '$.sum', numberValue: 10 }],
            willContinue: true,
          },
        },
      ]),
    ],
    [
      'nothing after a whole call',
      'failed',
      frame([{ functionCall: { id: 'call_q', name: 'pay', args: { sum: 100 } } }]),
    ],
    ['nothing at all', 'failed'],
  ],
}

describe.each(covered.flatMap(from => others(from).map(to => ({ from, to }))))(
  'a response of $from for a client of $to',
  ({ from, to }) => {
    test.each(endings[from])(
      'classifies a stream that ends with %s as %s',
      async (_, outcome, ...wires) => {
        const { outcome: is, response, events, notes } = report(wires, { from, to })
        expect(is).toBe(outcome)
        if (outcome === 'success') expect(await response()).toBeDefined()
        else {
          await expect(response()).rejects.toThrow()
          // Neither a normal end nor a call that a client would run.
          expect(JSON.stringify(events)).not.toMatch(
            /"finish_reason":"|"finishReason"|"message_stop"|"response\.completed"|"response\.incomplete"/,
          )
          expect(shown(notes).filter(note => note.includes('finish'))).toEqual([])
        }
      },
    )

    test('never closes a call that is cut off inside its arguments', () => {
      const [, , ...wires] = endings[from].find(([what]) => what.includes('middle of a call')) ?? []
      const text = JSON.stringify(report(wires, { from, to }).events)
      // One protocol cannot write partial calls; it may emit what it has read of one.
      if (to === 'generate-content') expect(text).not.toContain('sum')
      else if (from !== 'generate-content') expect(text).toContain('sum')
      expect(text).not.toMatch(
        /"content_block_stop"|function_call_arguments\.done|"status":"completed"|"finish_reason":"tool_calls"|functionCall/,
      )
    })

    test('reports a cut-off stream as the length limit on request, with a note', async () => {
      const [, , ...wires] =
        endings[from].find(([what]) => /^nothing after (its text|half)/.test(what)) ?? []
      const { response, notes, outcome } = report(wires, { from, to, truncated: 'length' })
      expect(outcome).toBe('success')
      const limits: Record<Covered, object> = {
        'chat-completions': { choices: [{ finish_reason: 'length' }] },
        responses: { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
        messages: { stop_reason: 'max_tokens' },
        'generate-content': { candidates: [{ finishReason: 'MAX_TOKENS' }] },
      }
      expect(await response()).toMatchObject(limits[to])
      expect(notes.map(({ code }) => code)).toContain('finish.truncated-as-length')
    })
  },
)

describe.each(covered)('a response of %s for a client of the same', protocol => {
  test.each(endings[protocol])(
    'classifies a stream that ends with %s as %s',
    (_, outcome, ...wires) => {
      const translator = createStreamTranslator({ from: protocol, to: protocol })
      const came = wires
        .map(wire => (wire === done ? 'data: [DONE]\n\n' : protocols[protocol].frames.write(wire)))
        .join('')
      const text = translator.push(came) + translator.end()
      // Clients read nothing after `[DONE]`, so the error takes its place.
      const passed = outcome === 'failed' ? came.replace(/data: \[DONE\]\n\n$/, '') : came
      expect(text.slice(0, passed.length)).toBe(passed)
      expect(text.slice(passed.length).trimStart().startsWith('data: [DONE]')).toBe(false)
      const { ending = '' } = protocols[protocol].frames
      if (outcome === 'success')
        expect(text).toBe(!ending || came.endsWith(ending) ? came : `${came}\n\n${ending}`)
      else expect(strictOf(protocol).outcome(framesOf(text).map(({ wire }) => wire))).toBe('failed')
    },
  )
})

describe('the end that servers of chat completions mean', () => {
  test.each(others('chat-completions'))(
    '[DONE] without a finish reason ends the response for a client of %s, with a note that the reason is a guess',
    async to => {
      const { outcome, notes, response } = report(
        [opening, chunk({ content: 'All of it.' }), done],
        { from: 'chat-completions', to },
      )
      expect(outcome).toBe('success')
      expect(await response()).toBeDefined()
      expect(notes.map(({ code }) => code)).toContainEqual(
        expect.stringMatching(/^finish\.(missing|approximated)$/),
      )
    },
  )
})
