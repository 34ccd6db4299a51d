/** Texts from outside become text nodes and nothing else: nothing here parses HTML. */

export type Child = Node | string | undefined | false | readonly Child[]

type Properties<Tag extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[Tag], 'style' | 'children' | 'attributes'>
> & {
  attributes?: Record<string, string>
}

/** An element with properties, attributes and children. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: Properties<Tag> = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const element = document.createElement(tag)
  const { attributes = {}, ...rest } = properties
  Object.assign(element, rest)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  append(element, children)
  return element
}

export function append(element: Element, children: readonly Child[]): void {
  for (const child of children) {
    if (typeof child === 'string' || child instanceof Node) element.append(child)
    else if (child) append(element, child)
  }
}

/** What had the focus keeps it, if it has a `data-id` and is among the new children. */
export function replace(element: Element, ...children: Child[]): void {
  const focused = element.contains(document.activeElement)
    ? document.activeElement?.getAttribute('data-id')
    : undefined
  element.replaceChildren()
  append(element, children)
  if (focused) focusOn(element, focused)
}

export function focusOn(element: Element, id: string): void {
  element.querySelector<HTMLElement>(`[data-id="${CSS.escape(id)}"]`)?.focus()
}

export const empty = (text: string) => h('p', { className: 'empty', textContent: text })

export const fault = (text: string) =>
  h('p', { className: 'fault', textContent: text, attributes: { role: 'alert' } })

export const chip = (tone: string, text: string, title = '') =>
  h('span', { className: `chip ${tone}`, textContent: text, title })

let labels = 0

/** A field with its label. */
export function labeled<Field extends HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement>(
  label: string,
  field: Field,
): HTMLElement {
  field.id ||= `field-${++labels}`
  return h(
    'div',
    { className: 'field' },
    h('label', { htmlFor: field.id, textContent: label }),
    field,
  )
}

/** A menu. Options are texts, or pairs of value and text. */
export function menu(
  options: readonly (string | readonly [value: string, text: string])[],
  chosen?: string,
): HTMLSelectElement {
  const select = h('select', {}, ...options.map(optionOf))
  if (chosen !== undefined) select.value = chosen
  return select
}

/** Replaces the options, and keeps what is chosen where it is still there. */
export function setOptions(
  select: HTMLSelectElement,
  options: readonly (string | readonly [value: string, text: string])[],
): void {
  const { value } = select
  select.replaceChildren(...options.map(optionOf))
  if ([...select.options].some(option => option.value === value)) select.value = value
}

const optionOf = (option: string | readonly [value: string, text: string]) =>
  typeof option === 'string'
    ? h('option', { value: option, textContent: option })
    : h('option', { value: option[0], textContent: option[1] })

/** A field for JSON and the like. Ctrl or Cmd with Enter does `act`. */
export function codeField(act: () => unknown, placeholder = ''): HTMLTextAreaElement {
  const field = h('textarea', {
    spellcheck: false,
    placeholder,
    attributes: {
      'aria-keyshortcuts': 'Control+Enter',
      autocapitalize: 'off',
      autocomplete: 'off',
    },
  })
  field.addEventListener('keydown', event => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) void act()
  })
  return field
}

/** Shows the keys that act in a code field. */
export const keysHint = () =>
  h(
    'span',
    { className: 'hint' },
    h('kbd', { textContent: 'Ctrl' }),
    ' ',
    h('kbd', { textContent: 'Enter' }),
  )

/** A text whose lines may break, for cells of tables. */
export const wrapped = (...content: Child[]) => h('span', { className: 'wrap' }, ...content)

export function button(text: string, act: () => unknown, className = ''): HTMLButtonElement {
  const element = h('button', { type: 'button', textContent: text, className })
  element.addEventListener('click', () => void act())
  return element
}

/** A button that copies what `text` gives. */
export function copyButton(
  text: () => string | Promise<string>,
  label = 'Copy',
): HTMLButtonElement {
  const element = button(
    label,
    async () => {
      try {
        await navigator.clipboard.writeText(await text())
        element.textContent = 'Copied'
      } catch {
        element.textContent = 'Not allowed'
      }
      setTimeout(() => {
        element.textContent = label
      }, 1500)
    },
    'small',
  )
  return element
}

/** A panel with a heading. */
export function panel(title: string, head: Child[], ...children: Child[]): HTMLElement {
  const heading = h('h2', { textContent: title, id: `title-${++labels}` })
  return h(
    'section',
    { className: 'panel', attributes: { 'aria-labelledby': heading.id } },
    h('div', { className: 'head' }, heading, head),
    children,
  )
}

/** A cell: a text, a number (right-aligned), or elements. */
export type Cell = string | number | Node | { number: string; title?: string } | null | undefined

/**
 * A table whose first column names its rows, in a region that the keyboard can scroll. On a narrow
 * page each row is a card, with the heads before its cells.
 */
export function table(
  name: string,
  heads: readonly string[],
  rows: readonly (readonly Cell[])[],
): HTMLElement {
  const isNumeric = heads.map((_, index) => rows.some(row => isNumber(row[index])))
  const headCells = heads.map((head, index) =>
    h('th', {
      className: isNumeric[index] ? 'number' : '',
      textContent: head,
      attributes: { scope: 'col', role: 'columnheader' },
    }),
  )
  // Cards are no tables for a browser, unless they say so.
  const asRole = (role: string) => ({ attributes: { role } })
  const head = h('thead', asRole('rowgroup'), h('tr', asRole('row'), ...headCells))
  const cellAt = (value: Cell, index: number) =>
    cellOf(value, { head: heads[index] ?? '', isFirst: index === 0, isNumber: isNumeric[index] })
  const body = h(
    'tbody',
    asRole('rowgroup'),
    ...rows.map(row => h('tr', asRole('row'), ...row.map(cellAt))),
  )
  return h(
    'div',
    { className: 'scroll', tabIndex: 0, attributes: { role: 'region', 'aria-label': name } },
    h('table', asRole('table'), head, body),
  )
}

const isNumber = (value: Cell) =>
  typeof value === 'number' || (typeof value === 'object' && value !== null && 'number' in value)

/** A column with numbers is one, also where a cell has none. */
function cellOf(
  value: Cell,
  { head, isFirst, isNumber }: { head: string; isFirst: boolean; isNumber: boolean | undefined },
): HTMLElement {
  const element = h(isFirst ? 'th' : 'td', { className: isNumber ? 'number' : '' })
  element.setAttribute('role', isFirst ? 'rowheader' : 'cell')
  if (isFirst) element.setAttribute('scope', 'row')
  else element.setAttribute('data-head', head)
  if (typeof value === 'object' && value !== null && 'number' in value) {
    element.append(value.number)
    element.title = value.title ?? ''
  } else element.append(typeof value === 'number' ? value.toLocaleString('en') : (value ?? '–'))
  if (value === null || value === undefined) element.classList.add('none')
  return element
}

/** Words between grave accents are code. */
export const worded = (text: string): Node[] =>
  text
    .split('`')
    .map((chunk, index) =>
      index % 2 ? h('code', { textContent: chunk }) : document.createTextNode(chunk),
    )

export const count = (number: number, thing: string): string =>
  `${number.toLocaleString('en')} ${thing}${number === 1 ? '' : 's'}`

export const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error)

/** Shows in this element why something has failed. */
export async function orFault(faults: HTMLElement, act: () => unknown): Promise<void> {
  try {
    await act()
  } catch (error) {
    replace(faults, fault(messageOf(error)))
  }
}
