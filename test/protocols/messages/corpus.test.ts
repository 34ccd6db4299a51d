import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { collect } from '../../../src/canonical/collect.ts'
import { explode } from '../../../src/canonical/explode.ts'
import { checkGrammar } from '../../../src/canonical/grammar.ts'
import { messages } from '../../../src/protocols/messages/index.ts'
import { checkWire, decodeStream, encodeStream, readFrames } from './run.ts'

/** Recorded bodies; without the folder there is nothing to run on. */
const shared = process.env['WIREGLOT_SHARED']

/** Recorded files that differ by name, each with the reason. */
const exceptions: Record<string, string> = {
  'vercel-ai__anthropic.spliced-message-start.sse':
    'two responses in one stream, of which the first is cut off',
}

const json = (path: string): unknown => JSON.parse(readFileSync(path, 'utf8'))

describe.skipIf(!shared)('recorded bodies (set WIREGLOT_SHARED to run them)', () => {
  const root = shared ?? ''
  const folder = (kind: string) =>
    shared
      ? readdirSync(join(root, 'corpus/messages', kind)).map(
          file => [file, join(root, 'corpus/messages', kind, file)] as const,
        )
      : []
  const index = shared
    ? (json(join(root, 'corpus/index.json')) as { files: { file: string; dialect: string }[] })
    : { files: [] }
  const fuzz = new Set(
    index.files.filter(({ dialect }) => dialect === 'fuzz').map(({ file }) => file),
  )

  test('fewer than one in twenty is an exception', () => {
    expect(Object.keys(exceptions).length).toBeLessThan(
      0.05 * (folder('requests').length + folder('responses').length),
    )
  })

  test.each(folder('requests').filter(([file]) => !fuzz.has(`messages/requests/${file}`)))(
    'request %s',
    (file, path) => {
      const body = json(path)
      const decoded = messages.decodeRequest(body)
      const encoded = messages.encodeRequest(decoded.value)
      if (file in exceptions) return
      expect(encoded.wire).toEqual(body)
      expect([...decoded.notes, ...encoded.notes]).toEqual([])
    },
  )

  test.each(folder('responses'))('response %s', (file, path) => {
    const body = json(path)
    const decoded = messages.decodeResponse(body)
    const encoded = messages.encodeResponse(decoded.value)
    if (file in exceptions) return
    expect(encoded.wire).toEqual(body)
    expect([...decoded.notes, ...encoded.notes]).toEqual([])
    const events = explode(decoded.value)
    expect(checkGrammar(events)).toEqual([])
    expect(checkWire(encodeStream(events).wires)).toEqual([])
  })

  test.each(folder('streams'))('stream %s', (file, path) => {
    const wires = readFrames(readFileSync(path, 'utf8'))
    if (file in exceptions) {
      expect(() => decodeStream(wires)).toThrow('another message begins')
      return
    }
    const events = decodeStream(wires)
    expect(checkGrammar(events)).toEqual([])
    const again = encodeStream(events)
    expect(checkWire(again.wires)).toEqual([])
    for (let cut = 0; cut < wires.length; cut += Math.ceil(wires.length / 40)) {
      const part = decodeStream(wires.slice(0, cut))
      expect(checkGrammar(part)).toEqual([])
      expect(checkWire(encodeStream(part).wires)).toEqual([])
    }
    const whole = collect(events).response
    const back = collect(decodeStream(again.wires)).response
    expect(back.candidates[0]?.messages[0]?.parts.map(({ type }) => type)).toEqual(
      whole.candidates[0]?.messages[0]?.parts
        .filter(part => part.type !== 'text' || part.text || part.citations)
        .map(({ type }) => type),
    )
    if (whole.usage?.input !== undefined && whole.usage.output !== undefined) {
      expect(back.usage).toMatchObject({ input: whole.usage.input, output: whole.usage.output })
    }
  })

  test.each(folder('errors'))('error %s', (_file, path) => {
    const body = json(path)
    const decoded = messages.decodeError({ status: 400, headers: {}, body })
    expect(messages.encodeError(decoded.value).wire.body).toEqual(body)
  })

  const clients = shared
    ? readdirSync(join(root, 'recordings')).filter(name =>
        /^(claude-code|anthropic|opencode-messages|ai-sdk-anthropic|langchain-anthropic)/.test(
          name,
        ),
      )
    : []
  const recordings = clients.flatMap(client =>
    readdirSync(join(root, 'recordings', client)).map(file => [`${client}/${file}`] as const),
  )

  test.each(recordings)('recording %s', file => {
    const { exchanges } = json(join(root, 'recordings', file)) as {
      exchanges: {
        request: { body?: unknown }
        response: { status: number; body?: unknown; events?: unknown[] }
      }[]
    }
    for (const { request, response } of exchanges) {
      const text = JSON.stringify(request.body ?? null)
      if (request.body && !text.includes('$same_as')) {
        const decoded = messages.decodeRequest(request.body)
        const encoded = messages.encodeRequest(decoded.value)
        expect(encoded.notes.filter(({ code }) => code !== 'max-tokens.default')).toEqual([])
        expect(encoded.wire).toEqual(request.body)
      }
      if (response.events) {
        const wires = response.events
          .map(event => (event as { data: unknown }).data ?? event)
          .map(data => (typeof data === 'string' ? JSON.parse(data) : data))
        const events = decodeStream(wires)
        expect(checkGrammar(events)).toEqual([])
        expect(checkWire(encodeStream(events).wires)).toEqual([])
      }
    }
  })
})
