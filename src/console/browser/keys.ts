import type { KeyInfo, KeyLimits } from '../../records/index.ts'
import { call } from './calls.ts'
import {
  button,
  chip,
  copyButton,
  empty,
  fault,
  h,
  labeled,
  messageOf,
  panel,
  replace,
  table,
} from './dom.ts'
import type { Tab } from './types.ts'

const limits = {
  requestsPerMinute: 'Requests per minute',
  tokensPerMinute: 'Tokens per minute',
  tokensPerDay: 'Tokens per day',
  tokensPerMonth: 'Tokens per month',
  dollarsPerDay: 'Dollars per day',
  dollarsPerMonth: 'Dollars per month',
} as const

type Limit = keyof typeof limits
const limitNames = Object.keys(limits) as Limit[]

/** Creates, rotates, disables, changes and deletes keys. */
export function keysTab(): Tab {
  const form = keyForm(() => attempt(save))
  const list = h('div')
  const faults = h('div')
  const secret = h('div', { attributes: { role: 'status' } })
  let turn = 0

  async function load() {
    const mine = ++turn
    try {
      const { keys } = await call<{ keys: KeyInfo[] }>('admin/keys')
      if (mine !== turn) return
      replace(list, keys.length === 0 ? empty('There are no keys yet.') : keyTable(keys, actionsOf))
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  async function attempt(act: () => unknown) {
    replace(faults)
    try {
      await act()
      await load()
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  function actionsOf(key: KeyInfo): HTMLElement {
    const path = pathOf(key)
    /** A button whose name says which key it is about. */
    const named = (text: string, act: () => unknown, { tone = '', id = text } = {}) => {
      const element = button(text, () => attempt(act), `small ${tone}`)
      element.setAttribute('aria-label', `${text} ${key.name}`)
      element.setAttribute('data-id', `${id} ${key.name}`)
      return element
    }
    const rotate = async () => {
      if (!confirm(`Rotate ${key.name}? Its old secret stops working at once.`)) return
      showSecret(await call(`${path}/rotate`, { method: 'POST', body: {} }))
    }
    const toggle = () => call(path, { method: 'PATCH', body: { disabled: !key.disabled } })
    const remove = async () => {
      if (!confirm(`Delete ${key.name}? Its records stay.`)) return
      await call(path, { method: 'DELETE' })
    }
    return h(
      'span',
      { className: 'row' },
      named('Edit', () => form.edit(key)),
      named('Rotate', rotate),
      named(key.disabled ? 'Enable' : 'Disable', toggle, { id: 'toggle' }),
      named('Delete', remove, { tone: 'danger' }),
    )
  }

  function showSecret({ name, secret: text }: KeyInfo & { secret: string }) {
    replace(
      secret,
      h(
        'p',
        { className: 'secret' },
        `The secret of ${name}, which is shown only now: `,
        h('code', { textContent: text }),
        copyButton(() => text),
        button('Hide', () => replace(secret), 'small'),
      ),
    )
  }

  async function save() {
    const { edited, name, limits } = form.written()
    if (edited) await call(pathOf(edited), { method: 'PATCH', body: limits })
    else {
      const given = Object.entries(limits).filter(([, value]) => value !== null)
      const body = { name, ...Object.fromEntries(given) }
      showSecret(await call('admin/keys', { body }))
    }
    form.edit(undefined)
  }

  return {
    id: 'keys',
    title: 'Keys',
    element: panel('Keys', [], secret, faults, list, form.element),
    show() {
      void load()
      return () => replace(secret)
    },
  }
}

const pathOf = ({ name }: KeyInfo) => `admin/keys/${encodeURIComponent(name)}`

function keyTable(keys: readonly KeyInfo[], actionsOf: (key: KeyInfo) => HTMLElement): HTMLElement {
  const rowOf = (key: KeyInfo) => [
    key.name,
    `${key.hint}…`,
    key.group,
    key.models ? key.models.join(', ') : 'all',
    limitsOf(key) || 'none',
    key.expiresAt === undefined ? null : new Date(key.expiresAt).toLocaleString('en-GB'),
    stateOf(key),
    actionsOf(key),
  ]
  const heads = ['Name', 'Secret', 'Group', 'Models', 'Limits', 'Expires', 'State', 'Actions']
  return table('Keys', heads, keys.map(rowOf))
}

const limitsOf = (key: KeyInfo) =>
  limitNames
    .filter(limit => key[limit] !== undefined)
    .map(limit => `${key[limit]?.toLocaleString('en')} ${limits[limit].toLowerCase()}`)
    .join(', ')

function stateOf({ disabled, expiresAt }: KeyInfo): HTMLElement {
  if (disabled) return chip('dropped', 'disabled')
  const isExpired = expiresAt !== undefined && Date.parse(expiresAt) <= Date.now()
  return isExpired ? chip('dropped', 'expired') : chip('well', 'active')
}

/** What is null has no limit. `edited` undefined: a new key. */
type WrittenKey = {
  edited: KeyInfo | undefined
  name: string
  limits: { [Name in keyof KeyLimits]: KeyLimits[Name] | null }
}

/** Creates a key, or changes the one that is being edited. */
function keyForm(submit: () => unknown) {
  const name = h('input', { type: 'text', autocomplete: 'off', required: true, maxLength: 100 })
  const group = h('input', { type: 'text', autocomplete: 'off' })
  const models = h('input', { type: 'text', autocomplete: 'off', placeholder: 'all, or a, b' })
  const expires = h('input', { type: 'datetime-local' })
  const numberFields = limitNames.map(limit => [limit, limitField(limit)] as const)
  const numbers = Object.fromEntries(numberFields) as Record<Limit, HTMLInputElement>
  const title = h('h3', { className: 'rule' })
  const save = h('button', { className: 'main' })
  const cancel = button('Cancel', () => edit(undefined))
  let edited: KeyInfo | undefined

  /** Undefined: the form creates a key. */
  function edit(key: KeyInfo | undefined) {
    edited = key
    title.textContent = key ? `Change ${key.name}` : 'New key'
    save.textContent = key ? 'Save' : 'Create'
    cancel.hidden = !key
    name.value = key?.name ?? ''
    name.disabled = key !== undefined
    group.value = key?.group ?? ''
    models.value = key?.models?.join(', ') ?? ''
    for (const limit of limitNames) numbers[limit].value = String(key?.[limit] ?? '')
    expires.value = key?.expiresAt === undefined ? '' : localTime(new Date(key.expiresAt))
    if (key) group.focus()
  }

  function writtenLimits(): WrittenKey['limits'] {
    const ids = models.value.split(',').map(id => id.trim())
    const listed = ids.filter(Boolean)
    const numberIn = ({ value }: HTMLInputElement) => (value === '' ? null : Number(value))
    return {
      group: group.value.trim() || null,
      models: listed.length > 0 ? listed : null,
      expiresAt: expires.value === '' ? null : new Date(expires.value).toISOString(),
      ...Object.fromEntries(limitNames.map(limit => [limit, numberIn(numbers[limit])])),
    }
  }

  const fields = h(
    'div',
    { className: 'fields' },
    labeled('Name', name),
    labeled('Group', group),
    labeled('Models', models),
    limitNames.map(limit => labeled(limits[limit], numbers[limit])),
    labeled('Expires', expires),
  )
  const actions = h('div', { className: 'actions' }, save, cancel)
  const element = h('form', {}, title, fields, actions)
  element.addEventListener('submit', event => {
    event.preventDefault()
    void submit()
  })
  edit(undefined)
  return {
    element,
    edit,
    written: (): WrittenKey => ({ edited, name: name.value.trim(), limits: writtenLimits() }),
  }
}

const limitField = (limit: Limit) =>
  h('input', {
    type: 'number',
    min: '0',
    step: limit.startsWith('dollars') ? 'any' : '1',
    placeholder: 'no limit',
  })

/** As a field for date and time takes it. */
const localTime = (time: Date) =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

/** For an operator without the admin API. */
export function noKeysTab(): Tab {
  const text = [
    'Keys are kept with the records. Start the gateway with an admin key of at least',
    '16 characters in WIREGLOT_ADMIN_KEY, next to the packages kysely and libsql.',
  ].join(' ')
  return { id: 'keys', title: 'Keys', element: panel('Keys', [], empty(text)) }
}
