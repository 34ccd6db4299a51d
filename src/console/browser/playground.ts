import { call, keyHeaders, root } from './calls.ts'
import { codeView, noteList } from './code.ts'
import {
  button,
  chip,
  copyButton,
  empty,
  fault,
  h,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  setOptions,
} from './dom.ts'
import { createFrameReader } from './frames.ts'
import { loadModels, modelField } from './known-models.ts'
import type { SeenExchange, SentProtocol, Session, Tab } from './types.ts'

/** Sends a request through the gateway, and shows what goes to the upstream and what comes back. */
export function playgroundTab({ protocols, isDemo, role, canManageKeys }: Session): Tab {
  const protocol = menu(protocols.map(({ name }) => name))
  const model = modelField()
  const key = menu([['', role === 'operator' ? 'operator' : 'your key']])
  const stream = h('input', { type: 'checkbox', checked: true })
  const body = h('textarea', {
    spellcheck: false,
    attributes: {
      'aria-keyshortcuts': 'Control+Enter',
      autocapitalize: 'off',
      autocomplete: 'off',
    },
  })
  const address = h('p', { className: 'address' })
  const faults = h('div')
  const send = button('Send', start, 'main')
  const stop = button('Stop', () => sending?.abort())
  const sent = h('div', { className: 'fill' }, empty('What the upstream gets is shown here.'))
  const received = h('div', { className: 'fill' }, empty('The response is shown here.'))
  const status = h('p', {
    className: 'chips',
    attributes: { role: 'status', 'aria-live': 'polite' },
  })
  let sending: AbortController | undefined

  const chosen = (): SentProtocol | undefined =>
    protocols.find(({ name }) => name === protocol.value)
  const pathNow = () => {
    const { path = '', streamPath = '' } = chosen() ?? {}
    return (stream.checked ? streamPath : path).replace('{model}', encodeURIComponent(model.value))
  }

  /** Writes model and stream into the body, where the protocol has them there. */
  function adjust() {
    const { path = '', streamPath } = chosen() ?? {}
    try {
      const value = JSON.parse(body.value) as Record<string, unknown>
      if (!path.includes('{model}')) value['model'] = model.value
      if (path === streamPath) {
        if (stream.checked) value['stream'] = true
        else delete value['stream']
      }
      body.value = JSON.stringify(value, null, 2)
    } catch {
      // The text is being edited. Sending it reports what is wrong.
    }
    showAddress()
  }

  function showAddress() {
    address.textContent = `POST ${pathNow()}`
  }

  async function start() {
    if (sending) return
    replace(faults)
    try {
      JSON.parse(body.value)
    } catch (error) {
      replace(faults, fault(`The request is not JSON: ${messageOf(error)}`))
      body.focus()
      return
    }
    sending = new AbortController()
    send.disabled = true
    stop.hidden = false
    replace(status, chip('', 'waiting …'))
    replace(sent, empty('Waiting for the gateway …'))
    replace(received, empty('Waiting for the gateway …'))
    try {
      await exchange(sending.signal)
    } catch (error) {
      replace(status, chip('dropped', sending.signal.aborted ? 'stopped' : 'failed'))
      if (!sending.signal.aborted) replace(faults, fault(messageOf(error)))
    } finally {
      sending = undefined
      send.disabled = false
      stop.hidden = true
    }
  }

  async function exchange(signal: AbortSignal) {
    const started = performance.now()
    const ms = () => Math.round(performance.now() - started)
    const headers = {
      'content-type': 'application/json',
      'wireglot-console': '1',
      ...(key.value && { 'wireglot-key': encodeURIComponent(key.value) }),
      ...keyHeaders(),
    }
    const response = await fetch(root.replace(/\/$/, '') + pathNow(), {
      method: 'POST',
      headers,
      body: body.value,
      signal,
    }).catch((error: unknown) => {
      throw signal.aborted ? error : new Error('The gateway cannot be reached.')
    })
    const id = response.headers.get('request-id') ?? ''
    const firstMs = ms()
    const tone = response.ok ? 'well' : 'dropped'
    replace(status, chip(tone, String(response.status)), chip('', `first byte ${firstMs} ms`))
    const view = codeView('Response')
    const text = h('p', {
      className: 'response-text',
      attributes: { 'aria-label': 'Text of the response' },
    })
    replace(received, text, view.element)
    const early = seen(id).then(found => found && showSent(found))
    const raw = await readResponse(response, view, text)
    await early
    const found = await over(id)
    if (found) showSent(found)
    const { usage } = found?.record ?? {}
    replace(
      status,
      chip(tone, String(response.status)),
      chip('', `first byte ${firstMs} ms`),
      chip('', `${ms()} ms`),
      usage?.input !== undefined && chip('', `${usage.input} tokens in`),
      usage?.output !== undefined && chip('', `${usage.output} tokens out`),
      copyButton(() => raw),
    )
    const notes = found?.responseNotes ?? []
    if (notes.length > 0)
      replace(
        received,
        text,
        noteList('Notes of the response', notes, () => view),
        view.element,
      )
  }

  async function readResponse(
    response: Response,
    view: ReturnType<typeof codeView>,
    output: HTMLElement,
  ): Promise<string> {
    const { deltaAt, textAt } = chosen() ?? {}
    let raw = ''
    if (!/^text\/event-stream/.test(response.headers.get('content-type') ?? '') || !response.body) {
      raw = await response.text()
      const value = parsed(raw)
      if (value === undefined) view.text(raw)
      else view.json(value)
      output.textContent = textIn(value, textAt) ?? ''
      return raw
    }
    const frames = createFrameReader(frame => {
      const follows =
        view.element.scrollTop + view.element.clientHeight >= view.element.scrollHeight - 8
      view.frame(frame)
      output.append(textIn(frame.value, deltaAt) ?? '')
      if (follows) view.element.scrollTop = view.element.scrollHeight
    })
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

  const seen = (id: string) =>
    call<SeenExchange>(`console/api/exchanges/${encodeURIComponent(id)}`).catch(() => undefined)

  /** The record of an exchange is made when its last byte was sent. */
  async function over(id: string): Promise<SeenExchange | undefined> {
    for (let left = 10; ; left--) {
      const found = await seen(id)
      if (!found || found.record || left === 0) return found
      await new Promise(resolve => setTimeout(resolve, 50))
    }
  }

  function showSent({ attempts, requestNotes }: SeenExchange) {
    const own = codeView('Your request')
    const value = parsed(body.value)
    own.json(value)
    const views = attempts.map(attempt => {
      const view = codeView(`Request to ${attempt.channel}`)
      const json = parsed(attempt.body)
      if (json === undefined) view.text(attempt.body)
      else view.json(json)
      return { attempt, view }
    })
    const last = views.at(-1)?.view
    replace(
      sent,
      attempts.length === 0 &&
        empty(
          role === 'operator'
            ? 'Nothing was sent to an upstream.'
            : 'Only the operator sees requests to upstreams.',
        ),
      requestNotes.length > 0 &&
        noteList('Notes of the request', requestNotes, note =>
          note.kind === 'synthesized' ? last : own,
        ),
      ...views.map(
        ({
          attempt: { channel, model: upstreamModel, protocol: spoken, ms, failure, isCut },
          view,
        }) => [
          h(
            'h3',
            { className: 'rule' },
            `${channel} · ${spoken} · ${upstreamModel} `,
            chip(failure ? 'dropped' : 'well', failure ? String(failure.status) : 'done'),
            chip('', `${ms} ms`),
          ),
          failure &&
            h('p', { className: 'fault', textContent: failure.upstreamMessage ?? failure.message }),
          isCut && empty('The request is longer than what is kept.'),
          view.element,
        ],
      ),
      requestNotes.some(({ kind }) => kind !== 'synthesized') && [
        h('h3', { className: 'rule', textContent: 'Your request' }),
        own.element,
      ],
    )
  }

  protocol.addEventListener('change', () => {
    body.value = chosen()?.example ?? ''
    adjust()
  })
  model.addEventListener('change', adjust)
  stream.addEventListener('change', adjust)
  body.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void start()
  })
  stop.hidden = true

  const isReady = load()

  async function load() {
    const [first = ''] = await loadModels()
    if (model.value === '') model.value = first
    // Somebody may have typed already.
    if (body.value === '') {
      body.value = chosen()?.example ?? ''
      adjust()
    } else showAddress()
    if (canManageKeys) {
      const { keys } = await call<{ keys: { name: string }[] }>('admin/keys').catch(() => ({
        keys: [],
      }))
      setOptions(key, [['', 'operator'], ...keys.map(({ name }) => [name, name] as const)])
    }
  }

  const editor = labeled('Request', body)
  editor.classList.add('editor')
  const element = h(
    'div',
    { className: 'bench three' },
    panel(
      'Request',
      [],
      h(
        'div',
        { className: 'fields' },
        labeled('Protocol', protocol),
        labeled('Model', model),
        labeled('Key', key),
      ),
      address,
      editor,
      h(
        'div',
        { className: 'actions' },
        send,
        stop,
        h('label', { className: 'check' }, stream, ' stream'),
        h(
          'span',
          { className: 'hint' },
          h('kbd', { textContent: 'Ctrl' }),
          ' ',
          h('kbd', { textContent: 'Enter' }),
        ),
      ),
      faults,
    ),
    panel('Upstream request', [], sent),
    panel('Response', [status], received),
  )
  let isFirst = true
  return {
    id: 'playground',
    title: 'Playground',
    element,
    show() {
      if (isFirst && isDemo) void isReady.then(start)
      isFirst = false
      return undefined
    },
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function textIn(value: unknown, at: SentProtocol['deltaAt'] | undefined): string | undefined {
  if (!at || (at.type !== undefined && (value as { type?: unknown } | undefined)?.type !== at.type))
    return undefined
  let found = value
  for (const key of at.keys)
    found =
      typeof found === 'object' && found !== null
        ? (found as Record<string, unknown>)[key]
        : undefined
  return typeof found === 'string' ? found : undefined
}
