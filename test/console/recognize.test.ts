import { describe, expect, test } from 'vitest'
import { examine } from '../../src/console/translate/examine.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { half, requests, responses, streams } from '../gateway/support.ts'
import { richStreams } from '../support/rich-streams.ts'

const now = 1_700_000_000
const chat = protocols['chat-completions']
const converseResponse = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}
const says = (value: unknown) => JSON.stringify(value)

describe('recognition of a pasted text', () => {
  test.each<[what: string, text: string, is: object]>([
    [
      'a request with signs of its own',
      says({ ...requests['chat-completions'], logit_bias: {} }),
      { protocol: 'chat-completions', kind: 'request' },
    ],
    [
      'a request that only one can read',
      says(requests.responses),
      { protocol: 'responses', kind: 'request' },
    ],
    [
      'contents',
      says(requests['generate-content']),
      { protocol: 'generate-content', kind: 'request' },
    ],
    [
      'a response of chat-completions',
      says(responses['chat-completions']),
      { protocol: 'chat-completions', kind: 'response' },
    ],
    [
      'a response of responses',
      says(responses.responses),
      { protocol: 'responses', kind: 'response' },
    ],
    [
      'a response of messages',
      says(responses.messages),
      { protocol: 'messages', kind: 'response' },
    ],
    [
      'a response of generate-content',
      says(responses['generate-content']),
      { protocol: 'generate-content', kind: 'response' },
    ],
    [
      'a stream of chat-completions',
      streams['chat-completions'].join(''),
      { protocol: 'chat-completions', kind: 'stream' },
    ],
    [
      'a stream of responses',
      streams.responses.join(''),
      { protocol: 'responses', kind: 'stream' },
    ],
    ['a stream of messages', streams.messages.join(''), { protocol: 'messages', kind: 'stream' }],
    [
      'a stream of generate-content',
      streams['generate-content'].join(''),
      { protocol: 'generate-content', kind: 'stream' },
    ],
    [
      'a request of converse',
      says({
        messages: [{ role: 'user', content: [{ text: 'Hi' }] }],
        system: [{ text: 'Be brief' }],
      }),
      { protocol: 'converse', kind: 'request' },
    ],
    ['a response of converse', says(converseResponse), { protocol: 'converse', kind: 'response' }],
    [
      'a stream of converse',
      richStreams.converse['thinking, cited text and calls']
        ?.map(protocols.converse.frames.write)
        .join('') ?? '',
      { protocol: 'converse', kind: 'stream' },
    ],
    [
      'a stream behind a byte order mark, a comment and CRLF',
      `\uFEFF: hi\r\n\r\n${streams.messages.join('').replaceAll('\n', '\r\n')}`,
      { protocol: 'messages' },
    ],
    [
      'a stream as a list',
      says([responses['generate-content']]),
      { protocol: 'generate-content', kind: 'stream' },
    ],
  ])('%s', async (_, text, is) => {
    const examined = await examine(text, { now })
    expect(examined).toMatchObject(is)
    expect(examined.fault).toBeUndefined()
    expect(examined.reasons.length).toBeGreaterThan(0)
    expect(examined.targets.map(({ protocol }) => protocol).sort()).toEqual(
      Object.keys(protocols)
        .filter(name => name !== examined.protocol)
        .sort(),
    )
    expect(examined.targets.map(({ fault }) => fault)).toEqual(
      protocolNames.slice(1).map(() => undefined),
    )
  })

  test('chooses the most common protocol when several fit, and offers the others', async () => {
    const examined = await examine(says(requests['chat-completions']), { now })
    expect(examined).toMatchObject({
      protocol: 'chat-completions',
      kind: 'request',
      reasons: [expect.stringContaining('nothing in it identifies')],
    })
    expect(examined.fault).toBeUndefined()
    expect(examined.targets).toHaveLength(protocolNames.length - 1)
    expect(examined.choices).toEqual([{ protocol: 'messages', kind: 'request' }])
  })

  test('uses the protocol and kind that the user chose', async () => {
    const examined = await examine(says(requests['chat-completions']), {
      now,
      protocol: chat,
      kind: 'request',
    })
    expect(examined).toMatchObject({ protocol: 'chat-completions', kind: 'request', choices: [] })
    expect(examined.targets.map(({ protocol }) => protocol)).toEqual(
      protocolNames.filter(name => name !== 'chat-completions'),
    )
  })
})

describe('reports unreadable input with its path', () => {
  test.each<[what: string, text: string, fault: object]>([
    ['nothing at all', ' \n', { message: expect.stringContaining('nothing to read') }],
    [
      'JSON with a gap',
      '{\n  "model": "m",\n  "messages": [,]\n}',
      { message: 'this is not JSON: line 3, column 16', at: 33 },
    ],
    [
      'JSON that ends too early',
      '{"model": "m"',
      { message: expect.stringContaining('line 1, column 14'), at: 13 },
    ],
    ['a comma too many', '{"a": 1,}', { at: 8 }],
    ['a comma too few', '[1 2]', { at: 3 }],
    ['half a word', '{"a": nul}', { at: 6 }],
    ['a line break in a text', '"a\nb"', { at: 2 }],
    ['an escape that there is not', '{"a": "\\x"}', { at: 7 }],
    ['single quotes', "{'a': 1}", { at: 1 }],
    ['something behind it', '{"a": [true, -1.5e3, null, {}, []]} x', { at: 36 }],
    ['a number that begins with zero', '{"a": 01}', { at: 7 }],
    ['prose', 'Hello there', { message: 'this is not JSON: line 1, column 1', at: 0 }],
    [
      'one event without its frame',
      says({ type: 'message_stop' }),
      { message: expect.stringContaining('one event') },
    ],
    [
      'an object of no protocol',
      says({ colour: 'red' }),
      { message: expect.stringContaining('no protocol') },
    ],
    [
      'a stream of no protocol',
      'data: {"colour":"red"}\n\n',
      { message: expect.stringContaining('no protocol') },
    ],
  ])('%s', async (_, text, fault) => {
    const examined = await examine(text, { now })
    expect(examined).toMatchObject({ fault, targets: [] })
  })

  test('reports a message without a role at its path', async () => {
    const examined = await examine(
      says({ model: 'm', messages: [{ content: 'Hi' }], logit_bias: {} }),
      { now },
    )
    expect(examined).toMatchObject({
      protocol: 'chat-completions',
      fault: { path: '/messages/0/role' },
      targets: [],
    })
    expect(examined.fault?.message).toContain('/messages/0/role')
  })

  test('refuses text without frames as a stream, whatever kind is selected', async () => {
    const examined = await examine(says(responses.messages), {
      now,
      protocol: protocols.messages,
      kind: 'stream',
    })
    expect(examined).toMatchObject({
      fault: { message: expect.stringContaining('no event') },
      targets: [],
    })
  })

  test('reports a truncated stream as truncated, without a round trip comparison', async () => {
    const { targets } = await examine(half('messages').join(''), { now })
    for (const { text, differences, noReturn } of targets) {
      expect(text).toContain('Hel')
      expect(text).not.toMatch(/"finish_reason":"stop"|response\.completed|"STOP"/)
      expect({ differences, noReturn }).toMatchObject({
        differences: [],
        noReturn: { message: expect.stringContaining('ended before') },
      })
    }
  })

  test('accepts an error response as a response', async () => {
    const body = { error: { message: 'Overheated', type: 'server_error', param: null, code: null } }
    const { targets } = await examine(says(body), { now, protocol: chat, kind: 'response' })
    expect(targets.map(target => says(target.body).includes('Overheated'))).toEqual(
      protocolNames.slice(1).map(() => true),
    )
  })
})
