import { button, h, worded } from './dom.ts'
import type { Note, ShownFrame } from './types.ts'

/** A view of JSON or of the events of a stream. */
export type CodeView = {
  element: HTMLElement
  /** The lines of what a JSON pointer names, or of the nearest thing around it. */
  find(path: string): HTMLElement[]
}

const longestView = 2000

type Token = readonly [tone: string, text: string]
type Line = { deep: number; path?: string; tokens: Token[] }

const stepped = (path: string, key: string) =>
  `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`

/** The lines of a JSON value: how deep each is, the path of what begins there, and its tokens. */
function linesOf(
  value: unknown,
  path = '',
  deep = 0,
  { name, comma = '' }: { name?: string; comma?: string } = {},
  into: Line[] = [],
): Line[] {
  const before: Token[] = []
  if (name !== undefined) before.push(['k', JSON.stringify(name)], ['', ': '])
  const isList = Array.isArray(value)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : undefined
  if (!entries || entries.length === 0) {
    const empty = isList ? '[]' : '{}'
    const text = entries ? empty : (JSON.stringify(value) ?? '')
    const literal = typeof value === 'string' ? 's' : 'l'
    into.push({
      deep,
      path,
      tokens: [...before, [entries ? '' : literal, text], ['', comma]],
    })
    return into
  }
  into.push({ deep, path, tokens: [...before, ['', isList ? '[' : '{']] })
  for (const [index, [key, item]] of entries.entries())
    linesOf(
      item,
      stepped(path, key),
      deep + 1,
      { ...(isList ? {} : { name: key }), comma: index < entries.length - 1 ? ',' : '' },
      into,
    )
  into.push({ deep, tokens: [['', (isList ? ']' : '}') + comma]] })
  return into
}

function lineElement({ deep, tokens }: Line): HTMLElement {
  const element = h(
    'span',
    { className: 'line' },
    ...tokens.map(
      ([tone, text]) =>
        text !== '' && (tone === '' ? text : h('span', { className: tone, textContent: text })),
    ),
  )
  element.style.setProperty('--deep', String(deep))
  return element
}

/** A view that can be filled. */
export type WritableView = CodeView & {
  json(value: unknown): void
  text(text: string): void
  /** As JSON, where it is JSON. */
  jsonOrText(text: string): void
  frames(frames: readonly ShownFrame[]): void
  frame(frame: ShownFrame): void
  clear(): void
}

/** The value of a JSON text. Undefined: it is no JSON. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An empty view with a name for screen readers. */
export function codeView(name: string): WritableView {
  const element = h('div', {
    className: 'code',
    tabIndex: 0,
    attributes: { role: 'region', 'aria-label': name },
  })
  let found: { path: string; line: HTMLElement }[] = []
  let shown = 0
  const show = (value: unknown, into: Element) => {
    for (const line of linesOf(value)) {
      if (++shown > longestView) {
        if (shown === longestView + 1)
          element.append(h('span', { className: 'line e', textContent: '… the rest is not shown' }))
        continue
      }
      const made = lineElement(line)
      into.append(made)
      if (line.path !== undefined) found.push({ path: line.path, line: made })
    }
  }
  const clear = () => {
    element.replaceChildren()
    found = []
    shown = 0
  }
  const frame = ({ event, data, value }: ShownFrame) => {
    if (shown > longestView) return
    const type = event ?? nameIn(value)
    const block = h(
      'details',
      { className: 'frame', open: true },
      h('summary', {}, h('span', { className: 'e', textContent: type ?? 'data' })),
    )
    if (value === undefined) block.append(h('span', { className: 'line', textContent: data }))
    else show(value, block)
    element.append(block)
  }
  const json = (value: unknown) => {
    clear()
    show(value, element)
  }
  const text = (shown: string) => {
    clear()
    element.append(h('span', { className: 'line', textContent: shown }))
  }
  return {
    element,
    clear,
    json,
    text,
    jsonOrText(given) {
      const value = parsed(given)
      if (value === undefined) text(given)
      else json(value)
    },
    frame,
    frames(frames) {
      clear()
      for (const one of frames) frame(one)
    },
    find(path) {
      for (let place = path; place !== ''; place = place.slice(0, place.lastIndexOf('/'))) {
        const here = found.filter(one => one.path === place || one.path.startsWith(`${place}/`))
        if (here.length > 0) return here.map(({ line }) => line)
      }
      return []
    },
  }
}

/** Events of most streams say their type. */
function nameIn(value: unknown): string | undefined {
  const { type, object } = (value ?? {}) as Record<string, unknown>
  if (typeof type === 'string') return type
  if (typeof object === 'string') return object
  return undefined
}

type Marked = { kind: string; code?: string; path: string; reason: string }

const longestList = 300

/**
 * A list of notes. Each is linked with its lines: the note lights them up, and they have a button
 * that leads to the note. `viewOf`: where the path of a note is.
 */
export function noteList(
  name: string,
  notes: readonly Marked[],
  viewOf: (note: Marked) => CodeView | undefined,
): HTMLElement {
  const list = h('ol', { className: 'notes', attributes: { 'aria-label': name } })
  for (const [index, note] of notes.slice(0, longestList).entries()) {
    const lines = viewOf(note)?.find(note.path) ?? []
    const item = noteItem(index + 1, note, lines)
    const [first] = lines
    for (const line of lines) line.classList.add(note.kind)
    if (first) {
      const link = button(String(index + 1), () => item.button.focus(), `mark ${note.kind}`)
      link.title = note.reason
      link.setAttribute('aria-label', `Note ${index + 1}: ${note.kind} ${note.path}`)
      first.append(link)
    }
    list.append(item.element)
  }
  if (notes.length > longestList)
    list.append(
      h('li', { className: 'empty', textContent: `… ${notes.length - longestList} more` }),
    )
  return list
}

function noteItem(
  number: number,
  { kind, code, path, reason }: Marked,
  lines: readonly HTMLElement[],
) {
  const element = button('', look, `note ${kind}`)
  element.append(
    h('b', { textContent: `${number} ${kind}` }),
    ' ',
    ...(code === undefined ? [] : [h('code', { textContent: code }), ' ']),
    h('code', { className: 'path', textContent: path || '/' }),
    h('span', { className: 'reason' }, worded(reason)),
  )
  const light = (on: boolean) => {
    for (const line of lines) line.classList.toggle('lit', on)
  }
  function look() {
    light(true)
    const [line] = lines
    const view = line?.closest('.code')
    if (!line || !view) return
    line.closest('details')?.setAttribute('open', '')
    const { top, bottom } = line.getBoundingClientRect()
    const frame = view.getBoundingClientRect()
    if (top < frame.top || bottom > frame.bottom)
      view.scrollTop += top - frame.top - view.clientHeight / 3
  }
  element.addEventListener('mouseenter', look)
  element.addEventListener('mouseleave', () => light(false))
  element.addEventListener('focus', look)
  element.addEventListener('blur', () => light(false))
  return { element: h('li', {}, element), button: element }
}

/** How many notes there are of each kind. */
export function noteCounts(notes: readonly Pick<Note, 'kind'>[]): [kind: string, count: number][] {
  const counts = new Map<string, number>()
  for (const { kind } of notes) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return [...counts]
}
