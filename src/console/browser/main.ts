import { call, KeyRefused, keepKey, keptKey } from './calls.ts'
import { channelsTab, noChannelsTab } from './channels.ts'
import { clientsTab } from './clients.ts'
import { button, empty, fault, h, labeled, messageOf, replace } from './dom.ts'
import { keysTab, noKeysTab } from './keys.ts'
import { modelsTab } from './models.ts'
import { overviewTab } from './overview.ts'
import { playgroundTab } from './playground.ts'
import { requestsTab } from './requests.ts'
import { translateTab } from './translate.ts'
import type { Session, Tab } from './types.ts'

const nav = h('nav', { attributes: { 'aria-label': 'Sections' } })
const who = h('div', { className: 'who' })
const main = h('main', { id: 'main', tabIndex: -1 })

document.body.append(
  h('a', { className: 'skip', href: '#main', textContent: 'Skip to the content' }),
  h('header', {}, h('h1', {}, 'wireglot', h('span', { textContent: 'console' })), nav, who),
  main,
)
document.querySelector<HTMLElement>('.skip')?.addEventListener('click', event => {
  event.preventDefault()
  main.focus()
})

let leave: (() => void) | undefined
let tabs: Tab[] = []

/** Opens the tab that the fragment of the URL names: `#id?query`. */
function open() {
  const [id = '', query = ''] = location.hash.slice(1).split('?')
  const tab = tabs.find(one => one.id === id) ?? tabs[0]
  if (!tab) return
  leave?.()
  for (const link of nav.querySelectorAll('a')) {
    if (link.hash === `#${tab.id}`) link.setAttribute('aria-current', 'page')
    else link.removeAttribute('aria-current')
  }
  document.title = `${tab.title} · wireglot console`
  replace(main, tab.element)
  leave = tab.show?.(new URLSearchParams(query))
}

async function start() {
  leave?.()
  leave = undefined
  try {
    const session = await call<Session>('console/api/session')
    tabs = [
      playgroundTab(session),
      translateTab(session),
      ...(session.hasRecords ? [overviewTab(session), requestsTab(session)] : []),
      ...(session.role === 'operator' ? operatorTabs(session) : []),
      modelsTab(session),
      clientsTab(),
    ]
    replace(
      nav,
      tabs.map(({ id, title }) => h('a', { href: `#${id}`, textContent: title })),
    )
    replace(
      who,
      session.key ?? (session.role === 'operator' ? 'operator' : 'client'),
      keptKey() !== '' && button('Forget key', forget, 'small'),
    )
    open()
  } catch (error) {
    tabs = []
    replace(nav)
    replace(who)
    if (error instanceof KeyRefused) askForKey(keptKey() === '' ? undefined : error.message)
    else replace(main, fault(messageOf(error)), button('Try again', start))
  }
}

const operatorTabs = (session: Session): Tab[] =>
  session.canManageKeys ? [keysTab(), channelsTab(session)] : [noKeysTab(), noChannelsTab()]

function forget() {
  keepKey('')
  void start()
}

function askForKey(rejection: string | undefined) {
  const field = h('input', {
    type: 'password',
    autocomplete: 'off',
    spellcheck: false,
    required: true,
  })
  const form = h(
    'form',
    { className: 'panel login' },
    h('h2', { textContent: 'This gateway needs a key' }),
    empty(
      'The admin key shows everything. A key of a client shows its own models, requests and usage. It is kept in this tab only.',
    ),
    rejection !== undefined && fault(`This key is not accepted: ${rejection}.`),
    labeled('Admin key, or the key of a client', field),
    h('button', { className: 'main', textContent: 'Open' }),
  )
  form.addEventListener('submit', event => {
    event.preventDefault()
    const key = field.value.trim()
    if (/[^!-~]/.test(key)) return askForKey('a key has no spaces, and characters of ASCII alone')
    keepKey(key)
    void start()
  })
  replace(main, form)
  field.focus()
}

addEventListener('hashchange', open)
void start()
