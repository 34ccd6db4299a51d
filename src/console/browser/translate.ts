import { call } from './calls.ts'
import { type CodeView, codeView, noteCounts, noteList } from './code.ts'
import {
  button,
  type Child,
  chip,
  codeField,
  copyButton,
  count,
  empty,
  fault,
  h,
  keysHint,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  worded,
} from './dom.ts'
import { pack, unpack } from './permalink.ts'
import type { Examined, Session, Tab, TargetResult } from './types.ts'

/** Translates a pasted text into one protocol at a time. Nothing is sent to a model. */
export function translateTab(session: Session): Tab {
  const source = sourceFields(session, translate)
  const status = h('p', {
    className: 'status-line',
    attributes: { role: 'status', 'aria-live': 'polite' },
  })
  const questions = h('div', {
    className: 'choices',
    attributes: { role: 'group', 'aria-label': 'What it may be' },
  })
  const faults = h('div')
  const read = codeView('Parsed source')
  const pane = targetPane(read, () => examined && show(examined))
  let examined: Examined | undefined
  let turn = 0

  const link = copyButton(async () => {
    const packed = await pack({ ...source.written(), target: pane.chosen() })
    return `${location.origin}${location.pathname}#translate?t=${packed}`
  }, 'Copy link')

  async function translate() {
    const mine = ++turn
    status.textContent = 'Translating …'
    replace(faults)
    replace(questions)
    try {
      const { text, protocol, kind } = source.written()
      const known = { text, ...(protocol && { protocol }), ...(kind && { kind }) }
      const found = await call<Examined>('console/api/translate', { body: known })
      if (mine === turn) show(found)
    } catch (error) {
      if (mine !== turn) return
      status.textContent = ''
      replace(faults, fault(messageOf(error)))
    }
  }

  function show(found: Examined) {
    examined = found
    const { fault: wrong, body, frames } = found
    replace(status, recognized(found))
    replace(faults, wrong && fault(wrong.message))
    if (wrong?.at !== undefined) source.select(wrong.at)
    replace(questions, found.choices.map(choiceButton))
    if (frames) read.frames(frames)
    else if (body !== undefined) read.json(body)
    else read.clear()
    if (wrong?.path) for (const line of read.find(wrong.path)) line.classList.add('dropped')
    pane.show(found.targets)
  }

  function choiceButton({ protocol, kind }: Examined['choices'][number]) {
    return button(`${protocol} ${kind}`, () => {
      source.set({ protocol, kind })
      return translate()
    })
  }

  async function openLink(packed: string) {
    const opened = await unpack(packed).catch(() => undefined)
    if (!opened) return replace(faults, fault('This link is not complete.'))
    source.set(opened)
    pane.choose(opened.target)
    await translate()
  }

  const actions = h(
    'div',
    { className: 'actions' },
    button('Translate', translate, 'main'),
    keysHint(),
    status,
  )
  const sourcePanel = panel(
    'Source',
    [link],
    source.elements,
    actions,
    faults,
    questions,
    h('h3', { className: 'rule', textContent: 'Parsed source' }),
    read.element,
  )
  return {
    id: 'translate',
    title: 'Translate',
    element: h('div', { className: 'bench two' }, sourcePanel, pane.element),
    show(query) {
      const packed = query.get('t')
      if (packed !== null) void openLink(packed)
      else if (source.written().text === '') {
        source.set({ text: session.examples[0]?.text ?? '' })
        void translate()
      }
      return undefined
    },
  }
}

/** The text to translate, and what it is. `translate`: with the keys that act in its field. */
function sourceFields({ protocols, examples }: Session, translate: () => unknown) {
  const names = protocols.map(({ name }) => name)
  const protocol = menu([['', 'detect'], ...names.map(name => [name, name] as const)])
  const kind = menu([['', 'detect'], 'request', 'response', 'stream'])
  const example = menu([
    ['', 'none'],
    ...examples.map((one, index) => [String(index), `${one.protocol} ${one.kind}`] as const),
  ])
  const text = codeField(
    translate,
    'Paste a request, a response or a stream of events in any of the protocols.',
  )

  function set(given: { text?: string; protocol?: string; kind?: string }) {
    if (given.protocol !== undefined) protocol.value = given.protocol
    if (given.kind !== undefined) kind.value = given.kind
    if (given.text !== undefined) text.value = given.text
  }

  example.addEventListener('change', () => {
    const chosen = examples[Number(example.value)]
    if (example.value === '' || !chosen) return
    set(chosen)
    void translate()
  })
  text.addEventListener('input', () => {
    if (example.value !== '') protocol.value = kind.value = example.value = ''
  })

  const fields = h(
    'div',
    { className: 'fields' },
    labeled('Protocol', protocol),
    labeled('Kind', kind),
    labeled('Example', example),
  )
  const editor = labeled('Request, response or stream', text)
  editor.classList.add('editor')
  return {
    elements: [fields, editor],
    written: () => ({ text: text.value, protocol: protocol.value, kind: kind.value }),
    set,
    /** Puts the caret at this place of the text. */
    select(at: number) {
      text.focus()
      text.setSelectionRange(at, at)
    },
  }
}

/** The targets to choose from, and the translation into one. `changed`: another is chosen. */
function targetPane(read: CodeView, changed: () => unknown) {
  const buttons = h('div', {
    className: 'targets',
    attributes: { role: 'group', 'aria-label': 'Translated into' },
  })
  const result = h('div', { className: 'fill' })
  let chosen = ''

  function targetButton({ protocol, fault: wrong, notes }: TargetResult) {
    const choose = button(protocol, () => {
      chosen = protocol
      changed()
      buttons.querySelector<HTMLElement>('[aria-pressed=true]')?.focus()
    })
    choose.setAttribute('aria-pressed', String(protocol === chosen))
    const badge = wrong ? 'not possible' : count(notes.length, 'note')
    choose.append(h('span', { className: 'badge', textContent: badge }))
    return choose
  }

  return {
    element: panel('Target', [buttons], result),
    chosen: () => chosen,
    choose(protocol: string) {
      chosen = protocol
    },
    /** The first one, where none of these is chosen. */
    show(targets: readonly TargetResult[]) {
      const target = targets.find(one => one.protocol === chosen) ?? targets[0]
      chosen = target?.protocol ?? ''
      replace(buttons, targets.map(targetButton))
      replace(result, target ? targetView(target, read) : empty('The translation is shown here.'))
    },
  }
}

/** What the text is, and why. */
function recognized({ protocol, kind, reasons }: Examined) {
  if (protocol === undefined) return undefined
  const because = reasons.length > 0 ? `: ${reasons.join('; ')}` : ''
  return worded(`${protocol} ${kind}${because}`)
}

/** The translation into one protocol, with its notes. `read`: the view of the source. */
function targetView(
  { protocol, body, text, frames, notes, differences, noReturn, fault: wrong }: TargetResult,
  read: CodeView,
): Child[] {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body, null, 2))
  const view = codeView(`${protocol}, translated`)
  if (frames) view.frames(frames)
  else if (body !== undefined) view.json(body)
  const marked = [...notes, ...differences.map(differenceNote)]
  return [
    h(
      'p',
      { className: 'chips' },
      ...noteCounts(notes).map(([kind, number]) => chip(kind, `${number} ${kind}`)),
      differences.length > 0 && differencesChip(differences.length),
      !wrong && marked.length === 0 && chip('well', noReturn ? 'no notes' : 'nothing lost'),
      written !== '' && copyButton(() => written),
    ),
    wrong && fault(wrong.message),
    noReturn && empty(`Translating back failed: ${noReturn.message}`),
    marked.length > 0 &&
      noteList(`Notes of ${protocol}`, marked, note => (note.kind === 'synthesized' ? view : read)),
    written !== '' && view.element,
  ]
}

const differencesChip = (number: number) =>
  chip(
    'differs',
    `${count(number, 'difference')} without a note`,
    'Values that differ after the way there and back, though no note is about them',
  )

function differenceNote({ path, was, ...now }: TargetResult['differences'][number]) {
  const outcome = 'now' in now ? `comes back as ${short(now.now)}` : 'does not come back'
  return { kind: 'differs', path, reason: `${short(was)} ${outcome}` }
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
