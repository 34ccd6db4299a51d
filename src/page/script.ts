/** What the page does in the browser. Whatever comes from outside is only ever set as text. */
export const script = String.raw`
'use strict'
{
const byId = id => document.getElementById(id)
const root = location.origin + location.pathname.replace(/\/*$/, '/')
const longestView = 2000
const longestList = 300
let models = []

// ---- elements

/** An element with its properties; children are elements or texts. */
function make(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children.filter(child => child !== undefined && child !== ''))
  return element
}

function copyButton(text) {
  const button = make('button', { type: 'button', className: 'small', textContent: 'Copy' })
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
    } catch {
      button.textContent = 'Not allowed'
    }
    setTimeout(() => { button.textContent = 'Copy' }, 1500)
  })
  return button
}

// ---- asking the gateway

const keyName = 'wireglot key of ' + root
const keptKey = () => { try { return sessionStorage.getItem(keyName) ?? '' } catch { return byId('key').value } }
function keepKey(key) {
  try {
    if (key) sessionStorage.setItem(keyName, key)
    else sessionStorage.removeItem(keyName)
  } catch { /* Then the field alone has it. */ }
}

/** JSON of this gateway; throws an Error that people can read. */
async function ask(path, body) {
  const key = keptKey()
  const headers = { accept: 'application/json' }
  if (key) headers.authorization = 'Bearer ' + key
  if (body) headers['content-type'] = 'application/json'
  let response
  try {
    response = await fetch(root + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  } catch {
    throw new Error('The gateway cannot be reached.')
  }
  const answer = await response.json().catch(() => ({}))
  if (response.ok) return answer
  const error = answer.error ?? {}
  const message = typeof error === 'object' && error.message || 'The gateway answered ' + response.status + '.'
  if (response.status === 401) askForKey(key ? 'This key is not taken: ' + message + '.' : 'This gateway wants a key. It is kept in this tab only.')
  throw new Error(message + (error.param ? ' (at ' + error.param + ')' : ''))
}

function askForKey(why) {
  byId('keys').hidden = false
  byId('keys').className = ''
  byId('forget').hidden = keptKey() === ''
  byId('keys-why').textContent = why
  byId('key').focus()
}

byId('keys').addEventListener('submit', event => {
  event.preventDefault()
  keepKey(byId('key').value.trim())
  start()
})
byId('forget').addEventListener('click', () => {
  keepKey('')
  byId('key').value = ''
  start()
})

// ---- JSON and streams as lines

const stepped = (path, key) => path + '/' + key.replaceAll('~', '~0').replaceAll('/', '~1')

/** Lines of a JSON value: how deep, the place of what begins there, and coloured pieces of text. */
function linesOf(value, path = '', deep = 0, name, comma = '', into = []) {
  const before = name === undefined ? [] : [['k', JSON.stringify(name)], ['', ': ']]
  const isList = Array.isArray(value)
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : undefined
  if (!entries || entries.length === 0) {
    const text = entries ? (isList ? '[]' : '{}') : JSON.stringify(value)
    into.push({ deep, path, pieces: [...before, [typeof value === 'string' ? 's' : entries ? '' : 'l', text], ['', comma]] })
    return into
  }
  into.push({ deep, path, pieces: [...before, ['', isList ? '[' : '{']] })
  entries.forEach(([key, item], index) => {
    linesOf(item, stepped(path, key), deep + 1, isList ? undefined : key, index < entries.length - 1 ? ',' : '', into)
  })
  into.push({ deep, pieces: [['', (isList ? ']' : '}') + comma]] })
  return into
}

/** Lines of the frames of a stream. What is not JSON stays text. */
const frameLines = frames => frames.map(({ event, data, value }) => ({ value, pieces: [['e', event ? event + '  ' : ''], ['', value === undefined ? data : '']] }))

/** A value on one line; every member is a piece of its own, so that it can be pointed at. */
function inline(value, path, name, found) {
  const element = make('span', { className: 'member' })
  found.push({ path, element })
  if (name !== undefined) element.append(make('span', { className: 'k', textContent: JSON.stringify(name) }), ':', make('wbr'))
  if (typeof value !== 'object' || value === null) {
    element.append(make('span', { className: typeof value === 'string' ? 's' : 'l', textContent: JSON.stringify(value) }))
    return element
  }
  const isList = Array.isArray(value)
  element.append(isList ? '[' : '{')
  Object.entries(value).forEach(([key, item], index) => element.append(...(index > 0 ? [',', make('wbr')] : []), inline(item, stepped(path, key), isList ? undefined : key, found)))
  element.append(isList ? ']' : '}')
  return element
}

/** Shows lines in a view, and gives a function that finds the elements of a place. */
function show(view, lines) {
  const found = []
  const shown = lines.slice(0, longestView).map(({ deep = 0, path, pieces, value }) => {
    const element = make('span', { className: deep === 0 && path === undefined && value !== undefined ? 'line frame' : 'line' })
    element.style.setProperty('--deep', deep)
    for (const [tone, text] of pieces) if (text) element.append(tone ? make('span', { className: tone, textContent: text }) : text)
    if (value !== undefined) element.append(inline(value, '', undefined, found))
    else if (path !== undefined) found.push({ path, element, isLine: true })
    return element
  })
  view.replaceChildren(...shown)
  if (lines.length > longestView) view.append(make('span', { className: 'line e', textContent: '… ' + (lines.length - longestView) + ' more lines' }))
  view.scrollTop = 0
  return path => {
    for (let place = path; place; place = place.slice(0, place.lastIndexOf('/'))) {
      const here = found.filter(one => one.path === place || (one.isLine && one.path.startsWith(place + '/')))
      if (here.length > 0) return here.map(({ element }) => element)
    }
    return []
  }
}

/** A button that shows the place it speaks of while it is looked at. */
function pointer(tone, elements, children) {
  const button = make('button', { type: 'button', className: 'note ' + tone }, ...children)
  const light = on => elements.forEach(element => element.classList.toggle('lit', on))
  const look = () => {
    light(true)
    const view = elements[0]?.closest('.code')
    if (!view) return
    const { top, bottom } = elements[0].getBoundingClientRect()
    const frame = view.getBoundingClientRect()
    if (top < frame.top || bottom > frame.bottom) view.scrollTop += top - frame.top - view.clientHeight / 3
  }
  button.addEventListener('mouseenter', look)
  button.addEventListener('mouseleave', () => light(false))
  button.addEventListener('focus', look)
  button.addEventListener('blur', () => light(false))
  button.addEventListener('click', () => { look(); elements[0]?.scrollIntoView({ block: 'nearest' }) })
  return make('li', {}, button)
}

// ---- translating

const source = byId('source')
let asking = 0
/** Were protocol and kind set by an example or a choice, and so for that text alone? */
let isSetForText = false

function setReading({ protocol, kind }) {
  byId('protocol').value = protocol
  byId('kind').value = kind
  isSetForText = true
}

async function translate() {
  const turn = ++asking
  clear()
  byId('told').textContent = 'Translating …'
  const asked = { text: source.value }
  for (const name of ['protocol', 'kind']) if (byId(name).value) asked[name] = byId(name).value
  try {
    const examined = await ask('playground/translate', asked)
    if (turn === asking) showAll(examined)
  } catch (error) {
    if (turn !== asking) return
    byId('told').textContent = ''
    fail(error.message)
  }
}

function clear() {
  for (const id of ['fault', 'choices', 'read', 'read-title']) byId(id).hidden = true
  for (const target of document.querySelectorAll('.target')) {
    target.replaceChildren(make('p', { className: 'empty', textContent: 'What another protocol makes of it.' }))
    target.removeAttribute('aria-label')
  }
}

function fail(message, isQuestion = false) {
  byId('fault').className = isQuestion ? 'fault question' : 'fault'
  byId('fault').textContent = message
  byId('fault').hidden = false
}

function showAll({ protocol, kind, reasons, choices, fault, body, frames, targets }) {
  byId('told').replaceChildren(...(protocol ? worded(protocol + ' ' + kind + (reasons.length > 0 ? ': ' + reasons.join('; ') : '')) : []))
  if (fault) fail(fault.message, choices.length > 0)
  if (fault?.at !== undefined) {
    source.focus()
    source.setSelectionRange(fault.at, fault.at)
  }
  byId('choices').replaceChildren(...choices.map(choice => {
    const button = make('button', { type: 'button', textContent: choice.protocol + ' ' + choice.kind })
    button.addEventListener('click', () => {
      setReading(choice)
      translate()
    })
    return button
  }))
  byId('choices').hidden = choices.length === 0
  let find = () => []
  if (body !== undefined || frames) {
    byId('read').hidden = byId('read-title').hidden = false
    find = show(byId('read'), frames ? frameLines(frames) : linesOf(body))
    if (fault?.path) find(fault.path).forEach(element => element.classList.add('dropped'))
  }
  const panels = document.querySelectorAll('.target')
  targets.forEach((target, index) => panels[index] && showTarget(panels[index], target, find))
  if (targets.length > 0) byId('told').append('. ' + targets.map(({ protocol: name, notes, fault: wrong }) => name + ': ' + (wrong ? 'not possible' : count(notes.length, 'note'))).join(', '))
}

/** Words between grave accents are code. */
const worded = text => text.split('\x60').map((piece, index) => (index % 2 ? make('code', { textContent: piece }) : piece))

const count = (number, thing) => number + ' ' + thing + (number === 1 ? '' : 's')

function showTarget(panel, { protocol, body, text, frames, notes, differences, noReturn, fault }, inSource) {
  const head = make('div', { className: 'head' }, make('h2', { textContent: protocol }))
  const chips = make('p', { className: 'chips' })
  const told = text ?? (body === undefined ? '' : JSON.stringify(body, null, 2))
  panel.replaceChildren(head)
  panel.setAttribute('aria-label', protocol)
  for (const kind of ['dropped', 'approximated', 'synthesized']) {
    const number = notes.filter(note => note.kind === kind).length
    if (number > 0) chips.append(make('span', { className: 'chip ' + kind, textContent: number + ' ' + kind }))
  }
  if (differences.length > 0) chips.append(make('span', { className: 'chip differs', title: 'Values that are not the same after the way there and back, though no note is about them', textContent: count(differences.length, 'difference') + ' without a note' }))
  if (!fault && notes.length === 0 && differences.length === 0) chips.append(make('span', { className: 'chip well', textContent: noReturn ? 'no notes' : 'nothing lost' }))
  if (fault) chips.append(make('span', { className: 'chip dropped', textContent: 'not possible' }))
  if (told) head.append(copyButton(told))
  head.append(chips)
  if (fault) panel.append(make('p', { className: 'fault', textContent: fault.message }))
  const view = make('div', { className: 'code', tabIndex: 0 })
  view.setAttribute('role', 'region')
  view.setAttribute('aria-label', protocol + ', translated')
  const inTarget = show(view, frames ? frameLines(frames) : body === undefined ? [] : linesOf(body))
  const list = make('ul', { className: 'notes' })
  for (const note of notes.slice(0, longestList)) {
    const elements = (note.kind === 'synthesized' ? inTarget : inSource)(note.path)
    elements.forEach(element => element.classList.add(note.kind))
    list.append(pointer(note.kind, elements, [make('b', { textContent: note.kind }), ' ', make('code', { textContent: note.code }), ' ', make('code', { className: 'path', textContent: note.path || '/' }), make('span', { className: 'reason', textContent: note.reason })]))
  }
  for (const { path, was, ...rest } of differences.slice(0, longestList)) {
    const elements = inSource(path)
    elements.forEach(element => element.classList.add('differs'))
    const how = 'now' in rest ? short(was) + ' comes back as ' + short(rest.now) : short(was) + ' does not come back'
    list.append(pointer('differs', elements, [make('b', { textContent: 'difference' }), ' ', make('code', { className: 'path', textContent: path }), make('span', { className: 'reason', textContent: how })]))
  }
  const more = Math.max(0, notes.length - longestList) + Math.max(0, differences.length - longestList)
  if (more > 0) list.append(make('li', { className: 'empty', textContent: '… ' + more + ' more' }))
  if (noReturn) list.append(make('li', { className: 'empty', textContent: 'The way back was not possible: ' + noReturn.message }))
  if (list.children.length > 0) {
    list.setAttribute('aria-label', 'Notes of ' + protocol)
    panel.append(list)
  }
  if (told) panel.append(view)
}

function short(value) {
  const text = JSON.stringify(value)
  return text.length > 80 ? text.slice(0, 80) + '…' : text
}

byId('go').addEventListener('click', translate)
document.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return
  event.preventDefault()
  translate()
})

// ---- examples, models, clients, usage

function showExamples(examples) {
  const groups = new Map()
  examples.forEach(({ protocol, kind }, index) => {
    if (!groups.has(protocol)) groups.set(protocol, make('optgroup', { label: protocol }))
    groups.get(protocol).append(make('option', { value: String(index), textContent: kind }))
  })
  byId('example').replaceChildren(make('option', { value: '', textContent: 'none' }), ...groups.values())
  byId('example').onchange = ({ target }) => {
    const example = examples[Number(target.value)]
    if (target.value === '' || !example) return
    setReading(example)
    source.value = example.text
    translate()
  }
}
source.addEventListener('input', () => { byId('example').value = '' })
source.addEventListener('paste', () => {
  if (isSetForText) byId('protocol').value = byId('kind').value = ''
})
for (const id of ['protocol', 'kind']) byId(id).addEventListener('change', () => { isSetForText = false })

function table(heads, rows) {
  const cell = (name, [text, isNumber], scope) => make(name, { textContent: text, className: isNumber ? 'number' : '', ...(scope && { scope }) })
  return make('table', {}, make('thead', {}, make('tr', {}, ...heads.map(head => cell('th', head, 'col')))), make('tbody', {}, ...rows.map(row => make('tr', {}, ...row.map((one, index) => cell(index === 0 ? 'th' : 'td', one, index === 0 && 'row'))))))
}

const number = value => [value === undefined ? '–' : value.toLocaleString('en'), true]
const empty = text => make('p', { className: 'empty', textContent: text })

function showModels() {
  byId('models-list').replaceChildren(models.length === 0
    ? empty('No model is listed for this key.')
    : table([['Id'], ['Name'], ['Context', true], ['Longest reply', true]], models.map(({ id, displayName = '', contextTokens, maxOutputTokens }) => [[id], [displayName], number(contextTokens), number(maxOutputTokens)])))
  const chosen = byId('model').value
  byId('model').replaceChildren(...models.map(({ id }) => make('option', { value: id, textContent: id })))
  if (models.some(({ id }) => id === chosen)) byId('model').value = chosen
}

function showUsage(records) {
  byId('records').replaceChildren(records.length === 0 ? empty('Nothing was asked yet.') : table(
    [['Time'], ['Model'], ['Asked in'], ['Served in'], ['Stream'], ['Status'], ['Tokens in', true], ['cached', true], ['Tokens out', true], ['reasoning', true], ['First byte, ms', true], ['Total, ms', true], ['Attempts', true], ['Notes', true]],
    records.map(({ time, modelAsked = '', protocolIn, protocolOut = '–', stream, status, failure, usage = {}, firstByteMs, totalMs, attempts, notes }) =>
      [[new Date(time).toLocaleTimeString()], [modelAsked], [protocolIn], [protocolOut], [stream ? 'yes' : 'no'], [failure ? status + ' ' + failure : String(status)],
        number(usage.input), number(usage.cacheRead), number(usage.output), number(usage.reasoning), number(firstByteMs), number(totalMs), number(attempts), number(notes)])))
}

async function showClients() {
  const model = byId('model').value
  const { clients } = await ask('client-config' + (model ? '?model=' + encodeURIComponent(model) : ''))
  const chosen = byId('client').value
  byId('client').replaceChildren(...Object.entries(clients).map(([name, { title }]) => make('option', { value: name, textContent: title })))
  if (clients[chosen]) byId('client').value = chosen
  const choose = () => {
    const { snippets, remarks } = clients[byId('client').value]
    byId('snippets').replaceChildren(
      ...snippets.map(({ title, file, text }) => {
        const pre = make('pre', { tabIndex: 0, textContent: text })
        return make('div', { className: 'snippet' }, make('h3', {}, title, file && make('code', { textContent: file }), copyButton(text)), pre)
      }),
      ...(remarks.length > 0 ? [make('ul', { className: 'remarks' }, ...remarks.map(remark => make('li', { textContent: remark })))] : []),
    )
  }
  byId('client').onchange = choose
  choose()
}

async function start() {
  try {
    const { models: listed, usage, examples } = await ask('playground/state')
    models = listed
    byId('keys').className = 'quiet'
    byId('forget').hidden = false
    byId('keys').hidden = keptKey() === ''
    byId('keys-why').textContent = 'Your key is kept in this tab only.'
    byId('key').value = ''
    showModels()
    showUsage(usage)
    showExamples(examples)
    const [first] = examples
    if (first && source.value === '') {
      source.value = first.text
      // What is typed or pasted replaces it.
      source.addEventListener('focus', () => { if (source.value === first.text) source.select() })
      translate()
    }
    await showClients()
  } catch (error) {
    for (const id of ['models-list', 'records', 'snippets']) byId(id).replaceChildren(empty(error.message))
  }
}

byId('model').addEventListener('change', () => showClients().catch(error => byId('snippets').replaceChildren(empty(error.message))))
byId('refresh').addEventListener('click', async () => {
  try {
    showUsage((await ask('playground/state')).usage)
  } catch (error) {
    byId('records').replaceChildren(empty(error.message))
  }
})
start()
}
`
