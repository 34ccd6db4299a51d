import { dollars } from '../../kit/text/dollars.ts'
import type { RecordPage, RecordRow } from '../../records/index.ts'
import { call, queryOf } from './calls.ts'
import {
  button,
  type Cell,
  chip,
  empty,
  fault,
  focusOn,
  h,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  table,
} from './dom.ts'
import { modelField } from './known-models.ts'
import { cut, detailPanel, loadDetail, protocolsOf, saveCassette } from './request-detail.ts'
import type { Session, Tab } from './types.ts'

const pageSize = 50
const liveMs = 2000

/** Records with a filter, live, and the details of one. */
export function requestsTab({ role, keepsCassettes }: Session): Tab {
  const isOperator = role === 'operator'
  const filter = recordFilter(isOperator, () => load())
  const live = h('input', { type: 'checkbox', checked: true })
  const list = h('div', { className: 'dense' })
  const faults = h('div')
  const detail = h('div')
  const older = button('Older requests', () => load(next))
  let records: RecordRow[] = []
  let next: string | undefined
  let opened: string | undefined
  let turn = 0

  /** `cursor`: adds the page after it. */
  async function load(cursor?: string) {
    const mine = ++turn
    try {
      const query = queryOf({ ...filter.values(), limit: pageSize, cursor })
      const page = await call<RecordPage>(`console/api/records${query}`)
      if (mine !== turn) return
      replace(faults)
      records = cursor === undefined ? page.records : [...records, ...page.records]
      next = page.next
      if (cursor !== undefined) live.checked = false
      show()
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  function show() {
    older.hidden = next === undefined
    replace(
      list,
      records.length === 0
        ? empty('There are no such requests.')
        : recordTable(records, isOperator, openButton),
    )
  }

  function openButton(record: RecordRow): HTMLElement {
    const time = new Date(record.time)
    const open = button(time.toLocaleTimeString('en-GB'), () => showDetail(record), 'small')
    open.title = time.toISOString()
    open.setAttribute('data-id', record.id)
    open.setAttribute('aria-expanded', String(record.id === opened))
    return open
  }

  async function showDetail(record: RecordRow) {
    opened = record.id
    show()
    const loaded = await loadDetail(record, isOperator)
    if (opened !== record.id) return
    const close = button('Close', () => closeDetail(record), 'small')
    const actions = keepsCassettes && isOperator ? [saveButton(record.id), close] : [close]
    replace(detail, detailPanel(record, loaded, actions))
    detail.scrollIntoView({ block: 'nearest' })
    close.focus()
  }

  function saveButton(id: string): HTMLElement {
    const save = button(
      'Save',
      async () => {
        replace(faults)
        await saveCassette(id).catch(error => replace(faults, fault(messageOf(error))))
      },
      'small',
    )
    save.title = 'Save this exchange as a cassette, for wireglot explain and replay'
    return save
  }

  function closeDetail({ id }: RecordRow) {
    opened = undefined
    replace(detail)
    focusOn(list, id)
    show()
  }

  const element = h('div', { className: 'stack' })
  // Escape closes the request, wherever the focus is on this page.
  const onKey = ({ key }: KeyboardEvent) => {
    const record = records.find(({ id }) => id === opened)
    if (key === 'Escape' && record) closeDetail(record)
  }

  live.addEventListener('change', () => live.checked && load())
  const listPanel = panel(
    'Requests',
    [h('label', { className: 'check small' }, live, ' live')],
    filter.element,
    faults,
    list,
    h('div', { className: 'actions' }, older),
  )
  element.append(listPanel, detail)
  return {
    id: 'requests',
    title: 'Requests',
    element,
    show() {
      void load()
      document.addEventListener('keydown', onKey)
      const timer = setInterval(() => {
        if (live.checked && document.visibilityState === 'visible') void load()
      }, liveMs)
      return () => {
        clearInterval(timer)
        document.removeEventListener('keydown', onKey)
      }
    },
  }
}

/** Which records are shown. A client sees its own alone, without their channels. */
function recordFilter(isOperator: boolean, changed: () => unknown) {
  const result = menu([
    ['', 'all'],
    ['true', 'failed'],
  ])
  const key = h('input', { type: 'text', autocomplete: 'off', placeholder: 'all' })
  const model = modelField('all')
  const channel = h('input', { type: 'text', autocomplete: 'off', placeholder: 'all' })
  const status = h('input', { type: 'number', min: '100', max: '599', placeholder: 'all' })
  const since = h('input', { type: 'datetime-local' })
  const until = h('input', { type: 'datetime-local' })
  for (const field of [result, key, model, channel, status, since, until])
    field.addEventListener('change', () => changed())
  const timeIn = ({ value }: HTMLInputElement) =>
    value === '' ? undefined : new Date(value).getTime()
  return {
    element: h(
      'div',
      { className: 'fields' },
      labeled('Result', result),
      labeled('Model', model),
      isOperator && labeled('Key', key),
      isOperator && labeled('Channel', channel),
      labeled('Status', status),
      labeled('Since', since),
      labeled('Until', until),
    ),
    values: () => ({
      failed: result.value,
      key: key.value,
      model: model.value,
      channel: channel.value,
      status: status.value,
      from: timeIn(since),
      to: timeIn(until),
    }),
  }
}

function recordTable(
  records: readonly RecordRow[],
  isOperator: boolean,
  openButton: (record: RecordRow) => HTMLElement,
): HTMLElement {
  const columns: [head: string, cell: (record: RecordRow) => Cell][] = [
    ['Time', openButton],
    ['Model', ({ model }) => cut(model)],
    ['Key', ({ key }) => (key === null ? null : cut(key))],
    ['Protocols', protocolsOf],
  ]
  if (isOperator)
    columns.push(['Channel', ({ channel }) => (channel === null ? null : cut(channel))])
  columns.push(
    ['Status', resultChip],
    ['Tokens in', ({ input }) => input],
    ['Tokens out', ({ output }) => output],
    ['Cost', ({ cost }) => (cost === null ? null : { number: dollars(cost) })],
    ['First, ms', ({ firstByteMs }) => firstByteMs],
    ['Total, ms', ({ totalMs }) => totalMs],
    ['Tries', ({ attempts }) => attempts],
    ['Notes', ({ notes }) => notes],
  )
  return table(
    'Requests',
    columns.map(([head]) => head),
    records.map(record => columns.map(([, cell]) => cell(record))),
  )
}

const resultChip = ({ status, failure }: RecordRow) =>
  failure === null ? chip('well', String(status)) : chip('dropped', `${status} ${failure}`)
