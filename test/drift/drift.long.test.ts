import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { mark } from '../../src/testing/change.ts'
import { judge, type Kind } from './judge.ts'
import { faultsOf, type Row, rowsOf, sectionOf } from './report.ts'
import { openDefinitions, type Site, sitesOf } from './walk.ts'

const place = mkdtempSync(join(tmpdir(), 'drift-test-'))
afterAll(() => rmSync(place, { recursive: true, force: true }))

function fileOf(types: string): string {
  const file = join(place, `${expect.getState().currentTestName?.replaceAll(/\W+/g, '-')}.d.ts`)
  writeFileSync(file, types)
  return file
}

const walked = (types: string): Site[] => {
  const definitions = openDefinitions([fileOf(types)])
  return sitesOf(definitions, definitions.typeOf('Request'))
}

const named = (sites: readonly Site[], name: string) => sites.find(site => site.name === name)

describe('the walk', () => {
  test('lists every field with the smallest body that holds it', () => {
    const sites = walked(
      'export interface Request { model: string; seed?: number; stop?: string[] }',
    )
    expect(sites.map(({ name }) => name)).toEqual(['Request.model', 'Request.seed', 'Request.stop'])
    expect(named(sites, 'Request.seed')).toMatchObject({
      path: '/seed',
      body: { model: mark, seed: 700_001 },
      others: [{ model: mark }],
    })
    expect(named(sites, 'Request.stop')).toMatchObject({ body: { model: mark, stop: [mark] } })
  })

  test('compares a required field with another value of it', () => {
    expect(walked('export interface Request { model: string }')[0]).toMatchObject({
      body: { model: mark },
      others: [{ model: 'Yp6' }],
    })
  })

  test('lists each word of a field and compares it with the other words', () => {
    const sites = walked("export interface Request { tier?: 'auto' | 'fast' }")
    expect(sites.map(({ name }) => name)).toEqual([
      'Request.tier = "auto"',
      'Request.tier = "fast"',
    ])
    expect(named(sites, 'Request.tier = "fast"')).toMatchObject({
      body: { tier: 'fast' },
      others: [{ tier: 'auto' }],
    })
  })

  test('lists each type of a list and names the parents of a field', () => {
    const sites = walked(`
      export interface Request { content: (Text | Image)[] }
      interface Text { type: 'text'; text: string }
      interface Image { type: 'image'; url: string | null }`)
    expect(named(sites, 'Request.content = Image (image)')).toMatchObject({
      path: '/content/0',
      body: { content: [{ type: 'image', url: null }] },
    })
    expect(named(sites, 'Image.url')).toMatchObject({
      path: '/content/0/url',
      trail: ['Request.content', 'Request.content = Image (image)'],
      body: { content: [{ type: 'image', url: `https://files.example/${mark}.png` }] },
    })
  })

  test('ends when a definition holds itself', () => {
    const sites = walked('export interface Request { child?: Request; name?: string }')
    expect(sites.map(({ name }) => name)).toEqual(['Request.name'])
  })

  test('leaves out methods, getters, labels and empty objects', () => {
    expect(
      walked(
        "export declare class Request { kind: 'one'; options?: { deep?: number }; get text(): string; send(): void }",
      ).map(({ name }) => name),
    ).toEqual(['Request.options.deep'])
  })

  test('throws when the type is missing or cannot be resolved', () => {
    const definitions = openDefinitions([
      fileOf("import type { A } from 'no-such-package'\nexport type Response = A"),
    ])
    expect(() => definitions.typeOf('Request')).toThrow('exports no Request')
    expect(() => definitions.typeOf('Response')).toThrow('Response is any')
  })
})

describe('the verdict', () => {
  const pair = { from: 'chat-completions', to: 'messages' } as const
  const base = { model: 'm', messages: [{ role: 'user', content: 'a' }] }
  const judged = (kind: Kind, path: string, body: unknown, other: unknown) =>
    judge(kind, { name: '', path, trail: [], body, others: [other] }, pair)

  test('is mapped when the value changes the translated body', () => {
    expect(judged('request', '/temperature', { ...base, temperature: 0.5 }, base)).toBe('mapped')
  })

  test('is noted when a note points at the value', () => {
    expect(judged('request', '/seed', { ...base, seed: 5 }, base)).toBe('noted')
  })

  test('is unknown when the codec has no name for the field', () => {
    expect(judged('request', '/not_yet', { ...base, not_yet: 5 }, base)).toBe('unknown')
  })

  test('is unreadable when the codec takes the body for malformed', () => {
    expect(judged('request', '/temperature', { ...base, temperature: 'a' }, base)).toBe(
      'unreadable',
    )
  })

  test('is lost when neither the translated body nor the notes differ', () => {
    expect(judged('request', '/model', base, structuredClone(base))).toBe('lost')
  })

  test('of an event is unknown when it makes a note that the stream without it does not make', () => {
    const event = { choices: [{ index: 0, delta: {}, finish_reason: null }], not_yet: 5 }
    expect(judged('event', '/not_yet', event, event)).toBe('unknown')
  })

  test('of an error is mapped when its message is in the translated one', () => {
    expect(
      judged('error', '/error/message', { error: { message: 'a' } }, { error: { message: 'b' } }),
    ).toBe('mapped')
  })
})

describe('the report', () => {
  const types = `
    export interface Request { model: string; messages: Message[]; temperature?: number; not_yet?: { deep: string } }
    interface Message { role: 'user'; content: string }`

  test('has a row for each thing and leaves out what is inside of something unknown', () => {
    const rows = rowsOf({ protocol: 'chat-completions', types }, fileOf(types))
    expect(rows.find(({ name }) => name === 'Request.temperature')?.verdicts).toEqual(
      protocolNames.slice(1).map(() => 'mapped'),
    )
    expect(rows.map(({ name }) => name)).toContain('Request.not_yet.deep')
    const section = sectionOf(
      { protocol: 'chat-completions', package: 'p', module: 'p', types },
      '1.2.3',
      rows,
    ).join('\n')
    expect(section).toContain('## chat-completions: `p` 1.2.3')
    expect(section).toContain('| request | `Request.not_yet` | note: unknown field or type |')
    expect(section).not.toContain('Request.not_yet.deep')
    expect(faultsOf(rows)).toEqual([])
  })

  test('walks chunks again as events when they are responses', () => {
    const chunks = `
      export type Response = { candidates: Candidate[]; not_yet?: string }
      export type Event = Response
      interface Candidate { content: { role: 'model'; parts: { text: string }[] }; avgLogprobs?: number }`
    const rows = rowsOf({ protocol: 'generate-content', types: chunks }, fileOf(chunks))
    const eventRows = rows
      .filter(({ kind }) => kind === 'event')
      .map(({ name, verdicts }) => [name, verdicts[0]])
    expect(eventRows).toContainEqual(['Response.not_yet', 'unknown'])
    expect(eventRows).toContainEqual(['Candidate.avgLogprobs', 'unknown'])
    expect(eventRows).toContainEqual(['Candidate.content.parts.text', 'mapped'])
    expect(faultsOf(rows)).toEqual([])
  })

  test('has a fault for what is lost without a reason', () => {
    const row: Row = {
      kind: 'request',
      name: 'a',
      trail: [],
      path: '/a',
      verdicts: ['mapped', 'lost', 'noted'],
    }
    expect(
      faultsOf([row, { ...row, reason: 'says nothing' }, { ...row, verdicts: ['noted'] }]),
    ).toEqual([row])
  })

  test('as committed names every protocol and no loss', () => {
    const text = readFileSync(new URL('../../docs/drift.md', import.meta.url), 'utf8')
    expect(protocolNames.filter(name => !text.includes(`\n## ${name}: `))).toEqual([])
    expect(text).not.toMatch(/\*\*(lost|not readable)\*\*/)
  })
})
