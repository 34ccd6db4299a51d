import { describe, expect, test } from 'vitest'
import { createStreamTranslator } from '../../src/api.ts'
import { protocols } from '../../src/protocols/index.ts'
import { type Covered, covered } from '../support/covered.ts'
import { sampled } from '../support/sampled.ts'
import {
  begun,
  chunk,
  done,
  ended,
  frame,
  messageItem,
  others,
  report,
  responsesResponse,
  responsesStream,
  textBlock,
  textEvents,
} from './support.ts'

const words = 'Grüße 世界 👩‍🚀!'

const streams: Record<Covered, unknown[]> = {
  'chat-completions': [chunk({ role: 'assistant', content: words }), chunk({}, 'stop'), done],
  responses: responsesStream(textEvents(0, words), responsesResponse([messageItem(words)])),
  messages: [begun(), ...textBlock(0, words), ...ended('end_turn')],
  'generate-content': [frame([{ text: words }]), frame([{ text: '' }], 'STOP')],
}

/** The frames as JSON texts with the name of each. */
const frames = (protocol: Covered) =>
  streams[protocol].map(wire => ({
    name: protocols[protocol].frames.named ? (wire as { type: string }).type : undefined,
    data: wire === done ? done : JSON.stringify(wire),
  }))

const framed = (
  protocol: Covered,
  write: (frame: { name: string | undefined; data: string }) => string,
) => frames(protocol).map(write).join('')

const plain = (protocol: Covered) =>
  framed(protocol, ({ name, data }) => `${name ? `event: ${name}\n` : ''}data: ${data}\n\n`)

const receivedText = async (from: Covered, to: Covered, text: string) =>
  JSON.stringify(await report(text, { from, to }).response())

describe.each(covered.flatMap(from => others(from).map(to => ({ from, to }))))(
  'text of $from for a client of $to',
  ({ from, to }) => {
    test('is the same at any split of the bytes', () => {
      const bytes = new TextEncoder().encode(plain(from))
      const whole = report([bytes], { from, to }).text
      expect(whole).toContain(words)
      const cuts = [...bytes.keys()].slice(1)
      const isInLetter = (at: number) => ((bytes[at] ?? 0) & 0xc0) === 0x80
      expect(cuts.filter(isInLetter).length).toBeGreaterThan(5)
      const others = cuts.filter(at => !isInLetter(at))
      for (const at of [...cuts.filter(isInLetter), ...sampled(others, 7)]) {
        const translator = createStreamTranslator({ from, to, now: 1_760_000_000 })
        const text =
          translator.push(bytes.subarray(0, at)) +
          translator.push(bytes.subarray(at)) +
          translator.end()
        if (text !== whole) expect.fail(`split after ${at} of ${bytes.length} bytes`)
      }
      expect(
        report(
          [...bytes].map(byte => Uint8Array.of(byte)),
          { from, to },
        ).text,
      ).toBe(whole)
    })

    test.each<[what: string, text: string]>([
      ['lines that end in CRLF', plain(from).replaceAll('\n', '\r\n')],
      ['lines that end in CR', plain(from).replaceAll('\n', '\r')],
      [
        'no blank after the colon',
        plain(from).replaceAll('data: ', 'data:').replaceAll('event: ', 'event:'),
      ],
      ['a byte order mark', `\uFEFF${plain(from)}`],
      ['comments between the frames', plain(from).replaceAll('\n\n', '\n\n: still here\n\n')],
      ['unknown fields', plain(from).replaceAll('data: ', 'id: 7\nretry: 100\nx-odd: 1\ndata: ')],
      [
        'data in several lines',
        framed(
          from,
          ({ name, data }) =>
            `${name ? `event: ${name}\n` : ''}data: ${data.replace(/^\{/, '{\ndata: ')}\n\n`,
        ),
      ],
      ['blank lines before and between', `\n\n${plain(from).replaceAll('\n\n', '\n\n\n\n')}`],
      ['a last frame without the blank line', plain(from).trimEnd()],
      ['no names on its frames', framed(from, ({ data }) => `data: ${data}\n\n`)],
    ])('is complete with %s', async (_, text) => {
      expect(await receivedText(from, to, text)).toContain(words)
    })

    test('is complete with a note when a frame is not JSON', async () => {
      const { response, notes } = report(plain(from).replace('\n\n', '\n\ndata: <html>\n\n'), {
        from,
        to,
      })
      expect(JSON.stringify(await response())).toContain(words)
      expect(notes.map(({ code }) => code)).toContain('stream.unreadable-frame')
    })
  },
)

describe.each(covered)('text of %s for a client of the same', protocol => {
  test('passes byte by byte, also inside a character', () => {
    const bytes = new TextEncoder().encode(plain(protocol))
    const translator = createStreamTranslator({ from: protocol, to: protocol })
    const chunks = [...bytes].map(byte => translator.push(Uint8Array.of(byte)))
    expect(chunks.join('') + translator.end()).toBe(plain(protocol))
  })
})
