import type { RecordDetail, RecordPage, RecordRow } from '../../records/index.ts'
import { call, queryOf } from './calls.ts'
import { codeView } from './code.ts'
import {
  button,
  type Cell,
  chip,
  empty,
  fault,
  h,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  table,
} from './dom.ts'
import { modelField } from './known-models.ts'
import { dollars } from './overview.ts'
import type { Session, Tab } from './types.ts'

const pageSize = 50
const liveMs = 2000

type Meaning = { kind: string; meaning: string; advice: string }

/** Records with a filter, live, and the details of one. */
export function requestsTab({ role }: Session): Tab {
  const isOperator = role === 'operator'
  const result = menu([
    ['', 'all'],
    ['true', 'failed'],
  ])
  const key = h('input', { type: 'text', autocomplete: 'off' })
  const model = modelField('all')
  const channel = h('input', { type: 'text', autocomplete: 'off' })
  const status = h('input', { type: 'number', min: '100', max: '599' })
  const since = h('input', { type: 'datetime-local' })
  const until = h('input', { type: 'datetime-local' })
  const live = h('input', { type: 'checkbox', checked: true })
  const list = h('div', { className: 'dense' })
  const faults = h('div')
  const detail = h('div')
  const older = button('Older requests', () => load(next))
  let records: RecordRow[] = []
  let next: string | undefined
  let opened: string | undefined
  let turn = 0

  const time = (field: HTMLInputElement) =>
    field.value === '' ? undefined : new Date(field.value).getTime()
  const filter = () => ({
    failed: result.value,
    key: key.value,
    model: model.value,
    channel: channel.value,
    status: status.value,
    from: time(since),
    to: time(until),
    limit: pageSize,
  })

  /** `cursor`: adds the page after it. */
  async function load(cursor?: string) {
    const mine = ++turn
    try {
      const page = await call<RecordPage>(`console/api/records${queryOf({ ...filter(), cursor })}`)
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
    const focused = document.activeElement?.getAttribute('data-id')
    older.hidden = next === undefined
    replace(
      list,
      records.length === 0
        ? empty('There are no such requests.')
        : table(
            'Requests',
            [
              'Time',
              'Model',
              'Key',
              'Protocols',
              ...(isOperator ? ['Channel'] : []),
              'Status',
              'Tokens in',
              'out',
              'Cost',
              'First, ms',
              'Total, ms',
              'Tries',
              'Notes',
            ],
            records.map(rowOf),
          ),
    )
    if (focused) list.querySelector<HTMLElement>(`[data-id="${CSS.escape(focused)}"]`)?.focus()
  }

  function rowOf(record: RecordRow): Cell[] {
    const open = button(
      new Date(record.time).toLocaleTimeString('en-GB'),
      () => showDetail(record),
      'small',
    )
    open.title = new Date(record.time).toISOString()
    open.setAttribute('data-id', record.id)
    open.setAttribute('aria-expanded', String(record.id === opened))
    const { protocolIn, protocolOut } = record
    return [
      open,
      cut(record.model),
      record.key === null ? null : cut(record.key),
      protocolOut === null || protocolOut === protocolIn
        ? protocolIn
        : `${protocolIn} → ${protocolOut}`,
      ...(isOperator ? [record.channel === null ? null : cut(record.channel)] : []),
      chip(
        record.failure === null ? 'well' : 'dropped',
        record.failure === null ? String(record.status) : `${record.status} ${record.failure}`,
      ),
      record.input,
      record.output,
      record.cost === null ? null : dollars(record.cost),
      record.firstByteMs,
      record.totalMs,
      record.attempts,
      record.notes,
    ]
  }

  async function showDetail(record: RecordRow) {
    opened = record.id
    show()
    const more = isOperator
      ? await call<RecordDetail>(`console/api/records/${encodeURIComponent(record.id)}`).catch(
          () => undefined,
        )
      : undefined
    const { notes = {} } =
      record.noteCodes === null
        ? {}
        : await call<{ notes: Record<string, Meaning> }>('console/api/notes').catch(() => ({
            notes: {},
          }))
    if (opened !== record.id) return
    const close = button(
      'Close',
      () => {
        opened = undefined
        replace(detail)
        list.querySelector<HTMLElement>(`[data-id="${CSS.escape(record.id)}"]`)?.focus()
        show()
      },
      'small',
    )
    replace(
      detail,
      panel(
        `Request ${record.id}`,
        [close],
        factsOf(record),
        more && attemptsOf(more),
        notesOf(record, more, notes),
        bodyOf(more),
      ),
    )
    detail.scrollIntoView({ block: 'nearest' })
    close.focus()
  }

  for (const field of [result, key, model, channel, status, since, until])
    field.addEventListener('change', () => load())
  live.addEventListener('change', () => live.checked && load())
  return {
    id: 'requests',
    title: 'Requests',
    element: h(
      'div',
      { className: 'stack' },
      panel(
        'Requests',
        [h('label', { className: 'check small' }, live, ' live')],
        h(
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
        faults,
        list,
        h('div', { className: 'actions' }, older),
      ),
      detail,
    ),
    show() {
      void load()
      const timer = setInterval(() => {
        if (live.checked && document.visibilityState === 'visible') void load()
      }, liveMs)
      return () => clearInterval(timer)
    },
  }
}

const cut = (text: string) => h('span', { className: 'cut', textContent: text, title: text })

function factsOf(record: RecordRow): HTMLElement {
  const {
    time,
    model,
    modelServed,
    channel,
    provider,
    key,
    groupName,
    protocolIn,
    protocolOut,
    stream,
    status,
    failure,
    error,
    errorMessage,
  } = record
  const facts: [name: string, value: string | number | null][] = [
    ['time', new Date(time).toISOString()],
    ['key', groupName === null ? key : `${key ?? '(none)'}, group ${groupName}`],
    ['route', [model, channel, modelServed].filter(part => part !== null).join(' → ')],
    ['provider', provider],
    ['protocols', protocolOut === null ? protocolIn : `${protocolIn} → ${protocolOut}`],
    ['kind', stream ? 'stream' : 'JSON'],
    [
      'status',
      failure === null ? status : `${status}, ${failure}${error === null ? '' : ` (${error})`}`,
    ],
    ['error', errorMessage],
    ['tokens in', record.input],
    ['cache read tokens', record.cacheRead],
    ['cache write tokens', record.cacheWrite],
    ['tokens out', record.output],
    ['reasoning tokens', record.reasoning],
    ['tokens by', record.estimated ? 'an estimate of the gateway' : null],
    ['cost', record.cost === null ? null : dollars(record.cost)],
    ['first byte', record.firstByteMs === null ? null : `${record.firstByteMs} ms`],
    ['total', `${record.totalMs} ms`],
    ['attempts', record.attempts],
    ['request id of the upstream', record.upstreamRequestId],
  ]
  return h(
    'dl',
    { className: 'facts' },
    facts.flatMap(([name, value]) =>
      value === null
        ? []
        : [h('dt', { textContent: name }), h('dd', { textContent: String(value) })],
    ),
  )
}

function attemptsOf({ attempts }: RecordDetail) {
  return [
    h('h3', { className: 'rule', textContent: 'Attempts' }),
    table(
      'Attempts',
      ['Channel', 'Model', 'Protocol', 'Result', 'ms', 'Error'],
      attempts.map(
        ({ channel, model, protocol, ms, status, failure, message, upstreamMessage }) => [
          channel,
          cut(model),
          protocol,
          chip(
            failure === undefined ? 'well' : 'dropped',
            failure === undefined ? 'done' : `${status} ${failure}`,
          ),
          ms,
          h('span', { className: 'wrap', textContent: upstreamMessage ?? message ?? '' }),
        ],
      ),
    ),
  ]
}

function notesOf(
  { noteCodes, notes: number }: RecordRow,
  more: RecordDetail | undefined,
  meanings: Record<string, Meaning>,
) {
  if (noteCodes === null) return undefined
  const places = (code: string) =>
    more?.notes.filter(note => note.code === code).map(({ path }) => path || '/') ?? []
  return [
    h('h3', { className: 'rule', textContent: `Notes (${number})` }),
    table(
      'Notes',
      ['Note', 'Kind', 'Meaning', 'Advice', 'Where'],
      noteCodes.split(' ').map(code => {
        const { kind = '', meaning = '', advice = '' } = meanings[code] ?? {}
        return [
          code,
          chip(kind, kind),
          h('span', { className: 'wrap', textContent: meaning }),
          h('span', { className: 'wrap', textContent: advice }),
          places(code).join(' '),
        ]
      }),
    ),
  ]
}

function bodyOf(more: RecordDetail | undefined) {
  if (!more?.request) return undefined
  const view = codeView('Request to the upstream')
  try {
    view.json(JSON.parse(more.request.text))
  } catch {
    view.text(more.request.text)
  }
  return [
    h('h3', {
      className: 'rule',
      textContent: more.request.isCut ? 'Request to the upstream, cut' : 'Request to the upstream',
    }),
    view.element,
  ]
}
