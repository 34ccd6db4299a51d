import { describe, expect, test } from 'vitest'
import { knownModel, makers } from '../../src/models/index.ts'
import { isNamed } from '../../src/models/names.ts'
import { knownPrice, modelPrices } from '../../src/models/prices.ts'
import { modelSettings } from '../../src/models/settings.ts'
import { optionFaults, ungroupedOptions } from '../../src/protocols/check-options.ts'
import { protocolNames } from '../../src/protocols/index.ts'

const firstOf = (name: string) => knownModel(name)?.model.names[0]

describe('names of models', () => {
  test.each([
    ['gpt-5.6', 'gpt-5.6+*', true],
    ['gpt-5.6-sol', 'gpt-5.6+*', true],
    ['gpt-6', 'gpt-5.6+*', true],
    ['gpt-5.10', 'gpt-5.6+*', true],
    ['gpt-5.5', 'gpt-5.6+*', false],
    ['gpt-4-32k', 'gpt-4.1+*', false],
    ['gpt-5-2025-08-07', 'gpt-5.1+*', false],
    ['claude-sonnet-4-20250514', '*claude-sonnet-4.1+*', false],
    ['claude-sonnet-4-5-20250929', '*claude-sonnet-4.1+*', true],
    ['us.anthropic.claude-opus-4-8-v1:0', '*claude-opus-4.8+*', true],
    ['openai/GPT-5.6', 'gpt-5.6+*', true],
    ['us.openai.gpt-5.6', 'gpt-5.6+*', true],
    ['models/gemini-3.8-flash', 'gemini-3.7+*', true],
    ['qwen3-32b', 'qwen3.8+*', false],
    ['chatgpt-6', 'gpt-5.6+*', false],
    ['ft:gpt-4o-2024-08-06:org::id', 'gpt-4o*', true],
    ['openai:gpt-5.6', 'gpt-5.6+*', true],
    ['anthropic:claude-opus-5-5', '*claude-opus-5.5+*', true],
    ['claude-4.5-sonnet', '*claude-4.1+-sonnet*', true],
    ['claude-4-sonnet-20250514', '*claude-4.1+-sonnet*', false],
    ['claude-4-sonnet-20250514', '*claude-4+-sonnet*', true],
    ['a(b', 'a(b', true],
  ])('%s of %s: %s', (name, pattern, expected) => {
    expect(isNamed(name, pattern)).toBe(expected)
  })
})

test.each([
  ['claude-4-sonnet-20250514', 'claude-sonnet-4-20250514'],
  ['databricks-claude-4.5-haiku', 'claude-haiku-4-5'],
  ['anthropic/claude-4.1-opus', 'claude-opus-4-1'],
  ['claude-5.5-opus', 'claude-opus-5-5'],
  ['claude-6-sonnet', 'claude-sonnet-5-5'],
  ['ft:gpt-4.1-mini-2025-04-14:org::id', 'gpt-4.1-mini'],
  ['google:gemini-3.8-flash', 'gemini-3.8-flash'],
])('%s is %s', (name, other) => {
  expect(firstOf(name)).toBe(firstOf(other))
})

test('a name of a megabyte is no model, and costs no time', () => {
  for (const part of ['gpt-5.', 'claude-', 'a/', '1.'])
    expect(knownModel(part.repeat(200_000))).toBeUndefined()
})

describe('a newer model of a known family', () => {
  test.each([
    ['gpt-7', 'gpt-5.6'],
    ['o9-mini', 'o4-mini'],
    ['claude-opus-9', 'claude-opus-5-5'],
    ['claude-sonnet-7-2', 'claude-sonnet-5-5'],
    ['claude-haiku-6', 'claude-haiku-5-5'],
    ['claude-fable-8', 'claude-fable-5-1'],
    ['gemini-9-flash', 'gemini-4-hydrogen'],
    ['grok-7', 'grok-4.6'],
    ['kimi-k9', 'kimi-k3'],
    ['glm-8', 'glm-5.3'],
    ['qwen4-max', 'qwen3.8-max'],
  ])('%s is taken for the newest, as %s', (name, newest) => {
    expect(firstOf(name)).toBeDefined()
    expect(firstOf(name)).toBe(firstOf(newest))
  })

  test('is none when the family is unknown', () => {
    for (const name of ['gpt', 'opus', 'my-model', '', 'gpt2', undefined])
      expect(knownModel(name), name).toBeUndefined()
  })
})

describe.each(makers.map(maker => ({ maker, name: maker.name })))('the models of $name', one => {
  test('have a source with its date for every row', () => {
    for (const { names, sources } of one.maker.models) {
      expect(sources.length, names[0]).toBeGreaterThan(0)
      for (const { date, url } of sources) {
        expect(date).toMatch(/^\d{4}-\d\d-\d\d$/)
        expect(URL.canParse(url) && url.startsWith('https://'), url).toBe(true)
        if (url.includes('github.com'))
          expect(url).toMatch(/\/(blob|tree)\/[\da-f]{9}(\/|$)|\/(issues|pull)\/\d+$/)
      }
    }
  })

  test('have options that exist', () => {
    for (const { names } of one.maker.models)
      for (const name of names)
        for (const protocol of protocolNames) {
          const settings = modelSettings(protocol, name.replaceAll(/[*+]/g, ''))
          expect(optionFaults(settings?.options ?? {}, ungroupedOptions), name).toEqual([])
        }
  })
})

describe('prices', () => {
  test('have a dated source, and belong to models that are known', () => {
    for (const { names, input, output, source } of modelPrices) {
      expect(source.date).toMatch(/^\d{4}-\d\d-\d\d$/)
      expect(source.url).toMatch(/^https:/)
      expect(output).toBeGreaterThanOrEqual(input)
      for (const name of names) expect(firstOf(name.replaceAll('*', '')), name).toBeDefined()
    }
  })

  test.each([
    ['claude-opus-5-5', 4],
    ['us.anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['openai/gpt-5-mini', 0.25],
    ['gpt-5-2025-08-07', 1.25],
    ['models/gemini-2.5-flash', 0.3],
    ['amazon.nova-2-lite-v1:0', 0.33],
    ['gemini-3.8-flash', 1.5],
    ['mistral-large-4-0', 1.36],
    ['deepseek-flash', 0.3],
    ['gpt-7', undefined],
    ['claude-opus-9', undefined],
    ['gpt-5-pro', undefined],
    ['my-model', undefined],
  ])('of %s: %s', (name, input) => {
    expect(knownPrice(name)?.input).toBe(input)
  })
})
