import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serve } from '../../src/cli/serve.ts'
import { createConsole } from '../../src/console/index.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { type ConnectGateway, gateway } from '../../src/hosts/connect.ts'
import { after, listen, post, responses, sendJson, streams, upstream } from '../gateway/support.ts'
import { browserInstalled, browserTitle, startBrowser } from './browser.ts'

const key = 'client-secret-a'
const adminKey = 'admin-secret-0123456789'
const hostile = '<img src=x onerror="document.title=1">'
const request = {
  model: 'demo',
  messages: [{ role: 'user', content: hostile }],
  logit_bias: { '1': 2 },
  temperature: 1.5,
}

describe.skipIf(!browserInstalled)(browserTitle, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  type Opening = BrowserContextOptions & {
    keyed?: boolean
    tab?: string
    isDemo?: boolean
    config?: Partial<GatewayConfig>
  }

  /**
   * The console of a gateway with or without keys. Whatever it asks of others, or complains about,
   * fails the test.
   */
  async function open({
    keyed = false,
    tab = '',
    isDemo = false,
    config,
    ...options
  }: Opening = {}) {
    const page_ = createConsole({ gateway: () => handler, isDemo, ...(keyed && { adminKey }) })
    const settings: GatewayConfig = {
      ...(keyed && { keys: [{ name: 'alice', key }] }),
      channels: [{ name: 'demo', embedded: 'demo' }],
      models: ['demo', 'other'].map(id => ({ id, channels: [{ name: 'demo' }] })),
      ...config,
    }
    const handler: ConnectGateway = gateway(settings, { ...page_.hooks, logger: false })
    after(() => handler.close(200))
    const url = await listen(
      (request, response) => void (page_.handle(request, response) || handler(request, response)),
    )
    return visit(url, tab, options)
  }

  /**
   * The console of `wireglot serve` with records, as the operator. Two channels serve `sonnet`: the
   * first one cannot be reached.
   */
  async function openServed({
    tab = '',
    used = true,
    ...options
  }: BrowserContextOptions & { tab?: string; used?: boolean } = {}) {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    const config = join(folder, 'config.json')
    const settings: GatewayConfig = {
      adminKey,
      channels: [
        { name: 'away', protocols: ['messages'], baseUrl: 'http://127.0.0.1:9' },
        { name: 'demo', embedded: 'demo', protocols: ['messages'] },
      ],
      models: [
        {
          id: 'sonnet',
          channels: [{ name: 'away' }, { name: 'demo', model: 'claude-sonnet', priority: 1 }],
        },
      ],
      records: { file: join(folder, 'records.db') },
      prices: { 'claude-*': { input: 3, output: 15 } },
      defaults: { retries: 0 },
    }
    await writeFile(config, JSON.stringify(settings))
    const { url, close } = await serve(
      { host: '127.0.0.1', port: 0, config },
      { out() {}, err() {}, folder, environment: { WIREGLOT_ENCRYPTION_KEY: 'e'.repeat(32) } },
    )
    after(close)
    const asOperator = { authorization: `Bearer ${adminKey}` }
    if (used)
      for (const model of ['sonnet', 'sonnet', hostile])
        await (
          await fetch(`${url}/v1/chat/completions`, post({ ...request, model }, asOperator))
        ).text()
    const opened = await visit(url, tab, options)
    await opened.page.getByLabel('Admin key, or the key of a client').fill(adminKey)
    await opened.page.keyboard.press('Enter')
    await opened.page.locator('.who', { hasText: 'operator' }).waitFor()
    return opened
  }

  async function visit(url: string, tab: string, options: BrowserContextOptions) {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => {
      // The page reports a refusal; the browser reports it, too.
      if (!/status of 4\d\d/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', request => {
      if (!request.url().startsWith(`${url}/`) && !request.url().startsWith('data:'))
        complaints.push(request.url())
      if (request.url().includes(key) || request.url().includes(adminKey))
        complaints.push('a key is in a URL')
    })
    after(async () => {
      await context.close()
      expect(complaints).toEqual([])
    })
    await page.goto(`${url}/console${tab}`)
    return { page, url }
  }

  const source = (page: Page) => page.getByLabel('Request, response or stream')
  const notes = (page: Page) => page.getByRole('list', { name: /^Notes of/ }).getByRole('button')

  async function translate(page: Page, text: string) {
    await source(page).fill(text)
    await page.getByRole('button', { name: 'Translate' }).click()
  }

  const choose = (page: Page, target: string) =>
    page
      .getByRole('group', { name: 'Translated into' })
      .getByRole('button', { name: target })
      .click()

  test('the first screen of wireglot serve shows a translation, with lines that notes are about', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'wireglot-'))
    const { url, close } = await serve(
      { host: '127.0.0.1', port: 0, log: 'off' },
      { out() {}, err() {}, folder, environment: {} },
    )
    after(close)
    const { page } = await visit(url, '', { viewport: { width: 1280, height: 800 } })
    await page.getByText('tokens out').waitFor()
    await page.getByText('demo · messages · demo').waitFor()
    const shown = await notes(page).allTextContents()
    expect(shown).toHaveLength(3)
    for (const note of [
      /synthesized .*\/max_tokens/,
      /dropped .*\/seed/,
      /synthesized .*\/created/,
    ])
      expect(shown).toContainEqual(expect.stringMatching(note))
    const lines = (tone: string) => page.locator(`.line.${tone}`).first().textContent()
    expect(await lines('synthesized')).toContain('"max_tokens"')
    expect(await lines('dropped')).toContain('"seed"')
    // The picture of the README.
    if (process.env['WIREGLOT_PICTURES'])
      await page.screenshot({
        path: fileURLToPath(new URL('../../docs/console.png', import.meta.url)),
      })
  })

  describe('the playground', () => {
    test('sends the example of a demo at once, and shows what the upstream got and the streamed response', async () => {
      const { page } = await open({ isDemo: true })
      await page.getByText('tokens out').waitFor()
      expect(await page.locator('.response-text').textContent()).toContain('Why is the sky blue?')
      expect(await page.getByRole('region', { name: 'Request to demo' }).textContent()).toContain(
        '"Why is the sky blue?"',
      )
      expect(await page.locator('.frame').count()).toBeGreaterThan(3)
      expect(await page.title()).toBe('Playground · wireglot console')
    })

    test.each(['responses', 'messages', 'generate-content'])(
      'sends %s, streamed and whole, with its text above',
      async protocol => {
        const { page } = await open()
        await page.getByLabel('Model').fill('other')
        await page.getByLabel('Protocol').selectOption(protocol)
        for (const isStreamed of [true, false]) {
          await page.getByRole('checkbox', { name: 'stream' }).setChecked(isStreamed)
          await page.getByRole('button', { name: 'Send' }).click()
          await page.getByText('tokens out').waitFor()
          expect(await page.locator('.response-text').textContent()).toContain(
            'Why is the sky blue?',
          )
          expect((await page.locator('.frame').count()) > 1).toBe(isStreamed)
          await page.getByText('tokens out').evaluate(chip => chip.remove())
        }
      },
    )

    test('shows the notes of the request, linked with the lines that they are about', async () => {
      const { page } = await open({
        config: { channels: [{ name: 'demo', embedded: 'demo', protocols: ['messages'] }] },
      })
      await page.getByRole('textbox', { name: 'Request' }).fill(JSON.stringify(request))
      await page.keyboard.press('Control+Enter')
      const note = notes(page).filter({ hasText: '/logit_bias' })
      await note.waitFor()
      await note.hover()
      expect(
        (
          await page.getByRole('region', { name: 'Your request' }).locator('.lit').allTextContents()
        ).join(''),
      ).toContain('"logit_bias"')
      await page
        .getByRole('button', { name: /^Note \d+: dropped \/logit_bias/ })
        .first()
        .click()
      expect(await focused(page)).toMatch(/^\d+ dropped/)
    })

    test('shows what the gateway refuses, and text that is no JSON', async () => {
      const { page } = await open()
      await page.getByRole('textbox', { name: 'Request' }).fill('{"model":')
      await page.getByRole('button', { name: 'Send' }).click()
      expect(await page.getByRole('alert').textContent()).toContain('not JSON')
      await page
        .getByRole('textbox', { name: 'Request' })
        .fill(JSON.stringify({ model: hostile, messages: request.messages }))
      await page.getByRole('button', { name: 'Send' }).click()
      await page.locator('.chip', { hasText: '404' }).waitFor()
      await page
        .getByRole('region', { name: 'Response' })
        .last()
        .filter({ hasText: 'onerror' })
        .waitFor()
      expect(await page.title()).toBe('Playground · wireglot console')
    })
  })

  describe('the translation', () => {
    test('shows one target at a time, with its notes linked with the lines that they are about', async () => {
      const { page } = await open({ tab: '#translate' })
      await translate(page, JSON.stringify(request))
      await page.getByText('chat-completions request: it has logit_bias').waitFor()
      for (const target of ['responses', 'messages', 'generate-content']) {
        await choose(page, target)
        expect(await notes(page).filter({ hasText: '/logit_bias' }).textContent()).toMatch(
          /^\d+ dropped .+ \/logit_bias/,
        )
        expect(
          await page.getByRole('region', { name: `${target}, translated` }).textContent(),
        ).toContain('onerror')
        expect(await page.locator('.code').count()).toBe(2)
      }
      const read = page.getByRole('region', { name: 'Parsed source' })
      expect((await read.locator('.line.dropped').allTextContents()).join('')).toContain(
        '"logit_bias"',
      )
      await choose(page, 'messages')
      expect(await page.locator('.lit').count()).toBe(0)
      await notes(page).filter({ hasText: '/logit_bias' }).hover()
      expect((await page.locator('.lit').allTextContents()).join('')).toContain('"logit_bias": {')
      await page.getByRole('heading', { name: 'Source', exact: true }).hover()
      expect(await page.locator('.lit').count()).toBe(0)
      await notes(page).filter({ hasText: '/max_tokens' }).focus()
      expect(
        (
          await page
            .getByRole('region', { name: 'messages, translated' })
            .locator('.lit')
            .allTextContents()
        ).join(''),
      ).toContain('"max_tokens"')
      await read
        .getByRole('button', { name: /dropped \/logit_bias/ })
        .first()
        .click()
      expect(await focused(page)).toMatch(/^\d+ dropped/)
      expect(await page.title()).toBe('Translate · wireglot console')
    })

    test('shows a stream event by event, pretty-printed', async () => {
      const { page } = await open({ tab: '#translate' })
      await translate(page, streams.messages.join(''))
      await page.getByText('messages stream: ').waitFor()
      expect(
        await page.getByRole('region', { name: 'Parsed source' }).locator('.frame').count(),
      ).toBe(streams.messages.length)
      await choose(page, 'responses')
      const first = page
        .getByRole('region', { name: 'responses, translated' })
        .locator('.frame')
        .first()
      expect(await first.locator('summary').textContent()).toBe('response.created')
      expect(await first.locator('.line').nth(1).textContent()).toBe('"type": "response.created",')
      await choose(page, 'chat-completions')
      expect(await page.locator('.frame .line').last().textContent()).toBe('[DONE]')
      await notes(page).filter({ hasText: '/created' }).focus()
      expect(await page.locator('.lit').first().textContent()).toMatch(/^"created": \d+/)
    })

    test('shows a response, and an example when it is opened', async () => {
      const { page } = await open({ tab: '#translate' })
      await page
        .getByRole('group', { name: 'Translated into' })
        .getByRole('button')
        .nth(2)
        .waitFor()
      expect(await source(page).inputValue()).toContain('"model"')
      await translate(page, JSON.stringify(responses['generate-content']))
      await page.getByText('generate-content response: ').waitFor()
      await choose(page, 'messages')
      expect(
        await page.getByRole('region', { name: 'messages, translated' }).textContent(),
      ).toContain('"text": "Hello"')
      await page.getByLabel('Example').selectOption('chat-completions stream')
      await page.locator('.status-line', { hasText: 'chat-completions stream' }).waitFor()
    })

    test('shows what does not come back, and what cannot be translated', async () => {
      const { page } = await open({ tab: '#translate' })
      const body = { model: 'm', odd: { a: '<b>' }, list: [1, 2] }
      const nothing = { notes: [], differences: [] }
      const differences = [
        { path: '/odd/a', was: '<b>' },
        { path: '/list/1', was: 2, now: 3 },
      ]
      const targets = [
        { protocol: 'one', body: {}, notes: [], differences },
        {
          protocol: 'two',
          ...nothing,
          fault: { message: 'two at /list: cannot say this', path: '/list' },
        },
        { protocol: 'three', body: { a: 1 }, ...nothing, noReturn: { message: 'no way' } },
      ]
      await page.route('**/api/translate', route =>
        route.fulfill({
          json: { protocol: 'four', kind: 'request', reasons: [], choices: [], body, targets },
        }),
      )
      await translate(page, '{}')
      await page.locator('.status-line', { hasText: 'four request' }).waitFor()
      expect(await notes(page).allTextContents()).toEqual([
        '1 differs /odd/a"<b>" does not come back',
        '2 differs /list/12 comes back as 3',
      ])
      await notes(page).nth(1).hover()
      expect(await page.locator('.lit').allTextContents()).toEqual(['22'])
      await choose(page, 'two')
      expect(await page.getByRole('alert').textContent()).toBe('two at /list: cannot say this')
      await choose(page, 'three')
      await page.getByText('Translating back failed: no way').waitFor()
    })

    test('says what is no JSON, puts the caret where it breaks, and asks what is ambiguous', async () => {
      const { page } = await open({ tab: '#translate' })
      await translate(page, '{\n  "model": "m",,\n}')
      expect(await page.getByRole('alert').textContent()).toBe(
        'this is not JSON: line 2, column 16',
      )
      expect(
        await page.evaluate(() => (document.activeElement as HTMLTextAreaElement).selectionStart),
      ).toBe(17)
      const { logit_bias: _, ...plain } = request
      await translate(page, JSON.stringify(plain))
      await page.getByRole('button', { name: 'messages request' }).click()
      await page.locator('.status-line', { hasText: 'messages request' }).waitFor()
      await page
        .getByRole('group', { name: 'Translated into' })
        .getByRole('button', { name: 'chat-completions' })
        .waitFor()
    })

    test('makes a link that opens the same translation, without sending it', async () => {
      const { page, url } = await open({ tab: '#translate' })
      await page.evaluate(() => {
        Object.defineProperty(navigator, 'clipboard', {
          value: {
            writeText: async (text: string) => void Object.assign(globalThis, { copied: text }),
          },
        })
      })
      await translate(page, JSON.stringify({ ...request, marker: 'żółw' }))
      await page.locator('.status-line', { hasText: 'chat-completions request' }).waitFor()
      await choose(page, 'messages')
      await page.getByRole('button', { name: 'Copy link' }).click()
      await page.getByRole('button', { name: 'Copied' }).waitFor()
      const link = await page.evaluate(() => (globalThis as unknown as { copied: string }).copied)
      expect(link.startsWith(`${url}/console#translate?t=`)).toBe(true)
      const other = await page.context().newPage()
      await other.goto(link)
      await other.getByRole('region', { name: 'messages, translated' }).waitFor()
      expect(await source(other).inputValue()).toBe(JSON.stringify({ ...request, marker: 'żółw' }))
      await other.goto(`${url}/console#translate?t=broken`)
      await other.getByText('This link is not complete.').waitFor()
    })
  })

  describe('the pages of a gateway with records', () => {
    test('the overview plots requests, errors, tokens, cost and latency, and splits them', async () => {
      const { page } = await openServed({ tab: '#overview' })
      const total = (name: string) => page.locator('.total', { hasText: name }).locator('b').first()
      await page.locator('.total b', { hasText: /^3$/ }).first().waitFor()
      expect(await total('requests').textContent()).toBe('3')
      expect(await total('failed (33.3 %)').textContent()).toBe('1')
      expect(await total('cost').textContent()).toMatch(/^\$0\.0\d+$/)
      for (const title of ['Requests', 'Errors', 'Tokens', 'Cost', 'Latency'])
        expect(
          await page
            .getByRole('img', { name: `${title} over time` })
            .locator('canvas')
            .count(),
        ).toBe(1)
      await page.getByLabel('Lines').selectOption('channel')
      await page.locator('.legend', { hasText: 'demo' }).first().waitFor()
      await page.getByLabel('Lines').selectOption('model')
      await page.locator('.legend', { hasText: 'sonnet' }).first().waitFor()
      const names = page.getByRole('region', { name: 'Who used what' }).getByRole('rowheader')
      await expect.poll(() => names.allTextContents()).toEqual(['sonnet', '(none)', 'all'])
      await page.getByLabel('Lines').selectOption('key')
      const row = page.getByRole('region', { name: 'Who used what' }).locator('tbody tr')
      await expect
        .poll(async () => (await row.allTextContents())[0])
        .toMatch(/^\(operator\)31\d+\d+\$0\.0\d+\d/)
      await page.getByLabel('Range').selectOption('Last 30 days')
      await page.locator('.total b', { hasText: /^3$/ }).first().waitFor()
      expect(await page.title()).toBe('Overview · wireglot console')
    })

    test('requests are listed, filtered and opened with their attempts and notes, and no HTML of theirs runs', async () => {
      const { page } = await openServed({ tab: '#requests' })
      const rows = page.getByRole('region', { name: 'Requests' }).locator('tbody tr')
      await rows.nth(2).waitFor()
      expect(await rows.first().textContent()).toContain(hostile)
      await page.getByLabel('Result').selectOption('failed')
      await expect.poll(() => rows.count()).toBe(1)
      await rows.first().getByRole('button').click()
      await page.getByRole('heading', { name: /^Request req_/ }).waitFor()
      expect(await page.locator('.facts').textContent()).toContain(`there is no model '${hostile}'`)
      await page.getByLabel('Result').selectOption('all')
      await page.getByLabel('Model').fill('sonnet')
      await page.keyboard.press('Tab')
      await expect.poll(() => rows.count()).toBe(2)
      // The first one failed over, before the circuit breaker knew the channel.
      await rows.last().getByRole('button').press('Enter')
      const attempts = page.getByRole('region', { name: 'Attempts' }).locator('tbody tr')
      await attempts.nth(1).waitFor()
      expect(await attempts.allTextContents()).toEqual([
        expect.stringMatching(/^away.*502 upstream_network.*could not be reached/),
        expect.stringMatching(/^demo.*done/),
      ])
      expect(await page.getByRole('region', { name: 'Notes' }).textContent()).toMatch(
        /dropped.*\/logit_bias/,
      )
      expect(await page.content()).not.toContain('logit_bias&quot;:')
      await page.getByRole('button', { name: 'Close' }).press('Enter')
      expect(await page.getByRole('heading', { name: /^Request req_/ }).count()).toBe(0)
      await rows.first().getByRole('button').press('Enter')
      await page.getByRole('heading', { name: /^Request req_/ }).waitFor()
      await page.keyboard.press('Escape')
      expect(await page.getByRole('heading', { name: /^Request req_/ }).count()).toBe(0)
      expect(await page.title()).toBe('Requests · wireglot console')
    })

    test('on a phone a request is a card of what it has, and code in its notes is code', async () => {
      const { page } = await openServed({
        tab: '#requests',
        viewport: { width: 390, height: 844 },
      })
      const card = (status: string) => page.getByRole('row').filter({ hasText: status })
      const cell = (status: string, head: string) =>
        card(status).first().locator(`td[data-head="${head}"]`)
      await cell('200', 'Tokens out').waitFor()
      expect(await cell('404', 'Total, ms').isVisible()).toBe(true)
      expect(await cell('404', 'Tokens out').isVisible()).toBe(false)
      await card('200').first().getByRole('button').click()
      const meanings = page.getByRole('region', { name: 'Notes' }).locator('td')
      await meanings.locator('code', { hasText: 'now' }).first().waitFor()
      expect((await meanings.allTextContents()).join('')).not.toContain('`')
    })

    test('requests appear while the page is open', async () => {
      const { page, url } = await openServed({ tab: '#requests', used: false })
      await page.getByText('There are no such requests.').waitFor()
      await (
        await fetch(
          `${url}/v1/chat/completions`,
          post({ ...request, model: 'sonnet' }, { authorization: `Bearer ${adminKey}` }),
        )
      ).text()
      await page
        .getByRole('region', { name: 'Requests' })
        .locator('tbody tr', { hasText: 'sonnet' })
        .waitFor()
    })

    test('a key is created, shown once, used, changed, rotated, disabled and deleted, by keyboard', async () => {
      const { page, url } = await openServed({ tab: '#keys', used: false })
      page.on('dialog', dialog => void dialog.accept())
      await page.getByText('There are no keys yet.').waitFor()
      await page.getByLabel('Name').focus()
      await page.keyboard.type('carol')
      await page.getByLabel('Requests per minute').focus()
      await page.keyboard.type('7')
      await page.keyboard.press('Enter')
      const secret = page.locator('.secret code')
      await secret.waitFor()
      const first = (await secret.textContent()) ?? ''
      const used = async (one: string) =>
        (await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${one}` } })).status
      expect(await used(first)).toBe(200)
      const row = page.getByRole('region', { name: 'Keys' }).locator('tbody tr')
      expect(await row.textContent()).toContain('7 requests per minute')
      await page.getByRole('button', { name: 'Hide' }).press('Enter')
      expect(await page.content()).not.toContain(first)
      await page.getByRole('button', { name: 'Edit carol' }).press('Enter')
      await page.getByLabel('Dollars per month').fill('2.5')
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      await row.filter({ hasText: '$0.00 of $2.50' }).waitFor()
      expect(await row.getByRole('progressbar', { name: '$0.00 of $2.50' }).count()).toBe(1)
      await page.getByRole('button', { name: 'Rotate carol' }).press('Enter')
      await secret.waitFor()
      const second = (await secret.textContent()) ?? ''
      expect([await used(first), await used(second)]).toEqual([401, 200])
      await page.getByRole('button', { name: 'Disable carol' }).press('Enter')
      await row.filter({ hasText: 'disabled' }).waitFor()
      await page.locator('[aria-label="Enable carol"]:focus').waitFor()
      expect(await used(second)).toBe(401)
      await page.getByRole('button', { name: 'Delete carol' }).press('Enter')
      await page.getByText('There are no keys yet.').waitFor()
    })

    test('a channel is added by pasting its key, gets models, serves, is verified, switched off and deleted', async () => {
      const secret = 'sk-pasted-secret'
      const seen = await upstream((response, { method }) =>
        method === 'GET'
          ? sendJson(200, {
              data: [
                { type: 'model', id: 'm-large' },
                { type: 'model', id: 'm-small' },
              ],
            })(response)
          : sendJson(200, responses.messages)(response),
      )
      const { page, url } = await openServed({ tab: '#channels', used: false })
      page.on('dialog', dialog => void dialog.accept())
      const rows = page.getByRole('region', { name: 'Channels' }).locator('tbody tr')
      await rows.filter({ hasText: 'away' }).filter({ hasText: 'file' }).waitFor()
      expect(await page.getByRole('button', { name: 'Delete away' }).count()).toBe(0)
      await addChannel(page, seen.url, secret)
      await page.getByLabel('Listed by the provider').selectOption('m-large')
      await page.getByRole('button', { name: 'Take over' }).press('Enter')
      const lines = page.getByRole('textbox', { name: 'Models' })
      expect(await lines.inputValue()).toBe('m-large')
      await lines.fill('m-large\nfast = m-small')
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      const row = rows.filter({ hasText: 'added' })
      await row.filter({ hasText: 'm-large, fast = m-small' }).waitFor()
      expect(await row.textContent()).toMatch(/console.*encrypted.*in use/)
      const key = { authorization: `Bearer ${adminKey}` }
      const asked = post({ ...request, model: 'fast' }, key)
      expect((await fetch(`${url}/v1/chat/completions`, asked)).status).toBe(200)
      expect(seen.calls.at(-1)).toMatchObject({
        json: { model: 'm-small' },
        headers: { 'x-api-key': secret },
      })
      await page.getByRole('button', { name: 'Verify added' }).press('Enter')
      await page
        .getByRole('region', { name: 'Check of added' })
        .locator('tbody tr', { hasText: 'the model is listed' })
        .waitFor()
      expect(await page.content()).not.toContain(secret)
      await page.getByRole('button', { name: 'Models added' }).press('Enter')
      await lines.fill('m-*')
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      await row.filter({ hasText: 'm-*' }).waitFor()
      await page.getByRole('button', { name: 'Verify added' }).press('Enter')
      await page.getByLabel('Model of the provider').fill('m-small')
      await page.getByRole('button', { name: 'Send' }).press('Enter')
      await page
        .getByRole('region', { name: 'Check of added' })
        .locator('tbody tr', { hasText: 'the model is listed' })
        .waitFor()
      await page.getByRole('button', { name: 'Models added' }).press('Enter')
      await lines.fill('m-large\nfast = m-small')
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      await row.filter({ hasText: 'm-large, fast = m-small' }).waitFor()
      await page.getByRole('button', { name: 'New key added' }).press('Enter')
      await page.getByLabel('Key, or env:NAME').fill('env:HOME')
      await page.getByRole('button', { name: 'Save' }).press('Enter')
      await page.getByRole('alert').filter({ hasText: '_API_KEY' }).waitFor()
      await page.getByRole('button', { name: 'Switch off added' }).press('Enter')
      await row.filter({ hasText: 'switched off' }).waitFor()
      await page.locator('[aria-label="Switch on added"]:focus').waitFor()
      expect((await fetch(`${url}/v1/chat/completions`, asked)).status).toBe(404)
      await page.getByRole('button', { name: 'Delete added' }).press('Enter')
      await row.waitFor({ state: 'detached' })
    })

    test('a client with a key of its own sees its own requests and models, and nothing of others', async () => {
      const { page, url } = await openServed()
      const { secret } = (await (
        await fetch(
          `${url}/admin/keys`,
          post({ name: 'dave', tokensPerDay: 5 }, { authorization: `Bearer ${adminKey}` }),
        )
      ).json()) as {
        secret: string
      }
      await (
        await fetch(
          `${url}/v1/chat/completions`,
          post({ ...request, model: 'sonnet' }, { authorization: `Bearer ${secret}` }),
        )
      ).text()
      await page.getByRole('button', { name: 'Forget key' }).click()
      await page.getByLabel('Admin key, or the key of a client').fill(secret)
      await page.keyboard.press('Enter')
      await page.locator('.who', { hasText: 'dave' }).waitFor()
      expect(await page.locator('nav a').allTextContents()).toEqual([
        'Playground',
        'Translate',
        'Overview',
        'Requests',
        'Models',
        'Clients',
      ])
      await page.getByRole('link', { name: 'Overview' }).click()
      const budget = page.getByRole('region', { name: 'Budget' }).getByRole('table')
      await budget.getByText('0 tokens today; it begins again at 00:00 UTC').waitFor()
      expect(await budget.textContent()).toMatch(/your key\d+ of 5 tokens/)
      await page.getByRole('link', { name: 'Requests' }).click()
      const rows = page.getByRole('region', { name: 'Requests' }).locator('tbody tr')
      await rows.first().waitFor()
      expect(await rows.count()).toBe(1)
      await page.getByRole('link', { name: 'Models' }).click()
      await page
        .getByRole('region', { name: 'Models' })
        .locator('tbody tr', { hasText: 'messages' })
        .filter({ hasText: 'sonnet' })
        .waitFor()
      expect(await page.content()).not.toMatch(/away|claude-sonnet/)
    })

    test('models and channels show the circuit breaker and its last error, and a channel is verified', async () => {
      const { page } = await openServed({ tab: '#models' })
      await page.getByText('no upstream has refused one lately').waitFor()
      const away = page
        .getByRole('region', { name: 'Channels' })
        .locator('tbody tr', { hasText: 'away' })
      await away.filter({ hasText: 'could not be reached' }).waitFor()
      expect(
        await page.getByRole('region', { name: 'Models' }).locator('tbody tr').last().textContent(),
      ).toContain('3 in, 15 out')
      await page.getByRole('button', { name: 'Verify claude-sonnet of demo' }).press('Enter')
      await page
        .getByRole('region', { name: 'Check of demo' })
        .locator('tbody tr', { hasText: 'tool call' })
        .first()
        .waitFor()
      await page.getByRole('button', { name: 'Verify sonnet of away' }).press('Enter')
      const failed = page
        .getByRole('region', { name: 'Check of away' })
        .locator('tbody tr', { hasText: 'failed' })
        .first()
      await failed.waitFor()
      expect(await failed.locator('.wrap').first().textContent()).not.toBe('')
    })
  })

  test('asks for a key where one is needed, keeps it in this tab, and forgets it', async () => {
    const { page, url } = await open({ keyed: true })
    const field = page.getByLabel('Admin key, or the key of a client')
    await field.waitFor()
    await page.keyboard.type('client-secret-x')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not accepted').waitFor()
    await field.fill(key)
    await page.keyboard.press('Enter')
    await page.locator('.who', { hasText: 'alice' }).waitFor()
    expect(
      await page.evaluate(() => [localStorage.length, document.cookie, location.href]),
    ).toEqual([0, '', `${url}/console`])
    expect(await page.content()).not.toContain(key)
    await page.reload()
    await page.locator('.who', { hasText: 'alice' }).waitFor()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await field.fill(adminKey)
    await page.keyboard.press('Enter')
    await page.locator('.who', { hasText: 'operator' }).waitFor()
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText('tokens out').waitFor()
  })

  test('everything can be done with the keyboard', async () => {
    const { page } = await open({ tab: '#translate' })
    await page.getByRole('group', { name: 'Translated into' }).getByRole('button').first().waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Copy link')
    await source(page).focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.insertText(JSON.stringify(request))
    await page.keyboard.press('Control+Enter')
    await page.getByText('chat-completions request: it has logit_bias').waitFor()
    const seen: string[] = []
    for (
      let presses = 0;
      presses < 20 && !seen.some(text => /^\d+ dropped/.test(text));
      presses++
    ) {
      await page.keyboard.press('Tab')
      seen.push(await focused(page))
      const ring = await page.evaluate(
        () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
      )
      expect(ring, `the focus on ${seen.at(-1)} can be seen`).toBe('solid')
    }
    expect(seen.at(-1)).toMatch(/^\d+ dropped/)
    expect(await page.locator('.lit').count()).toBeGreaterThan(0)
  })

  test('settings of clients name the model and the address under which the console was opened', async () => {
    const { page, url } = await open({ tab: '#clients' })
    await page.getByLabel('Client', { exact: true }).selectOption('codex')
    await page.getByLabel('Model').fill('other')
    await page.keyboard.press('Tab')
    await page.getByText('model = "other"').first().waitFor()
    await page
      .locator('pre', { hasText: `${url}/v1` })
      .first()
      .waitFor()
  })

  describe.each(['light', 'dark'] as const)('in a %s scheme', colorScheme => {
    test.each([1280, 390])(
      '%i pixels wide: everything is legible, and nothing is cut off',
      async width => {
        const { page } = await openServed({ colorScheme, viewport: { width, height: 900 } })
        await page.getByRole('button', { name: 'Send' }).click()
        await page.getByText('tokens out').waitFor()
        for (const tab of tabs) {
          await page.goto(`${page.url().split('#')[0]}#${tab}`)
          if (tab === 'translate') {
            await translate(
              page,
              JSON.stringify({
                ...request,
                messages: [{ role: 'user', content: 'x'.repeat(400) }],
              }),
            )
            await notes(page).first().focus()
          }
          if (tab === 'requests') await page.locator('[data-id]').nth(1).click()
          if (tab === 'channels') await addChannel(page, 'http://127.0.0.1:9')
          if (tab === 'models')
            await page.getByRole('button', { name: 'Verify claude-sonnet of demo' }).click()
          if (tab === 'models') await page.getByRole('region', { name: 'Check of demo' }).waitFor()
          await page.waitForLoadState('networkidle')
          const hidden = await page.evaluate(() =>
            [...document.querySelectorAll('.scroll')]
              .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
              .map(element => element.getAttribute('aria-label')),
          )
          expect(hidden, tab).toEqual([])
          const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
          const [red = 0] = (ground.match(/\d+/g) ?? []).map(Number)
          expect(red > 128, ground).toBe(colorScheme === 'light')
          expect(
            await page.evaluate(() => document.documentElement.scrollWidth),
            tab,
          ).toBeLessThanOrEqual(width)
          expect(await page.evaluate(faint), tab).toEqual([])
          expect(await page.evaluate(overlapping), tab).toEqual([])
        }
      },
    )
  })
})

const tabs = [
  'playground',
  'translate',
  'overview',
  'requests',
  'keys',
  'channels',
  'models',
  'clients',
]

/** Fills the form of *Channels*. */
async function addChannel(page: Page, url: string, key = '') {
  await page.getByLabel('Name', { exact: true }).fill('added')
  await page.getByLabel('Base URL').fill(url)
  await page.getByLabel('Protocol').selectOption('messages')
  await page.getByLabel('Key', { exact: true }).fill(key)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Models of added' }).waitFor()
}

/** Panels whose head or fields stick out. Runs in the browser. */
function overlapping(): string[] {
  return [...document.querySelectorAll('.head, .fields, .actions, .chips, nav, select')]
    .filter(
      element =>
        element.scrollWidth > element.clientWidth + 1 ||
        element.scrollHeight > element.clientHeight + 2,
    )
    .map(({ className, textContent }) => `${className}: ${textContent?.slice(0, 40)}`)
}

/** What a reader of screens says of the element that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    const by = element?.getAttribute('aria-labelledby')
    return (
      element?.getAttribute('aria-label') ??
      (by ? document.getElementById(by)?.textContent : element?.textContent) ??
      ''
    )
  })

/** Texts with less contrast than 4.5 : 1. Runs in the browser. */
function faint(): string[] {
  const rgb = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = rgb(color).map(part =>
      part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4,
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const groundOf = (element: Element | null): string => {
    if (!element) return 'rgb(255, 255, 255)'
    const { backgroundColor } = getComputedStyle(element)
    return rgb(backgroundColor)[3] === 0 ? groundOf(element.parentElement) : backgroundColor
  }
  const found: string[] = []
  for (const element of document.querySelectorAll('body *:not(script):not(style):not(option)')) {
    const text = [...element.childNodes]
      .filter(({ nodeType }) => nodeType === Node.TEXT_NODE)
      .map(({ textContent }) => textContent?.trim())
      .join('')
    if (text === '' || element.getClientRects().length === 0) continue
    const [light = 0, dark = 0] = [getComputedStyle(element).color, groundOf(element)]
      .map(luminance)
      .sort((one, other) => other - one)
    const contrast = (light + 0.05) / (dark + 0.05)
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${text.slice(0, 40)}`)
  }
  return found
}
