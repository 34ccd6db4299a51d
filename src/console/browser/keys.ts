import type { KeyInfo, KeyLimits, Spending } from '../../records/index.ts'
import { call } from './calls.ts'
import {
  button,
  chip,
  copyButton,
  empty,
  h,
  labeled,
  orFault,
  panel,
  replace,
  table,
  wrapped,
} from './dom.ts'
import { groupTable, type ListedGroup, spentView } from './spending.ts'
import type { Tab } from './types.ts'

/** `unpriced`: the models that its budget in dollars does not count. */
type ListedKey = KeyInfo & { used: Spending; unpriced?: string[] }

const refreshMs = 10_000

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
  const list = h('div', { className: 'dense' })
  const groups = h('div')
  const groupPanel = panel('Groups', [], groups)
  groupPanel.hidden = true
  const faults = h('div')
  const secret = h('div', { attributes: { role: 'status' } })
  let turn = 0

  function load() {
    const mine = ++turn
    return orFault(faults, async () => {
      const { keys, groups: all = [] } = await call<{ keys: ListedKey[]; groups?: ListedGroup[] }>(
        'admin/keys',
      )
      if (mine !== turn) return
      groupPanel.hidden = all.length === 0
      replace(groups, groupTable(all))
      replace(list, keys.length === 0 ? empty('There are no keys yet.') : keyTable(keys, actionsOf))
    })
  }

  function attempt(act: () => unknown) {
    replace(faults)
    return orFault(faults, async () => {
      await act()
      await load()
    })
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
    element: h(
      'div',
      { className: 'stack' },
      panel('Keys', [], secret, faults, list, form.element),
      groupPanel,
    ),
    show() {
      void load()
      const timer = setInterval(load, refreshMs)
      return () => {
        clearInterval(timer)
        replace(secret)
        form.leave()
      }
    },
  }
}

const pathOf = ({ name }: KeyInfo) => `admin/keys/${encodeURIComponent(name)}`

function keyTable(
  keys: readonly ListedKey[],
  actionsOf: (key: KeyInfo) => HTMLElement,
): HTMLElement {
  const rowOf = (key: ListedKey) => [
    h('span', { className: 'named' }, key.name, h('code', { textContent: `${key.hint}…` })),
    key.group,
    wrapped(key.models ? key.models.join(', ') : 'all'),
    spentView(key, key.used, 'today'),
    spentView(key, key.used, 'month'),
    limitsOf(key),
    stateOf(key),
    actionsOf(key),
  ]
  const heads = [
    'Name',
    'Group',
    'Models',
    'Today',
    'This month',
    'Other limits',
    'State',
    'Actions',
  ]
  return table('Keys', heads, keys.map(rowOf))
}

/** Budgets stand next to what is used of them. */
function limitsOf(key: ListedKey): HTMLElement {
  const perMinute = (['requestsPerMinute', 'tokensPerMinute'] as const)
    .filter(limit => key[limit] !== undefined)
    .map(limit => chip('', `${key[limit]?.toLocaleString('en')} ${limits[limit].toLowerCase()}`))
  const { unpriced } = key
  const warning = unpriced && chip('approximated', 'no price', unpricedText(unpriced))
  return h('span', { className: 'row' }, perMinute.length > 0 ? perMinute : 'none', warning)
}

const unpricedText = (models: readonly string[]) =>
  `No price is known for ${models.join(', ')}: the budget in dollars does not count them.`

function stateOf({ disabled, expiresAt }: KeyInfo): HTMLElement {
  if (disabled) return chip('dropped', 'disabled')
  if (expiresAt === undefined) return chip('well', 'active')
  const time = new Date(expiresAt)
  const isExpired = time.getTime() <= Date.now()
  // In the words of the browser, as the field for it.
  const title = time.toLocaleString()
  return isExpired
    ? chip('dropped', 'expired', title)
    : chip('well', `until ${time.toLocaleDateString()}`, title)
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
    /** A key that is half written stays; a change of one does not. */
    leave: () => edited && edit(undefined),
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
