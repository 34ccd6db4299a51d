import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { streamOf } from '../../bench/fixtures.ts'
import { protocolNames, protocols } from '../../src/protocols/index.ts'
import { parseData } from '../../src/sse/data.ts'
import { createFrameParser } from '../../src/sse/parse.ts'
import { createByteTranslator, createStreamTranslator } from '../../src/translate/stream.ts'

const dataOf = (text: string) => {
  const found: unknown[] = []
  const parser = createFrameParser(({ data }) => found.push(parseData(data)))
  parser.push(text)
  parser.end()
  return found
}

const ways = [{}, { model: 'alias' }, { hideUsage: true }, { model: 'alias', hideUsage: true }]

describe.each(protocolNames.flatMap(name => ways.map(settings => ({ name, settings }))))(
  '$name with $settings',
  ({ name, settings }) => {
    const protocol = protocols[name]
    const { frames } = streamOf(protocol, 'agent', 60)
    const bytes = Buffer.from(frames.join(''))
    const translated = (chunks: readonly (Uint8Array | string)[]) => {
      const translator = createByteTranslator(protocol, protocol, settings)
      const parts = chunks.map(chunk => Buffer.from(translator.push(chunk)).toString())
      const text = parts.join('') + Buffer.from(translator.end()).toString()
      return { parts, text, usage: translator.usage, finished: translator.finished }
    }
    const cutAt = (places: readonly number[]) => {
      const sorted = [
        0,
        ...places.map(place => place % bytes.length).sort((a, b) => a - b),
        bytes.length,
      ]
      return sorted.slice(1).map((end, i) => bytes.subarray(sorted[i], end))
    }
    const whole = translated([bytes])

    test('reports the same state as a decoder of its text', () => {
      const reader = createStreamTranslator(protocol, protocol, {})
      for (const frame of frames) reader.push(frame)
      reader.end()
      expect({ usage: whole.usage, finished: whole.finished }).toEqual({
        usage: reader.usage,
        finished: true,
      })
      expect(reader.usage).toBeDefined()
    })

    test('sends the same whole frames however the bytes are cut', () => {
      fc.assert(
        fc.property(fc.array(fc.nat(bytes.length - 1), { maxLength: 40 }), places => {
          const cut = translated(cutAt(places))
          expect(cut).toEqual({ ...whole, parts: cut.parts })
          for (const chunk of cut.parts) expect(chunk).toMatch(/^$|(\r\n|\n|\r)(\r\n|\n|\r)$/)
        }),
        { numRuns: 30 },
      )
    })

    test('changes only what is requested', () => {
      const { model, hideUsage } = settings as { model?: string; hideUsage?: boolean }
      const sent = dataOf(bytes.toString()).filter(
        wire => !(hideUsage && protocol.streamUsage?.isOnlyCounts(wire)),
      )
      expect(dataOf(whole.text)).toEqual(
        model === undefined ? sent : sent.map(wire => protocol.withModel(wire, model)),
      )
    })
  },
)

test('a damaged frame between frames of one form ends the stream with an error, and its half is not sent when it is renamed', () => {
  const protocol = protocols['chat-completions']
  const { frames } = streamOf(protocol, 'text', 20)
  const damaged = frames.with(9, `${frames[9]?.slice(0, 60)}\n\n`).join('')
  for (const settings of [{}, { model: 'alias' }]) {
    const translator = createByteTranslator(protocol, protocol, settings)
    const text =
      Buffer.from(translator.push(Buffer.from(damaged))).toString() +
      Buffer.from(translator.end()).toString()
    expect(translator.error?.message).toContain('cannot be read')
    expect(text).not.toContain('[DONE]')
    expect(dataOf(text).at(-1)).toHaveProperty('error')
    if ('model' in settings) expect(dataOf(text)).toHaveLength(10)
  }
})

test('text with another model name stays whole where a chunk ends inside of a character', () => {
  const frame = (content: string) =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'm', choices: [{ index: 0, delta: { content } }] })}\n\n`
  const bytes = Buffer.from(frame('one') + frame('two 😀') + frame('three'))
  const inside = bytes.indexOf(Buffer.from('😀')) + 2
  const chat = protocols['chat-completions']
  const translator = createStreamTranslator(chat, chat, { model: 'alias' })
  const text = translator.push(bytes.subarray(0, inside)) + translator.push(bytes.subarray(inside))
  expect(dataOf(text)).toMatchObject(
    ['one', 'two 😀', 'three'].map(content => ({
      model: 'alias',
      choices: [{ delta: { content } }],
    })),
  )
  expect(text).not.toContain('\ufffd')
})

describe.each(['chat-completions', 'responses'] as const)('an early end in %s', name => {
  test.each(ways)('lets as much pass however the bytes are cut, with %j', settings => {
    const protocol = protocols[name]
    const { frames } = streamOf(protocol, 'agent', 20)
    const early = [...frames.slice(0, 3), 'data: [DONE]\n\n', ...frames.slice(3)]
    const passed = (chunks: readonly string[]) => {
      const translator = createByteTranslator(protocol, protocol, settings)
      const parts = chunks.map(chunk => Buffer.from(translator.push(chunk)).toString())
      return parts.join('') + Buffer.from(translator.end()).toString()
    }
    const whole = passed([early.join('')])
    expect(passed(early)).toBe(whole)
    expect(passed([...early.join('')])).toBe(whole)
  })
})
