import { dollars } from '../../kit/text/dollars.ts'
import type { RecordDetail, RecordRow } from '../../records/index.ts'
import { call } from './calls.ts'
import { codeView } from './code.ts'
import { type Child, chip, h, panel, table, worded, wrapped } from './dom.ts'

type Meaning = { kind: string; meaning: string; advice: string }

/** `more`: what only the operator sees. `meanings`: of note codes. */
export type LoadedDetail = { more: RecordDetail | undefined; meanings: Record<string, Meaning> }

/** What the list of requests does not have. What cannot be loaded is left out. */
export async function loadDetail(
  { id, noteCodes }: RecordRow,
  isOperator: boolean,
): Promise<LoadedDetail> {
  const nothing = () => undefined
  const more = isOperator
    ? await call<RecordDetail>(`console/api/records/${encodeURIComponent(id)}`).catch(nothing)
    : undefined
  if (noteCodes === null) return { more, meanings: {} }
  const known = await call<{ notes: Record<string, Meaning> }>('console/api/notes').catch(nothing)
  return { more, meanings: known?.notes ?? {} }
}

export const detailPanel = (
  record: RecordRow,
  { more, meanings }: LoadedDetail,
  actions: HTMLElement[],
): HTMLElement =>
  panel(
    `Request ${record.id}`,
    actions,
    factsOf(record),
    more && attemptsOf(more),
    notesOf(record, more, meanings),
    bodyOf(more),
  )

/** Lets the browser save the file of a request. @throws Error when it is not there any longer */
export async function saveCassette(id: string): Promise<void> {
  const { text } = await call<{ text: string }>(`console/api/cassettes/${encodeURIComponent(id)}`)
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }))
  h('a', { href: url, download: `${id}.json` }).click()
  URL.revokeObjectURL(url)
}

/** A text that may be too long for its cell. */
export const cut = (text: string): HTMLElement =>
  h('span', { className: 'cut', textContent: text, title: text })

export const protocolsOf = ({ protocolIn, protocolOut }: RecordRow): string =>
  protocolOut === null || protocolOut === protocolIn ? protocolIn : `${protocolIn} → ${protocolOut}`

function factsOf(record: RecordRow): HTMLElement {
  const { protocolIn, protocolOut } = record
  const facts: [name: string, value: string | number | null][] = [
    ['time', new Date(record.time).toISOString()],
    ['key', keyOf(record)],
    ['route', routeOf(record)],
    ['provider', record.provider],
    ['protocols', protocolOut === null ? protocolIn : `${protocolIn} → ${protocolOut}`],
    ['kind', record.stream ? 'stream' : 'JSON'],
    ['status', statusOf(record)],
    ['error', record.errorMessage],
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
  const known = facts.filter(([, value]) => value !== null)
  return h(
    'dl',
    { className: 'facts' },
    known.map(([name, value]) => [
      h('dt', { textContent: name }),
      h('dd', { textContent: String(value) }),
    ]),
  )
}

const keyOf = ({ key, groupName }: RecordRow) =>
  groupName === null ? key : `${key ?? '(none)'}, group ${groupName}`

const routeOf = ({ model, channel, modelServed }: RecordRow) =>
  [model, channel, modelServed].filter(name => name !== null).join(' → ')

function statusOf({ status, failure, error }: RecordRow): string | number {
  if (failure === null) return status
  return error === null ? `${status}, ${failure}` : `${status}, ${failure} (${error})`
}

const rule = (text: string) => h('h3', { className: 'rule', textContent: text })

function attemptsOf({ attempts }: RecordDetail): Child[] {
  const rows = attempts.map(attempt => {
    const { channel, model, protocol, ms, status, failure, message, upstreamMessage } = attempt
    const result =
      failure === undefined ? chip('well', 'done') : chip('dropped', `${status} ${failure}`)
    return [channel, cut(model), protocol, result, ms, wrapped(upstreamMessage ?? message ?? '')]
  })
  const heads = ['Channel', 'Model', 'Protocol', 'Result', 'ms', 'Error']
  return [rule('Attempts'), table('Attempts', heads, rows)]
}

function notesOf(
  { noteCodes, notes: number }: RecordRow,
  more: RecordDetail | undefined,
  meanings: LoadedDetail['meanings'],
): Child[] | undefined {
  if (noteCodes === null) return undefined
  const placesOf = (code: string) => {
    const own = more?.notes.filter(note => note.code === code) ?? []
    return own.map(({ path }) => path || '/').join(' ')
  }
  const rows = noteCodes.split(' ').map(code => {
    const { kind = '', meaning = '', advice = '' } = meanings[code] ?? {}
    return [
      code,
      chip(kind, kind),
      wrapped(worded(meaning)),
      wrapped(worded(advice)),
      placesOf(code),
    ]
  })
  const hasPlaces = more !== undefined && more.notes.length > 0
  const heads = ['Note', 'Kind', 'Meaning', 'Advice', ...(hasPlaces ? ['Where'] : [])]
  return [
    rule(`Notes (${number})`),
    table(
      'Notes',
      heads,
      rows.map(row => row.slice(0, heads.length)),
    ),
  ]
}

function bodyOf(more: RecordDetail | undefined): Child[] | undefined {
  if (!more?.request) return undefined
  const { text, isCut } = more.request
  const view = codeView('Request to the upstream')
  view.jsonOrText(text)
  return [rule(isCut ? 'Request to the upstream, cut' : 'Request to the upstream'), view.element]
}
