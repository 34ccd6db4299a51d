import type { ChannelModel, ShownChannel, ShownChannels } from '../../records/index.ts'
import type { Check } from '../../verify/check.ts'
import { call } from './calls.ts'
import { checkTable } from './checks.ts'
import {
  button,
  type Child,
  chip,
  empty,
  h,
  labeled,
  menu,
  messageOf,
  orFault,
  panel,
  replace,
  setOptions,
  table,
  wrapped,
} from './dom.ts'
import type { Session, Tab } from './types.ts'

/** Adds, maps, checks, switches off and deletes channels; those of the configuration are shown. */
export function channelsTab({ protocols }: Session): Tab {
  const form = newChannelForm(
    protocols.map(({ name }) => name),
    () => attempt(add),
  )
  const list = h('div', { className: 'dense' })
  const faults = h('div')
  const result = h('div', { attributes: { role: 'status' } })

  const load = () =>
    orFault(faults, async () => {
      const shown = await call<ShownChannels>('admin/channels')
      form.update(shown)
      replace(list, channelTable(shown.channels, actionsOf))
    })

  function attempt(act: () => unknown) {
    replace(faults)
    return orFault(faults, async () => {
      await act()
      await load()
    })
  }

  async function add() {
    const added = await call<ShownChannel>('admin/channels', { body: form.written() })
    form.clear()
    await openModels(added)
  }

  function actionsOf(channel: ShownChannel): HTMLElement {
    const { name, models, disabled, from, fault: broken } = channel
    const path = pathOf(channel)
    /** A button whose name says which channel it is about. */
    const named = (text: string, act: () => unknown, { tone = '', id = text } = {}) => {
      const element = button(text, () => attempt(act), `small ${tone}`)
      element.setAttribute('aria-label', `${text} ${name}`)
      element.setAttribute('data-id', `${id} ${name}`)
      return element
    }
    const [first] = models.map(({ id, model = id }) => model).filter(model => !model.includes('*'))
    const isUsed = !disabled && broken === undefined && models.length > 0
    const check = () => (first === undefined ? openVerify(channel) : verified(channel, first))
    const verify = isUsed && named('Verify', check)
    if (from === 'file') return h('span', { className: 'row' }, verify || '–')
    const toggle = () => call(path, { method: 'PATCH', body: { disabled: !disabled } })
    const remove = async () => {
      if (!confirm(`Delete ${name}? Its key is deleted, too.`)) return
      await call(path, { method: 'DELETE' })
      replace(result)
    }
    return h(
      'span',
      { className: 'row' },
      verify,
      named('Models', () => openModels(channel)),
      named('New key', () => openKey(channel)),
      named(disabled ? 'Switch on' : 'Switch off', toggle, { id: 'toggle' }),
      named('Delete', remove, { tone: 'danger' }),
    )
  }

  async function verified(channel: ShownChannel, model: string) {
    const { name } = channel
    const title = `${name}: ${model}`
    replace(result, panel(title, [], empty('A few small requests are sent …')))
    const { checks } = await call<{ checks: Check[] }>(`${pathOf(channel)}/verify`, {
      body: { model },
    })
    replace(result, panel(title, [], checkTable(name, checks)))
  }

  /** A form below the table, in place of what was there. */
  function openForm(
    title: string,
    fields: Child[],
    { save, take, word = 'Save' }: { save(): unknown; take?: HTMLElement; word?: string },
  ) {
    const cancel = button('Cancel', () => replace(result))
    const submit = h('button', { className: 'main', textContent: word })
    const form = h('form', {}, fields, h('div', { className: 'actions' }, submit, take, cancel))
    form.addEventListener('submit', event => {
      event.preventDefault()
      void attempt(save)
    })
    replace(result, panel(title, [], form))
  }

  /** Asks for a model, where those of the channel are patterns. */
  function openVerify(channel: ShownChannel) {
    const field = h('input', { autocomplete: 'off', spellcheck: false, required: true })
    const fields = h('div', { className: 'fields' }, labeled('Model of the provider', field))
    const save = () => verified(channel, field.value.trim())
    openForm(`Verify ${channel.name}`, [fields], { save, word: 'Send' })
    field.focus()
  }

  /** The models of a channel, and what its upstream lists. */
  async function openModels(channel: ShownChannel) {
    const { name, models } = channel
    const lines = h('textarea', {
      value: models.map(lineOf).join('\n'),
      rows: 6,
      spellcheck: false,
      placeholder: 'fast = gpt-5-mini',
    })
    const listed = menu([['', 'the models are listed …']])
    const take = button('Take over', () => {
      if (listed.value === '') return
      lines.value = [lines.value.trimEnd(), listed.value].filter(Boolean).join('\n')
    })
    const save = async () => {
      await call(pathOf(channel), { method: 'PATCH', body: { models: modelsOf(lines.value) } })
      replace(result)
    }
    const hint =
      'A line for each: the name for clients, and "= name" where the provider has another.'
    const rowOf = (label: string, field: HTMLTextAreaElement | HTMLSelectElement) =>
      h('div', { className: 'fields' }, labeled(label, field))
    const fields = [rowOf('Models', lines), rowOf('Listed by the provider', listed)]
    openForm(`Models of ${name}`, [empty(hint), fields], { save, take })
    lines.focus()
    const ids = await listedBy(channel)
    setOptions(listed, ids)
  }

  function openKey(channel: ShownChannel) {
    const field = keyField()
    const save = async () => {
      await call(pathOf(channel), { method: 'PATCH', body: { apiKey: field.value.trim() || null } })
      replace(result)
    }
    const fields = h('div', { className: 'fields' }, labeled('Key, or env:NAME', field))
    openForm(`New key of ${channel.name}`, [fields], { save })
    field.focus()
  }

  return {
    id: 'channels',
    title: 'Channels',
    element: h(
      'div',
      { className: 'stack' },
      panel('Channels', [], faults, list, form.element),
      result,
    ),
    show() {
      replace(faults)
      void load()
      return () => replace(result)
    },
  }
}

const pathOf = ({ name }: { name: string }) => `admin/channels/${encodeURIComponent(name)}`

const lineOf = ({ id, model }: ChannelModel) => (model === undefined ? id : `${id} = ${model}`)

function modelsOf(text: string): ChannelModel[] {
  return text.split('\n').flatMap(line => {
    const at = line.indexOf('=')
    const id = (at < 0 ? line : line.slice(0, at)).trim()
    const model = at < 0 ? '' : line.slice(at + 1).trim()
    return id === '' ? [] : { id, ...(model !== '' && { model }) }
  })
}

/** The options of a menu: why there are none, or what the provider lists. */
async function listedBy(channel: ShownChannel): Promise<(readonly [string, string])[]> {
  try {
    const { models } = await call<{ models: string[] }>(`${pathOf(channel)}/models`)
    if (models.length === 0) return [['', 'it lists none']]
    return models.map(id => [id, id] as const)
  } catch (error) {
    return [['', messageOf(error)]]
  }
}

const fromChips = {
  file: () => chip('', 'file', 'It is changed in the configuration.'),
  console: () => chip('well', 'console', 'It is stored in the database, and changed here.'),
}

function channelTable(
  channels: readonly ShownChannel[],
  actionsOf: (channel: ShownChannel) => HTMLElement,
): HTMLElement {
  const rows = channels.map(channel => {
    const { name, vendor, baseUrl, from, key, models } = channel
    const address = baseUrl ?? vendor
    return [
      h(
        'span',
        { className: 'named' },
        name,
        address !== undefined && h('code', { textContent: address }),
      ),
      fromChips[from](),
      wrapped(key ?? 'none'),
      wrapped(models.map(lineOf).join(', ') || 'none'),
      stateOf(channel),
      actionsOf(channel),
    ]
  })
  return table('Channels', ['Name', 'From', 'Key', 'Models', 'State', 'Actions'], rows)
}

function stateOf({ from, disabled, fault: broken, models }: ShownChannel): HTMLElement {
  if (disabled) return chip('dropped', 'switched off')
  if (broken !== undefined) return wrapped(broken)
  return from === 'console' && models.length === 0
    ? chip('approximated', 'no models yet')
    : chip('well', 'in use')
}

const keyField = () =>
  h('input', { type: 'password', autocomplete: 'off', spellcheck: false, maxLength: 8192 })

/** The value of the menu for an address of its own. */
const other = ''

function newChannelForm(protocols: readonly string[], submit: () => unknown) {
  const vendor = menu([[other, 'another address']])
  const name = h('input', { type: 'text', autocomplete: 'off', required: true, maxLength: 100 })
  const baseUrl = h('input', { type: 'url', autocomplete: 'off', placeholder: 'https://host/v1' })
  const protocol = menu(protocols)
  const key = keyField()
  const hint = empty('')
  const ofAddress = h(
    'div',
    { className: 'fields' },
    labeled('Base URL', baseUrl),
    labeled('Protocol', protocol),
  )
  let vendors: ShownChannels['vendors'] = []

  function choose() {
    const isOther = vendor.value === other
    ofAddress.hidden = !isOther
    baseUrl.required = isOther
    if (!isOther) name.value = vendor.value
    key.placeholder = `or env:${vendors.find(one => one.name === vendor.value)?.keyVariable ?? 'NAME_API_KEY'}`
  }
  vendor.addEventListener('change', choose)

  const element = h(
    'form',
    {},
    h('h3', { className: 'rule', textContent: 'Add a channel' }),
    hint,
    h(
      'div',
      { className: 'fields' },
      labeled('Provider', vendor),
      labeled('Name', name),
      labeled('Key', key),
    ),
    ofAddress,
    h('div', { className: 'actions' }, h('button', { className: 'main', textContent: 'Add' })),
  )
  element.addEventListener('submit', event => {
    event.preventDefault()
    void submit()
  })
  choose()
  return {
    element,
    /** What is half written stays. */
    update({ takesKeys, vendors: all }: ShownChannels) {
      vendors = all
      setOptions(vendor, [
        [other, 'another address'],
        ...all.map(one => [one.name, one.title] as const),
      ])
      hint.textContent = takesKeys
        ? 'A key is stored encrypted, and not shown again.'
        : 'Keys are references to environment variables, such as env:OPENAI_API_KEY. To paste keys, start the gateway with WIREGLOT_ENCRYPTION_KEY, of at least 32 characters.'
    },
    clear() {
      vendor.value = other
      for (const field of [name, baseUrl, key]) field.value = ''
      choose()
    },
    written: () => ({
      name: name.value.trim(),
      ...(vendor.value === other
        ? { baseUrl: baseUrl.value.trim(), protocols: [protocol.value] }
        : { vendor: vendor.value }),
      ...(key.value.trim() !== '' && { apiKey: key.value.trim() }),
    }),
  }
}

/** For an operator without the admin API. */
export function noChannelsTab(): Tab {
  const text = [
    'Channels that are added here are kept with the records. Start the gateway with an admin key of',
    'at least 16 characters in WIREGLOT_ADMIN_KEY, next to the packages kysely and libsql.',
  ].join(' ')
  return { id: 'channels', title: 'Channels', element: panel('Channels', [], empty(text)) }
}
