import { call } from './calls.ts'
import { codeView, noteCounts, noteList } from './code.ts'
import {
  button,
  chip,
  copyButton,
  count,
  empty,
  fault,
  h,
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
export function translateTab({ protocols, examples }: Session): Tab {
  const names = protocols.map(({ name }) => name)
  const protocol = menu([['', 'detect'], ...names.map(name => [name, name] as const)])
  const kind = menu([['', 'detect'], 'request', 'response', 'stream'])
  const example = menu([
    ['', 'none'],
    ...examples.map((one, index) => [String(index), `${one.protocol} ${one.kind}`] as const),
  ])
  const source = h('textarea', {
    spellcheck: false,
    placeholder: 'Paste a request, a response or a stream of events in any of the protocols.',
    attributes: {
      'aria-keyshortcuts': 'Control+Enter',
      autocapitalize: 'off',
      autocomplete: 'off',
    },
  })
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
  const targets = h('div', {
    className: 'targets',
    attributes: { role: 'group', 'aria-label': 'Translated into' },
  })
  const result = h('div', { className: 'fill' })
  let examined: Examined | undefined
  let target = ''
  let turn = 0

  const link = copyButton(async () => {
    const packed = await pack({
      text: source.value,
      protocol: protocol.value,
      kind: kind.value,
      target,
    })
    return `${location.origin}${location.pathname}#translate?t=${packed}`
  }, 'Copy link')

  async function translate() {
    const mine = ++turn
    status.textContent = 'Translating …'
    replace(faults)
    replace(questions)
    try {
      const known = {
        text: source.value,
        ...(protocol.value && { protocol: protocol.value }),
        ...(kind.value && { kind: kind.value }),
      }
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
    const { protocol: from, kind: what, reasons, choices, fault: wrong, body, frames } = found
    replace(
      status,
      from !== undefined &&
        worded(`${from} ${what}${reasons.length > 0 ? `: ${reasons.join('; ')}` : ''}`),
    )
    replace(faults, wrong && fault(wrong.message))
    if (wrong?.at !== undefined) {
      source.focus()
      source.setSelectionRange(wrong.at, wrong.at)
    }
    replace(
      questions,
      choices.map(choice =>
        button(`${choice.protocol} ${choice.kind}`, () => {
          protocol.value = choice.protocol
          kind.value = choice.kind
          return translate()
        }),
      ),
    )
    if (!found.targets.some(one => one.protocol === target))
      target = found.targets[0]?.protocol ?? ''
    if (frames) read.frames(frames)
    else if (body !== undefined) read.json(body)
    else read.clear()
    if (wrong?.path) for (const line of read.find(wrong.path)) line.classList.add('dropped')
    showTarget()
  }

  function showTarget() {
    const { targets: all = [] } = examined ?? {}
    replace(
      targets,
      all.map(one => {
        const choose = button(one.protocol, () => {
          target = one.protocol
          if (examined) show(examined)
          targets.querySelector<HTMLElement>('[aria-pressed=true]')?.focus()
        })
        choose.setAttribute('aria-pressed', String(one.protocol === target))
        choose.append(
          h('span', {
            className: 'badge',
            textContent: one.fault ? 'not possible' : count(one.notes.length, 'note'),
          }),
        )
        return choose
      }),
    )
    const chosen = all.find(one => one.protocol === target)
    replace(result, chosen ? targetView(chosen, read) : empty('The translation is shown here.'))
  }

  example.addEventListener('change', () => {
    const chosen = examples[Number(example.value)]
    if (example.value === '' || !chosen) return
    protocol.value = chosen.protocol
    kind.value = chosen.kind
    source.value = chosen.text
    void translate()
  })
  source.addEventListener('input', () => {
    if (example.value !== '') protocol.value = kind.value = example.value = ''
  })
  source.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void translate()
  })

  const element = h(
    'div',
    { className: 'bench two' },
    panel(
      'Source',
      [link],
      h(
        'div',
        { className: 'fields' },
        labeled('Protocol', protocol),
        labeled('Kind', kind),
        labeled('Example', example),
      ),
      labeled('Request, response or stream', source),
      h(
        'div',
        { className: 'actions' },
        button('Translate', translate, 'main'),
        h(
          'span',
          { className: 'hint' },
          h('kbd', { textContent: 'Ctrl' }),
          ' ',
          h('kbd', { textContent: 'Enter' }),
        ),
        status,
      ),
      faults,
      questions,
      h('h3', { className: 'rule', textContent: 'Parsed source' }),
      read.element,
    ),
    panel('Target', [targets], result),
  )
  source.parentElement?.classList.add('editor')
  return {
    id: 'translate',
    title: 'Translate',
    element,
    show(query) {
      const packed = query.get('t')
      if (packed !== null)
        void unpack(packed).then(
          opened => {
            source.value = opened.text
            protocol.value = opened.protocol
            kind.value = opened.kind
            target = opened.target
            return translate()
          },
          () => replace(faults, fault('This link is not complete.')),
        )
      else if (source.value === '') {
        source.value = examples[0]?.text ?? ''
        void translate()
      }
      return undefined
    },
  }
}

function targetView(
  { protocol, body, text, frames, notes, differences, noReturn, fault: wrong }: TargetResult,
  read: ReturnType<typeof codeView>,
) {
  const written = text ?? (body === undefined ? '' : JSON.stringify(body, null, 2))
  const view = codeView(`${protocol}, translated`)
  if (frames) view.frames(frames)
  else if (body !== undefined) view.json(body)
  const marked = [
    ...notes,
    ...differences.map(({ path, was, ...now }) => ({
      kind: 'differs',
      path,
      reason:
        'now' in now
          ? `${short(was)} comes back as ${short(now.now)}`
          : `${short(was)} does not come back`,
    })),
  ]
  return [
    h(
      'p',
      { className: 'chips' },
      ...noteCounts(notes).map(([kind, number]) => chip(kind, `${number} ${kind}`)),
      differences.length > 0 &&
        chip(
          'differs',
          `${count(differences.length, 'difference')} without a note`,
          'Values that differ after the way there and back, though no note is about them',
        ),
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

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? ''
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
