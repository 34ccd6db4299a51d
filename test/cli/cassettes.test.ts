import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseCassette, readCassettes } from '../../src/cassettes/index.ts'
import { serve } from '../../src/cli/serve.ts'
import { exchangeOf, filesOf, freshFolder, postOf } from '../cassettes/support.ts'
import { wireglot } from './support.ts'

const recordedFile = async () => {
  const { folder } = await exchangeOf('chat-completions', 'messages', { stream: true })
  const [file = ''] = filesOf(folder)
  return { folder, file }
}

test('serve --record writes a cassette of each exchange', async () => {
  const folder = freshFolder()
  const lines: string[] = []
  const { url, close } = await serve(
    { host: '127.0.0.1', port: 0, log: 'off', record: 'tapes', records: false },
    { out: line => lines.push(line), err: line => lines.push(line), folder, environment: {} },
  )
  const body = { model: 'demo', messages: [{ role: 'user', content: 'Hello' }], stream: true }
  const response = await fetch(`${url}/v1/chat/completions`, postOf(body))
  const text = await response.text()
  const id = response.headers.get('x-request-id')
  const saved = await fetch(`${url}/console/api/cassettes/${id}`)
  expect(saved.status).toBe(200)
  const { text: file } = (await saved.json()) as { text: string }
  expect(parseCassette(file).id).toBe(id)
  expect((await fetch(`${url}/console/api/cassettes/req_1`)).status).toBe(404)
  const session = await (await fetch(`${url}/console/api/session`)).json()
  expect(session).toMatchObject({ role: 'operator', keepsCassettes: true })
  await close()
  expect(lines.join('\n')).toContain('cassettes: tapes')
  const [cassette, ...others] = await readCassettes([join(folder, 'tapes')])
  expect(others).toEqual([])
  expect(cassette?.request.body.text).toBe(JSON.stringify(body))
  expect(cassette?.response?.body.frames?.map(frame => frame.text).join('')).toBe(text)
})

describe('explain', () => {
  test('takes files and folders', async () => {
    const { folder, file } = await recordedFile()
    const { out, code } = await wireglot(['explain', folder])
    expect(code).toBe(0)
    expect(out).toContain('in the protocol chat-completions.')
    expect((await wireglot(['explain', file])).out).toBe(out)
  })

  test.each([
    ['{"a":1}', 'is not a cassette: its "format" is not "wireglot-cassette"'],
    ['{"format":"wireglot-cassette","version":2}', 'has version 2 of the format'],
    ['{"format":"wireglot-cassette","version":1}', 'is not a cassette: id: '],
    ['{', 'is not JSON: '],
  ])('says why %s is none', async (text, fault) => {
    const file = join(freshFolder(), 'other.json')
    writeFileSync(file, text)
    const { err, code } = await wireglot(['explain', file])
    expect(code).toBe(2)
    expect(err).toContain(`${file} ${fault}`)
  })
})

describe('replay', () => {
  test('says that there is no difference', async () => {
    const { file } = await recordedFile()
    const { out, code } = await wireglot(['replay', file])
    expect({ out, code }).toEqual({ out: 'There is no difference to then.\n', code: 0 })
  })

  test('shows the request in another protocol, and the differences', async () => {
    const { file } = await recordedFile()
    const { out, code } = await wireglot(['replay', file, '--to', 'responses'])
    expect(code).toBe(1)
    expect(out).toContain('The request in responses:\n{"model":"bench-model"')
    expect(out).toContain('/attempts/0/protocol: then "messages", now "responses"')
    const { now } = JSON.parse(
      (await wireglot(['replay', file, '--to', 'responses', '--json'])).out,
    )
    expect(now.attempts[0].protocol).toBe('responses')
  })

  test('shows nothing that moves the terminal', async () => {
    const { file } = await recordedFile()
    const cassette = parseCassette(readFileSync(file, 'utf8'))
    const { frames = [] } = cassette.response?.body ?? {}
    for (const body of [cassette.attempts[0]?.body, frames[1]])
      if (body?.text) body.text = body.text.replace('{', '{"\u009b2J":"\u009b",')
    writeFileSync(file, JSON.stringify(cassette))
    for (const more of [[], ['--to', 'responses']]) {
      const { out } = await wireglot(['replay', file, ...more])
      expect(out).toMatch(/^(\n|\P{Cc})*$/u)
    }
  })

  test('needs a key to send', async () => {
    const { file } = await recordedFile()
    const { err, code } = await wireglot(['replay', file, '--vendor', 'deepseek', '--send'])
    expect(code).toBe(2)
    expect(err).toContain('the environment variable DEEPSEEK_API_KEY has no key')
  })
})
