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
  const name = h('input', { type: 'text', autocomplete: 'off', required: true, maxLength: 100 })
  const group = h('input', { type: 'text', autocomplete: 'off' })
  const models = h('input', { type: 'text', autocomplete: 'off', placeholder: 'all, or a, b' })
  const expires = h('input', { type: 'datetime-local' })
  const numbers = Object.fromEntries(
    limitNames.map(limit => [
      limit,
      h('input', {
        type: 'number',
        min: '0',
        step: limit.startsWith('dollars') ? 'any' : '1',
        placeholder: 'no limit',
      }),
    ]),
  ) as Record<Limit, HTMLInputElement>
  const title = h('h3', { className: 'rule' })
  const submit = h('button', { className: 'main' })
  const cancel = button('Cancel', () => edit(undefined))
  const form = h(
    'form',
    {},
    title,
    h(
      'div',
      { className: 'fields' },
      labeled('Name', name),
      labeled('Group', group),
      labeled('Models', models),
      limitNames.map(limit => labeled(limits[limit], numbers[limit])),
      labeled('Expires', expires),
    ),
    h('div', { className: 'actions' }, submit, cancel),
  )
  const list = h('div')
  const faults = h('div')
  const secret = h('div', { attributes: { role: 'status' } })
  let edited: KeyInfo | undefined

  async function load() {
    try {
      const { keys } = await call<{ keys: KeyInfo[] }>('admin/keys')
      replace(
        list,
        keys.length === 0
          ? empty('There are no keys yet.')
          : table(
              'Keys',
              ['Name', 'Secret', 'Group', 'Models', 'Limits', 'Expires', 'State', 'Actions'],
              keys.map(rowOf),
            ),
      )
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  function rowOf(key: KeyInfo) {
    const path = `admin/keys/${encodeURIComponent(key.name)}`
    const isExpired = key.expiresAt !== undefined && Date.parse(key.expiresAt) <= Date.now()
    const validity = isExpired ? 'expired' : 'active'
    return [
      key.name,
      `${key.hint}…`,
      key.group,
      key.models ? key.models.join(', ') : 'all',
      limitNames
        .flatMap(limit =>
          key[limit] === undefined
            ? []
            : `${key[limit].toLocaleString('en')} ${limits[limit].toLowerCase()}`,
        )
        .join(', ') || 'none',
      key.expiresAt === undefined ? null : new Date(key.expiresAt).toLocaleString('en-GB'),
      chip(key.disabled || isExpired ? 'dropped' : 'well', key.disabled ? 'disabled' : validity),
      h(
        'span',
        { className: 'row' },
        named('Edit', key, () => edit(key)),
        named(
          'Rotate',
          key,
          async () =>
            confirm(`Rotate ${key.name}? Its old secret stops working at once.`) &&
            showSecret(await call(`${path}/rotate`, { method: 'POST', body: {} })),
        ),
        named(key.disabled ? 'Enable' : 'Disable', key, () =>
          call(path, { method: 'PATCH', body: { disabled: !key.disabled } }),
        ),
        named(
          'Delete',
          key,
          async () =>
            confirm(`Delete ${key.name}? Its records stay.`) &&
            (await call(path, { method: 'DELETE' })),
          'danger',
        ),
      ),
    ]
  }

  /** A button whose name says which key it is about. */
  function named(text: string, { name: of }: KeyInfo, act: () => unknown, tone = '') {
    const element = button(text, () => attempt(act), `small ${tone}`)
    element.setAttribute('aria-label', `${text} ${of}`)
    return element
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

  function showSecret({ name: of, secret: text }: KeyInfo & { secret: string }) {
    replace(
      secret,
      h(
        'p',
        { className: 'secret' },
        `The secret of ${of}, which is shown only now: `,
        h('code', { textContent: text }),
        copyButton(() => text),
        button('Hide', () => replace(secret), 'small'),
      ),
    )
  }

  /** Undefined: the form creates a key. */
  function edit(key: KeyInfo | undefined) {
    edited = key
    title.textContent = key ? `Change ${key.name}` : 'New key'
    submit.textContent = key ? 'Save' : 'Create'
    cancel.hidden = !key
    name.value = key?.name ?? ''
    name.disabled = key !== undefined
    group.value = key?.group ?? ''
    models.value = key?.models?.join(', ') ?? ''
    for (const limit of limitNames)
      numbers[limit].value = key?.[limit] === undefined ? '' : String(key[limit])
    expires.value = key?.expiresAt === undefined ? '' : localTime(new Date(key.expiresAt))
    if (key) group.focus()
  }

  /** What is empty is null: no limit. */
  function written(): { [Name in keyof KeyLimits]: KeyLimits[Name] | null } {
    const list = models.value
      .split(',')
      .map(id => id.trim())
      .filter(Boolean)
    return {
      group: group.value.trim() || null,
      models: list.length > 0 ? list : null,
      expiresAt: expires.value === '' ? null : new Date(expires.value).toISOString(),
      ...Object.fromEntries(
        limitNames.map(limit => [
          limit,
          numbers[limit].value === '' ? null : Number(numbers[limit].value),
        ]),
      ),
    }
  }

  form.addEventListener('submit', event => {
    event.preventDefault()
    void attempt(async () => {
      if (edited)
        await call(`admin/keys/${encodeURIComponent(edited.name)}`, {
          method: 'PATCH',
          body: written(),
        })
      else {
        const given = Object.fromEntries(
          Object.entries(written()).filter(([, value]) => value !== null),
        )
        showSecret(await call('admin/keys', { body: { name: name.value.trim(), ...given } }))
      }
      edit(undefined)
    })
  })
  edit(undefined)
  return {
    id: 'keys',
    title: 'Keys',
    element: panel('Keys', [], secret, faults, list, form),
    show() {
      void load()
      return () => replace(secret)
    },
  }
}

/** As a field for date and time takes it. */
const localTime = (time: Date) =>
  new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)

/** For an operator without the admin API. */
export function noKeysTab(): Tab {
  const text =
    'Keys are kept with the records. Start the gateway with an admin key of at least 16 characters in WIREGLOT_ADMIN_KEY, next to the packages kysely and libsql.'
  return { id: 'keys', title: 'Keys', element: panel('Keys', [], empty(text)) }
}
