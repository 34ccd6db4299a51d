import { call } from './calls.ts'
import { codeView, noteList, parsed, type WritableView } from './code.ts'
import { chip, copyButton, empty, h, messageOf, panel, replace } from './dom.ts'
import { createFrameReader } from './frames.ts'
import { requestForm } from './request-form.ts'
import { sentView } from './sent-view.ts'
import type { SeenExchange, SentProtocol, Session, Tab } from './types.ts'

/** Sends a request through the gateway, and shows what goes to the upstream and what comes back. */
export function playgroundTab(session: Session): Tab {
  const form = requestForm(session, { send: start, stop: () => sending?.abort() })
  // A client does not see how the gateway is configured.
  const isOperator = session.role === 'operator'
  const firstWords = isOperator
    ? 'What the upstream gets is shown here.'
    : 'Notes about the request are shown here.'
  const sent = h('div', { className: 'fill' }, empty(firstWords))
  const received = h('div', { className: 'fill' }, empty('The response is shown here.'))
  const status = h('p', {
    className: 'chips',
    attributes: { role: 'status', 'aria-live': 'polite' },
  })
  let sending: AbortController | undefined

  async function start() {
    if (sending || !form.check()) return
    sending = new AbortController()
    form.setSending(true)
    replace(status, chip('', 'waiting …'))
    replace(sent, empty('Waiting for the gateway …'))
    replace(received, empty('Waiting for the gateway …'))
    try {
      await exchange(sending.signal)
    } catch (error) {
      replace(status, chip('dropped', sending.signal.aborted ? 'stopped' : 'failed'))
      if (!sending.signal.aborted) form.showFault(messageOf(error))
    } finally {
      sending = undefined
      form.setSending(false)
    }
  }

  async function exchange(signal: AbortSignal) {
    const started = performance.now()
    const ms = () => Math.round(performance.now() - started)
    const response = await form.post(signal)
    const id = response.headers.get('request-id') ?? ''
    const firstMs = ms()
    const firstChips = () => [
      chip(response.ok ? 'well' : 'dropped', String(response.status)),
      chip('', `first byte ${firstMs} ms`),
    ]
    replace(status, firstChips())
    const view = codeView('Response')
    const text = h('p', {
      className: 'response-text',
      attributes: { 'aria-label': 'Text of the response' },
    })
    replace(received, text, view.element)
    const early = seenExchange(id).then(found => found && showSent(found))
    const raw = await readResponse(response, form.protocol(), { view, text })
    await early
    const found = await finishedExchange(id)
    if (found) showSent(found)
    const { usage } = found?.record ?? {}
    replace(
      status,
      firstChips(),
      chip('', `${ms()} ms`),
      usage?.input !== undefined && chip('', `${usage.input} tokens in`),
      usage?.output !== undefined && chip('', `${usage.output} tokens out`),
      copyButton(() => raw),
    )
    const notes = found?.responseNotes ?? []
    if (notes.length === 0) return
    const listed = noteList('Notes of the response', notes, () => view)
    replace(received, text, listed, view.element)
  }

  const showSent = (found: SeenExchange) =>
    replace(sent, sentView(found, form.body(), session.role))

  const isReady = form.load()
  let isFirst = true
  return {
    id: 'playground',
    title: 'Playground',
    element: h(
      'div',
      { className: 'bench three' },
      form.element,
      panel(isOperator ? 'Upstream request' : 'Notes of the request', [], sent),
      panel('Response', [status], received),
    ),
    show() {
      if (isFirst && session.isDemo) void isReady.then(start)
      isFirst = false
      return undefined
    },
  }
}

const seenExchange = (id: string) =>
  call<SeenExchange>(`console/api/exchanges/${encodeURIComponent(id)}`).catch(() => undefined)

/** The record of an exchange is made when its last byte was sent. */
async function finishedExchange(id: string): Promise<SeenExchange | undefined> {
  for (let left = 10; ; left--) {
    const found = await seenExchange(id)
    if (!found || found.record || left === 0) return found
    await new Promise(resolve => setTimeout(resolve, 50))
  }
}

/** Shows a response as it arrives, and its text above. Returns all of it. */
async function readResponse(
  response: Response,
  { deltaAt, textAt }: Partial<SentProtocol> = {},
  { view, text }: { view: WritableView; text: HTMLElement },
): Promise<string> {
  const isStream = /^text\/event-stream/.test(response.headers.get('content-type') ?? '')
  if (!isStream || !response.body) {
    const raw = await response.text()
    view.jsonOrText(raw)
    text.textContent = textIn(parsed(raw), textAt) ?? ''
    return raw
  }
  const frames = createFrameReader(frame => {
    const { element } = view
    const follows = element.scrollTop + element.clientHeight >= element.scrollHeight - 8
    view.frame(frame)
    text.append(textIn(frame.value, deltaAt) ?? '')
    if (follows) element.scrollTop = element.scrollHeight
  })
  let raw = ''
  const decoder = new TextDecoder()
  const reader = response.body.getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    const chunk = decoder.decode(next.value, { stream: true })
    raw += chunk
    frames.push(chunk)
  }
  frames.end()
  return raw
}

function textIn(value: unknown, at: SentProtocol['deltaAt'] | undefined): string | undefined {
  if (!at) return undefined
  const { type } = (value ?? {}) as { type?: unknown }
  if (at.type !== undefined && type !== at.type) return undefined
  let found = value
  for (const key of at.keys) {
    if (typeof found !== 'object' || found === null) return undefined
    found = (found as Record<string, unknown>)[key]
  }
  return typeof found === 'string' ? found : undefined
}
