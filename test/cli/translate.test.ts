import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { version } from '../../package.json'
import { protocolNames } from '../../src/protocols/index.ts'
import { sampled } from '../support/sampled.ts'
import { wireglot, wireglotBeforeHead } from './support.ts'

const translate = (kind: string, from: string, to: string, ...more: string[]) => [
  'translate',
  '--kind',
  kind,
  '--from',
  from,
  '--to',
  to,
  ...more,
]
const question = { model: 'm', seed: 7, messages: [{ role: 'user', content: 'hi' }] }
const response = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 3, output_tokens: 1 },
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
})
afterAll(() => rm(folder, { recursive: true }))

test('refuses an empty port, as from an unset variable', async () => {
  const { code, err } = await wireglot(['serve', '--port', ''])
  expect(code).toBe(2)
  expect(err).toContain('A port is a number from 0 to 65535.')
})

test('exits with 0 when the reader of its output, such as head, closes early', async () => {
  const { code, err } = await wireglotBeforeHead(['explode', '--protocol', 'messages'], {
    ...response,
    content: [{ type: 'text', text: 'x'.repeat(1_000_000) }],
  })
  expect({ code, err }).toEqual({ code: 0, err: '' })
})

describe('wireglot translate', () => {
  test('writes the request to standard output and each note to standard error as a line of JSON', async () => {
    const { code, out, err } = await wireglot(
      translate('request', 'chat-completions', 'messages'),
      question,
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      model: 'm',
      max_tokens: 32000,
      messages: [{ role: 'user' }],
    })
    const notes = err
      .trim()
      .split('\n')
      .map(line => JSON.parse(line) as unknown)
    expect(notes).toContainEqual(expect.objectContaining({ kind: 'dropped', path: '/seed' }))
  })

  test('passes the context from a file to the translation of the response', async () => {
    const file = join(folder, 'context.json')
    const request = { ...question, tools: [{ type: 'custom', custom: { name: 'sh' } }] }
    await wireglot(
      translate('request', 'chat-completions', 'messages', '--context-out', file),
      request,
    )
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({
      from: 'chat-completions',
      to: 'messages',
    })
    const called = {
      ...response,
      content: [{ type: 'tool_use', id: 't1', name: 'sh', input: { input: 'ls' } }],
      stop_reason: 'tool_use',
    }
    const { code, out } = await wireglot(
      translate('response', 'messages', 'chat-completions', '--context', file),
      called,
    )
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      choices: [
        {
          message: {
            tool_calls: [{ id: 't1', type: 'custom', custom: { name: 'sh', input: 'ls' } }],
          },
        },
      ],
    })
  })

  test('writes the same bytes between equal protocols, including unusual spacing', async () => {
    const text = '{ "model":"m",\n "messages":[{"role":"user","content":"hi"}], "new_field": 1.0 }'
    const { code, out, err } = await wireglot(
      translate('request', 'chat-completions', 'chat-completions'),
      text,
    )
    expect({ code, out, err }).toEqual({ code: 0, out: text, err: '' })
  })

  test('exits with 2 for bad usage', async () => {
    const { code, err } = await wireglot(translate('request', 'chat', 'messages'), question)
    expect(code).toBe(2)
    expect(err).toContain('chat-completions, responses, messages')
  })

  test.each([
    ['text that is not JSON', '{'],
    ['a body with a fault', { model: 'm', messages: [{ role: 'user', content: 5 }] }],
    ['a body of another protocol', { model: 'm', input: 'hi', instructions: 'be terse' }],
  ])('exits with 3 for %s', async (_, input) => {
    const { code, out, err } = await wireglot(
      translate('request', 'chat-completions', 'messages'),
      input,
    )
    expect({ code, out }).toEqual({ code: 3, out: '' })
    expect(err.trim().split('\n')).toHaveLength(1)
  })

  test('names the right path for a body of another protocol', async () => {
    const { err } = await wireglot(translate('request', 'chat-completions', 'messages'), {
      model: 'm',
      input: 'hi',
      instructions: 'be terse',
    })
    expect(err).toContain('/v1/responses')
  })

  test('exits with 4 and prints the notes when --strict forbids a note', async () => {
    const { code, out, err } = await wireglot(
      translate('request', 'chat-completions', 'messages', '--strict'),
      question,
    )
    expect({ code, out }).toEqual({ code: 4, out: '' })
    expect(err).toContain('"/seed"')
  })

  test('names a file that holds no context, in one line', async () => {
    const file = join(folder, 'no-context.json')
    for (const text of ['{"model":\n"m",\n', '[]', JSON.stringify(question)]) {
      await writeFile(file, text)
      const { code, out, err } = await wireglot(
        translate('response', 'messages', 'chat-completions', '--context', file),
        response,
      )
      expect({ code, out }).toEqual({ code: 2, out: '' })
      expect(err.trim().split('\n')).toEqual([expect.stringContaining(file)])
    }
  })

  test.each([
    ['', 'chat-completions: the input is empty'],
    ['{"model":\n"m",}', 'chat-completions: the input is not JSON: line 2, column 5'],
  ])('says where the input %j stops being JSON', async (input, words) => {
    const { code, err } = await wireglot(
      translate('request', 'chat-completions', 'messages'),
      input,
    )
    expect({ code, err }).toEqual({ code: 3, err: `wireglot: ${words}\n` })
  })

  test.each([
    ['nowhere/context.json', 'no such folder'],
    ['.', 'it is a folder'],
  ])('names a file that cannot be written, before anything is: %s', async (name, why) => {
    const file = join(folder, name)
    const { code, out, err } = await wireglot(
      translate('request', 'chat-completions', 'messages', '--context-out', file),
      question,
    )
    expect({ code, out, err }).toEqual({
      code: 2,
      out: '',
      err: `wireglot: ${file} cannot be written: ${why}\n`,
    })
  })

  test('names a folder in the place of a file', async () => {
    const { code, err } = await wireglot(
      translate('response', 'messages', 'chat-completions', '--context', folder),
      response,
    )
    expect({ code, err }).toEqual({
      code: 2,
      err: `wireglot: ${folder} cannot be read: it is a folder\n`,
    })
  })

  test('takes mapping options', async () => {
    const { out } = await wireglot(
      translate(
        'request',
        'chat-completions',
        'messages',
        '--option',
        'messages.defaultMaxTokens=500',
      ),
      question,
    )
    expect(JSON.parse(out)).toMatchObject({ max_tokens: 500 })
  })

  test('translates an error with its status and headers', async () => {
    const error = {
      status: 529,
      headers: { 'retry-after': '7' },
      body: { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } },
    }
    const { code, out } = await wireglot(translate('error', 'messages', 'chat-completions'), error)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      status: 503,
      headers: { 'retry-after': '7' },
      body: { error: { message: 'Overloaded' } },
    })
  })
})

test('wireglot --version prints the version of the package', async () => {
  const { code, out } = await wireglot(['--version'])
  expect({ code, out }).toEqual({ code: 0, out: `${version}\n` })
})

describe('wireglot explode, translate --kind stream and collect', () => {
  test('translate a response into a stream of another protocol and back', async () => {
    const stream = await wireglot(['explode', '--protocol', 'messages'], response)
    expect(stream.out).toContain('event: message_stop')
    const translated = await wireglot(translate('stream', 'messages', 'responses'), stream.out)
    expect(translated.out).toContain('event: response.completed')
    const whole = await wireglot(['collect', '--protocol', 'responses'], translated.out)
    expect(JSON.parse(whole.out)).toMatchObject({
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text: 'Hello' }] }],
    })
  })

  test('translate exits with 4, writes a failed stream and prints the notes when --strict ends it', async () => {
    const thinking = {
      ...response,
      content: [{ type: 'thinking', thinking: 'hm', signature: 'c2ln' }, ...response.content],
    }
    const { out: stream } = await wireglot(['explode', '--protocol', 'messages'], thinking)
    const { code, out, err } = await wireglot(
      translate('stream', 'messages', 'chat-completions', '--strict'),
      stream,
    )
    expect(code).toBe(4)
    expect(out).toContain('refused by strict')
    expect(err).toContain('"reasoning.dialect-field"')
  })

  test.each(sampled(protocolNames))(
    'translate exits with 3 for a stream to %s that was cut off, and with 0 for one that says itself that it failed',
    async to => {
      const { out: stream } = await wireglot(['explode', '--protocol', 'messages'], response)
      const begun = stream.slice(0, stream.indexOf('event: message_delta'))
      const cut = await wireglot(translate('stream', 'messages', to), begun)
      expect(cut.code).toBe(3)
      expect(cut.err).toContain('ended')
      const failure = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }
      const failed = await wireglot(
        translate('stream', 'messages', to),
        `${begun}event: error\ndata: ${JSON.stringify(failure)}\n\n`,
      )
      expect(failed.code).toBe(0)
      expect(failed.out).toContain('Overloaded')
    },
  )

  test('explode reports on standard error what a stream cannot express', async () => {
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'call_1', type: 'x_call', x_call: {} }],
    }
    const response = {
      id: 'c',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
    }
    const { code, err } = await wireglot(['explode', '--protocol', 'chat-completions'], response)
    expect({ code, note: JSON.parse(err) }).toMatchObject({
      code: 0,
      note: { code: 'part.unknown', path: '/choices/0/message/tool_calls/0' },
    })
  })

  test('collect exits with 3 for a stream that was cut off', async () => {
    const { out } = await wireglot(['explode', '--protocol', 'messages'], response)
    const { code, err } = await wireglot(
      ['collect', '--protocol', 'messages'],
      out.slice(0, out.indexOf('event: message_delta')),
    )
    expect(code).toBe(3)
    expect(err).toContain('ended before')
  })
})
