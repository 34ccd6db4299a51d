import connect from 'connect'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { protocolNames } from '../../src/protocols/index.ts'
import { after, asking, listen, mounted, replies, streams } from '../gateway/support.ts'
import { browserInstalled, browserTitle, startBrowser } from './browser.ts'

const key = 'client-secret-a'
const request = { model: 'demo', messages: [{ role: 'user', content: '<img src=x onerror="document.title=1">' }], logit_bias: { '1': 2 }, temperature: 1.5 }

describe.skipIf(!browserInstalled)(browserTitle, () => {
  let browser: Browser
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterAll(() => browser.close())

  /** The page of a gateway with or without keys. Whatever it asks of others, or complains about, fails the test. */
  async function open({ keyed = false, mount = '', ...options }: BrowserContextOptions & { keyed?: boolean; mount?: string } = {}) {
    const handler = mounted({
      page: true,
      ...(keyed ? { keys: [{ name: 'alice', key }] } : { auth: 'none' }),
      channels: [{ name: 'demo', embedded: 'demo' }],
      models: ['demo', 'other'].map(id => ({ id, channels: [{ name: 'demo' }] })),
    })
    const app = connect()
    app.use(mount, handler)
    const url = await listen(app)
    const context = await browser.newContext(options)
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', message => {
      // A refusal is told by the page; the browser tells it, too.
      if (!/status of 401/.test(message.text())) complaints.push(message.text())
    })
    page.on('pageerror', error => complaints.push(error.message))
    page.on('request', asked => {
      if (!asked.url().startsWith(`${url}/`) && !asked.url().startsWith('data:')) complaints.push(asked.url())
    })
    after(async () => {
      await context.close()
      expect(complaints).toEqual([])
    })
    await page.goto(url + mount)
    return { page, url }
  }

  const notesOf = (page: Page, protocol: string) => page.getByRole('region', { name: protocol, exact: true }).getByRole('list').getByRole('button')

  async function translate(page: Page, text: string) {
    await page.getByRole('textbox', { name: 'Request, response or stream' }).fill(text)
    await page.getByRole('button', { name: 'Translate' }).click()
  }

  test('a request is shown in the three other protocols, with its notes; what is noted is marked where it stands', async () => {
    const { page } = await open()
    await translate(page, JSON.stringify(request))
    await page.getByText('chat-completions request: it has logit_bias').waitFor()
    expect(await page.locator('.target h2').allTextContents()).toEqual(['responses', 'messages', 'generate-content'])
    for (const protocol of ['responses', 'messages', 'generate-content']) {
      const note = notesOf(page, protocol).filter({ hasText: '/logit_bias' })
      expect(await note.textContent()).toMatch(/^dropped .+ \/logit_bias/)
      expect(await page.getByRole('region', { name: `${protocol}, translated` }).textContent()).toContain('onerror')
    }
    const marked = page.locator('#read .line.dropped')
    expect((await marked.allTextContents()).join('')).toContain('"logit_bias"')
    const lit = page.locator('.lit')
    expect(await lit.count()).toBe(0)
    await notesOf(page, 'messages').filter({ hasText: '/logit_bias' }).hover()
    expect((await lit.allTextContents()).join('')).toMatch(/^"logit_bias": \{"1": 2/)
    await page.getByRole('heading', { name: 'Source' }).hover()
    expect(await lit.count()).toBe(0)
    const made = notesOf(page, 'messages').filter({ hasText: '/max_tokens' })
    await made.focus()
    expect((await page.locator('.target .lit').allTextContents()).join('')).toContain('"max_tokens"')
    expect(await page.title()).toBe('wireglot playground')
  })

  test('a stream is shown event by event', async () => {
    const { page } = await open()
    await translate(page, streams.messages.join(''))
    await page.getByText('messages stream: ').waitFor()
    expect(await page.locator('#read .frame').count()).toBe(streams.messages.length)
    expect(await page.locator('#read .frame').first().locator('wbr').count(), 'lines break between members').toBeGreaterThan(3)
    const events = await page.getByRole('region', { name: 'responses, translated' }).locator('.frame').allTextContents()
    expect(events[0]).toMatch(/^response\.created {2}\{"type":"response\.created"/)
    expect(events.at(-1)).toContain('response.completed')
    const done = await page.getByRole('region', { name: 'chat-completions, translated' }).locator('.line').last().textContent()
    expect(done).toBe('[DONE]')
    await notesOf(page, 'chat-completions').filter({ hasText: '/created' }).focus()
    expect((await page.locator('.target .lit').first().textContent()) ?? '').toMatch(/^"created":\d+$/)
  })

  test('a reply is shown, too', async () => {
    const { page } = await open()
    await translate(page, JSON.stringify(replies['generate-content']))
    await page.getByText('generate-content response: ').waitFor()
    expect(await page.getByRole('region', { name: 'messages, translated' }).textContent()).toContain('"text": "Hello"')
  })

  test('what does not come back is shown, and so is what cannot be said at all', async () => {
    const { page } = await open()
    const body = { model: 'm', odd: { a: '<b>' }, list: [1, 2] }
    const nothing = { notes: [], differences: [] }
    const targets = [
      {
        protocol: 'one',
        body: {},
        notes: [],
        differences: [
          { path: '/odd/a', was: '<b>' },
          { path: '/list/1', was: 2, now: 3 },
        ],
      },
      { protocol: 'two', ...nothing, fault: { message: 'two at /list: cannot say this', path: '/list' } },
      { protocol: 'three', body: { a: 1 }, ...nothing, noReturn: { message: 'no way' } },
    ]
    await page.route('**/playground/translate', route =>
      route.fulfill({ json: { protocol: 'four', kind: 'request', reasons: [], choices: [], body, targets } }),
    )
    await translate(page, '{}')
    const told = notesOf(page, 'one')
    await told.first().waitFor()
    expect(await told.allTextContents()).toEqual(['difference /odd/a"<b>" does not come back', 'difference /list/12 comes back as 3'])
    expect(await page.locator('#read .differs').allTextContents()).toEqual(['"a": "<b>"', '2'])
    await told.nth(1).hover()
    expect(await page.locator('.lit').allTextContents()).toEqual(['2'])
    expect(await page.getByRole('region', { name: 'two', exact: true }).locator('.fault').textContent()).toBe('two at /list: cannot say this')
    expect(await page.getByRole('region', { name: 'three', exact: true }).textContent()).toContain('The way back was not possible: no way')
  })

  test('what is no JSON is told, and the caret stands where it breaks', async () => {
    const { page } = await open()
    await translate(page, '{\n  "model": "m",,\n}')
    expect(await page.getByRole('alert').textContent()).toBe('this is not JSON: line 2, column 16')
    expect(await page.evaluate(() => (document.activeElement as HTMLTextAreaElement).selectionStart)).toBe(17)
    await translate(page, JSON.stringify({ ...request, messages: [{ content: 'Hi' }] }))
    await page.getByText('/messages/0/role').waitFor()
    expect((await page.locator('#read .dropped').allTextContents()).join('')).toContain('"content": "Hi"')
  })

  test.each([1440, 1024])('nothing is cut off at %i pixels', async width => {
    const { page, url } = await open({ viewport: { width, height: 900 } })
    for (const client of protocolNames) await fetch(url + asking(client)[0], asking(client)[1])
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('#records td').first().waitFor()
    const cut = await page.evaluate(() => {
      const needed = (select: HTMLSelectElement) => {
        const copy = document.createElement('select')
        copy.append(...[...select.options].map(({ text }) => new Option(text)))
        copy.style.cssText = `position: absolute; width: auto; padding: 0; font: ${getComputedStyle(select).font}`
        document.body.append(copy)
        const { width } = copy.getBoundingClientRect()
        copy.remove()
        return width
      }
      const isCut = (element: Element) =>
        element instanceof HTMLSelectElement ? needed(element) > element.clientWidth : element.scrollWidth > element.clientWidth
      return [...document.querySelectorAll('#protocol, #kind, #example, #records, #models-list')].filter(isCut).map(({ id }) => id)
    })
    expect(cut).toEqual([])
  })

  test('shows an example, translated, when it is opened', async () => {
    const { page } = await open()
    await page.locator('.target h2').nth(2).waitFor()
    expect(await page.getByRole('textbox', { name: 'Request, response or stream' }).inputValue()).toContain('"model"')
  })

  test('what several protocols could mean is asked', async () => {
    const { page } = await open()
    const { logit_bias: _, ...plain } = request
    await translate(page, JSON.stringify(plain))
    await page.getByRole('button', { name: 'messages request' }).click()
    await page.getByText('messages request').waitFor()
    expect(await page.locator('.target h2').allTextContents()).toEqual(['chat-completions', 'responses', 'generate-content'])
    expect(await page.getByRole('alert').count()).toBe(0)
  })

  test('asks for a key where one is needed, keeps it in this tab, and forgets it', async () => {
    const { page, url } = await open({ keyed: true })
    const field = page.getByLabel('Key of this gateway')
    await field.waitFor()
    await page.keyboard.type('client-secret-x')
    await page.keyboard.press('Enter')
    await page.getByText('This key is not taken').waitFor()
    await field.fill(key)
    await page.keyboard.press('Enter')
    await page.getByText('kept in this tab only').waitFor()
    await page.locator('#models').getByText('other').waitFor()
    expect(await page.evaluate(() => [localStorage.length, document.cookie, location.href])).toEqual([0, '', `${url}/`])
    expect(await page.content()).not.toContain(key)
    await page.reload()
    await page.locator('#models').getByText('other').waitFor()
    await page.getByRole('button', { name: 'Forget key' }).click()
    await page.getByText('This gateway wants a key').waitFor()
    await translate(page, JSON.stringify(request))
    expect(await page.getByRole('alert').textContent()).toBe('no API key was given')
  })

  test('everything can be done with keys', async () => {
    const { page } = await open()
    await page.locator('#models').getByText('other').waitFor()
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Skip to the source')
    await page.keyboard.press('Enter')
    expect(await focused(page)).toBe('Request, response or stream in one protocol')
    await page.keyboard.insertText(JSON.stringify(request))
    await page.keyboard.press('Control+Enter')
    await notesOf(page, 'responses').first().waitFor()
    const seen: string[] = []
    for (let presses = 0; presses < 20 && !seen.some(text => text.startsWith('dropped')); presses++) {
      await page.keyboard.press('Tab')
      seen.push(await focused(page))
      const ring = await page.evaluate(() => getComputedStyle(document.activeElement ?? document.body).outlineStyle)
      expect(ring, `the focus on «${seen.at(-1)}» can be seen`).toBe('solid')
    }
    expect(seen).toEqual(['Translate', 'As it was read', 'Copy', expect.stringMatching(/^dropped/)])
    expect(await page.locator('#read .lit').count()).toBeGreaterThan(0)
  })

  test('models, settings for clients and the usage of this process are shown', async () => {
    const { page, url } = await open({ mount: '/ai' })
    await page.getByText('Nothing was asked yet.').waitFor()
    await (await fetch(`${url}/ai${asking('messages')[0]}`, asking('messages', { model: 'demo' })[1])).text()
    await page.getByRole('button', { name: 'Refresh' }).click()
    await page.locator('#records tbody td').first().waitFor()
    expect(await page.locator('#records tbody td').allTextContents()).toEqual(expect.arrayContaining(['demo', 'messages', '200']))
    await page.getByLabel('Client', { exact: true }).selectOption('codex')
    await page.getByLabel('Model', { exact: true }).selectOption('other')
    await page.locator('#snippets').getByText('model = "other"').first().waitFor()
    expect(await page.locator('#snippets').textContent()).toContain(`${url}/ai/v1`)
    await page.getByRole('textbox', { name: 'Request, response or stream' }).fill(JSON.stringify(request))
    await page.keyboard.press('Control+Enter')
    await page.getByText('chat-completions request: it has logit_bias').waitFor()
    await page.getByLabel('Example').selectOption({ index: 3 })
    await page.getByText('stream: ').waitFor()
  })

  describe.each(['light', 'dark'] as const)('in a %s scheme', colorScheme => {
    test.each([1440, 480])('%i pixels wide: everything is legible, and nothing stands out to the side', async width => {
      const { page } = await open({ colorScheme, viewport: { width, height: 900 } })
      await page.locator('#models').getByText('other').waitFor()
      await translate(page, JSON.stringify({ ...request, messages: [{ role: 'user', content: 'x'.repeat(400) }] }))
      await notesOf(page, 'messages').first().focus()
      const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
      const [red = 0] = (ground.match(/\d+/g) ?? []).map(Number)
      expect(red > 128, ground).toBe(colorScheme === 'light')
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width)
      expect(await page.evaluate(faint)).toEqual([])
      const columns = await page.evaluate(() => getComputedStyle(document.getElementById('bench') ?? document.body).gridTemplateColumns.split(' ').length)
      expect(columns).toBe(width > 1000 ? protocolNames.length : 1)
    })
  })
})

/** What a reader of screens says of the element that has the focus. */
const focused = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const element = document.activeElement
    const by = element?.getAttribute('aria-labelledby')
    return element?.getAttribute('aria-label') ?? (by ? document.getElementById(by)?.textContent : element?.textContent) ?? ''
  })

/** Texts with less contrast than 4.5 : 1. Runs in the browser. */
function faint(): string[] {
  const rgb = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number)
  const luminance = (color: string) => {
    const [red = 0, green = 0, blue = 0] = rgb(color).map(part => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4))
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
    const [light = 0, dark = 0] = [getComputedStyle(element).color, groundOf(element)].map(luminance).sort((one, other) => other - one)
    const contrast = (light + 0.05) / (dark + 0.05)
    if (contrast < 4.5) found.push(`${contrast.toFixed(2)} ${text.slice(0, 40)}`)
  }
  return found
}
