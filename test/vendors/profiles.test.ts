import { describe, expect, test } from 'vitest'
import { parseConfig } from '../../src/gateway/options.ts'
import { optionFaults, ungroupedOptions } from '../../src/protocols/check-options.ts'
import { type Fact, type Vendor, vendors } from '../../src/vendors/index.ts'
import { protocolFor, vendorAt, vendorSettings } from '../../src/vendors/settings.ts'

const all: Vendor[] = Object.values(vendors)

describe.each(all)('the profile of $name', vendor => {
  test('has the key of the registry as its name', () => {
    expect(vendors[vendor.name as keyof typeof vendors]).toBe(vendor)
  })

  test('has a source with its date for every endpoint and every fact', () => {
    const { endpoints, facts, requestFaults } = vendor
    for (const one of [...endpoints, ...facts, ...(requestFaults ? [requestFaults] : [])]) {
      expect(one.sources.length, JSON.stringify(one)).toBeGreaterThan(0)
      for (const { date, url } of one.sources) {
        expect(date).toMatch(/^20\d\d-\d\d-\d\d$/)
        expect(URL.canParse(url) && url.startsWith('https://'), url).toBe(true)
        if (url.includes('github.com'))
          expect(url).toMatch(/\/(blob|commit|tree)\/[\da-f]{7,9}(\/|$)|\/(issues|pull)\/\d+$/)
      }
    }
  })

  test('has one endpoint per protocol, the first one fully supported', () => {
    const protocols = vendor.endpoints.map(({ protocol }) => protocol)
    expect(new Set(protocols).size).toBe(protocols.length)
    expect(vendor.endpoints[0].support).toBeUndefined()
  })

  test('names only options that exist, and facts that change something', () => {
    for (const {
      fact,
      options = {},
      responseOptions: responses = {},
      refuses,
      speak,
      capabilities = {},
    } of vendor.facts as readonly Fact[]) {
      expect(
        [options, responses].flatMap(one => optionFaults(one, ungroupedOptions)),
        fact,
      ).toEqual([])
      expect(
        Object.keys(options).length +
          Object.keys(responses).length +
          Object.keys(capabilities).length +
          (refuses?.length ?? 0) +
          (speak ? 1 : 0),
        fact,
      ).toBeGreaterThan(0)
    }
  })

  test('is a whole channel with its name and a key, or says what the URL lacks', () => {
    const config = { auth: 'none', channels: [{ vendor: vendor.name, apiKey: 'key-0123456789' }] }
    if (vendor.endpoints.some(({ baseUrl }) => baseUrl.includes('{'))) {
      expect(() => parseConfig(config, {})).toThrow(/baseUrl: expected https:.* with your \{/)
      return
    }
    const [channel] = parseConfig(config, {}).channels
    expect(channel?.name).toBe(vendor.name)
    expect(channel?.protocols).toEqual(vendor.endpoints.map(({ protocol }) => protocol))
    for (const { protocol, baseUrl } of vendor.endpoints)
      expect(channel?.endpoints[protocol]?.baseUrl).toBe(baseUrl)
  })
})

test('the base URL of a channel identifies its vendor, whatever its version', () => {
  const found = (url: string) => vendorAt(all, url)?.name
  expect(found('https://api.deepseek.com')).toBe('deepseek')
  expect(found('https://api.deepseek.com/anthropic')).toBe('deepseek')
  expect(found('https://acme.openai.azure.com/openai/v1')).toBe('azure')
  expect(found('https://open.bigmodel.cn/api/paas/v4')).toBe('zai')
  expect(found('https://evil.example/api.deepseek.com')).toBeUndefined()
  expect(found('http://localhost:8000/v1')).toBeUndefined()
  expect(found('no url')).toBeUndefined()
})

test('a channel with `generic` gets no profile', () => {
  const channel = {
    name: 'up',
    vendor: 'generic',
    baseUrl: 'https://api.deepseek.com',
    protocols: ['chat-completions'],
  }
  expect(parseConfig({ auth: 'none', channels: [channel] }, {}).channels[0]?.vendor).toBeUndefined()
})

test('a vendor that is misspelled is refused with the known names', () => {
  expect(() =>
    parseConfig({ auth: 'none', channels: [{ vendor: 'deepsek', apiKey: 'key-0123456789' }] }, {}),
  ).toThrow(/vendor: .*deepseek/)
})

test('applies facts about some models only to them', () => {
  expect(vendorSettings(vendors.openai, 'responses', 'gpt-6-sol').unsupported).toContain(
    'temperature',
  )
  expect(vendorSettings(vendors.openai, 'responses', 'gpt-4.1').unsupported).toEqual([])
  expect(vendorSettings(vendors.openai, 'responses', 'openai/GPT-6-SOL').unsupported).toContain(
    'temperature',
  )
})

test('keeps the protocol of the client when the vendor supports it, unless the model needs another one', () => {
  const received = { model: 'gpt-4.1', hasTools: true }
  expect(protocolFor(vendors.openai, 'chat-completions', received)).toBe('chat-completions')
  expect(
    protocolFor(vendors.openai, 'chat-completions', { model: 'gpt-5.6-sol', hasTools: true }),
  ).toBe('responses')
  expect(
    protocolFor(vendors.openai, 'chat-completions', { model: 'gpt-5.6-sol', hasTools: false }),
  ).toBe('chat-completions')
  expect(protocolFor(vendors.openai, 'messages', received)).toBe('responses')
  expect(
    protocolFor(vendors.anthropic, 'chat-completions', { model: 'claude-opus-5', hasTools: false }),
  ).toBe('messages')
  expect(
    protocolFor(vendors.deepseek, 'generate-content', { model: 'deepseek-chat', hasTools: false }),
  ).toBe('chat-completions')
})
