import { call, keyHeaders, root } from './calls.ts'
import {
  button,
  codeField,
  fault,
  h,
  keysHint,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  setOptions,
} from './dom.ts'
import { loadModels, modelField } from './known-models.ts'
import type { SentProtocol, Session } from './types.ts'

/** The request that the playground sends. */
export type RequestForm = {
  element: HTMLElement
  protocol(): SentProtocol | undefined
  body(): string
  /** False: the body is no JSON, and the form says so. */
  check(): boolean
  /** @throws Error with a message for people */
  post(signal: AbortSignal): Promise<Response>
  showFault(message: string): void
  setSending(isSending: boolean): void
  /** Fills in models, keys and the first example. */
  load(): Promise<void>
}

export function requestForm(
  { protocols, role, canManageKeys }: Session,
  { send, stop }: { send(): unknown; stop(): unknown },
): RequestForm {
  const protocol = menu(protocols.map(({ name }) => name))
  const model = modelField()
  const key = menu([['', role === 'operator' ? 'operator' : 'your key']])
  const stream = h('input', { type: 'checkbox', checked: true })
  const body = codeField(send)
  const address = h('p', { className: 'address' })
  const faults = h('div')
  const sendButton = button('Send', send, 'main')
  const stopButton = button('Stop', stop)
  stopButton.hidden = true

  const chosen = () => protocols.find(({ name }) => name === protocol.value)
  const path = () => {
    const { path = '', streamPath = '' } = chosen() ?? {}
    return (stream.checked ? streamPath : path).replace('{model}', encodeURIComponent(model.value))
  }
  const showAddress = () => {
    address.textContent = `POST ${path()}`
  }
  const showFault = (message: string) => replace(faults, fault(message))

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

  function writeExample() {
    body.value = chosen()?.example ?? ''
    adjust()
  }

  protocol.addEventListener('change', writeExample)
  model.addEventListener('change', adjust)
  stream.addEventListener('change', adjust)

  const editor = labeled('Request', body)
  editor.classList.add('editor')
  const fields = h(
    'div',
    { className: 'fields' },
    labeled('Protocol', protocol),
    labeled('Model', model),
    labeled('Key', key),
  )
  const actions = h(
    'div',
    { className: 'actions' },
    sendButton,
    stopButton,
    h('label', { className: 'check' }, stream, ' stream'),
    keysHint(),
  )
  return {
    element: panel('Request', [], fields, address, editor, actions, faults),
    protocol: chosen,
    body: () => body.value,
    showFault,
    check() {
      replace(faults)
      try {
        JSON.parse(body.value)
        return true
      } catch (error) {
        showFault(`The request is not JSON: ${messageOf(error)}`)
        body.focus()
        return false
      }
    },
    post: signal => post({ path: path(), key: key.value, body: body.value, signal }),
    setSending(isSending) {
      sendButton.disabled = isSending
      stopButton.hidden = !isSending
    },
    async load() {
      const [first = ''] = await loadModels()
      if (model.value === '') model.value = first
      // Somebody may have typed already.
      if (body.value === '') writeExample()
      else showAddress()
      if (canManageKeys) setOptions(key, [['', 'operator'], ...(await keyOptions())])
    },
  }
}

async function keyOptions() {
  const nothing = () => ({ keys: [] })
  const { keys } = await call<{ keys: { name: string }[] }>('admin/keys').catch(nothing)
  return keys.map(({ name }) => [name, name] as const)
}

function post({
  path,
  key,
  body,
  signal,
}: {
  path: string
  key: string
  body: string
  signal: AbortSignal
}): Promise<Response> {
  const headers = {
    'content-type': 'application/json',
    'wireglot-console': '1',
    ...(key && { 'wireglot-key': encodeURIComponent(key) }),
    ...keyHeaders(),
  }
  const url = root.replace(/\/$/, '') + path
  return fetch(url, { method: 'POST', headers, body, signal }).catch((error: unknown) => {
    throw signal.aborted ? error : new Error('The gateway cannot be reached.')
  })
}
