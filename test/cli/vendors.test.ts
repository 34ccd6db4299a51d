import { expect, test } from 'vitest'
import { vendors } from '../../src/vendors/index.ts'
import { wireglot } from './support.ts'

test('wireglot vendors lists every vendor with its protocols', async () => {
  const { code, out } = await wireglot(['vendors'])
  expect(code).toBe(0)
  expect(
    out
      .trim()
      .split('\n')
      .map(line => line.split(' ')[0]),
  ).toEqual(Object.keys(vendors))
  expect(out).toMatch(/^deepseek +chat-completions, messages, responses$/m)
})

test('wireglot vendors NAME shows what applies, and the source of each fact', async () => {
  const { code, out } = await wireglot(['vendors', 'deepseek'])
  expect(code).toBe(0)
  expect(out).toContain('A channel: {"vendor":"deepseek","apiKey":"env:DEEPSEEK_API_KEY"}')
  for (const { fact, sources } of vendors.deepseek.facts) {
    expect(out).toContain(fact)
    for (const { url, date } of sources) expect(out).toContain(`source: ${url} (${date})`)
  }
})

test('wireglot vendors NAME shows the models that the vendor makes', async () => {
  const { out } = await wireglot(['vendors', 'gemini'])
  expect(out).toMatch(/Models:[\s\S]*- gemini-3\.7\+\*\n[\s\S]*outputTokens: 65536/)
  expect((await wireglot(['vendors', 'openrouter'])).out).not.toContain('Models:')
})

test('wireglot vendors refuses an unknown name with the known ones', async () => {
  const { code, err } = await wireglot(['vendors', 'deepsek'])
  expect(code).toBe(2)
  expect(err).toContain('There is no vendor deepsek; did you mean deepseek? There are alibaba, ')
})
