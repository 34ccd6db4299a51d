import type { ClientConfig } from '../../clients/index.ts'
import { call, queryOf, root } from './calls.ts'
import {
  type Child,
  copyButton,
  empty,
  fault,
  h,
  labeled,
  menu,
  messageOf,
  panel,
  replace,
  setOptions,
  worded,
} from './dom.ts'
import { loadModels, modelField } from './known-models.ts'
import type { Tab } from './types.ts'

/** Settings that point client programs at this gateway. */
export function clientsTab(): Tab {
  const client = menu([])
  const model = modelField()
  const snippets = h('div', { className: 'fill' })
  let configs: ClientConfig[] = []

  async function load() {
    try {
      const query = queryOf({ base: root, model: model.value })
      const { clients } = await call<{ clients: ClientConfig[] }>(`console/api/clients${query}`)
      configs = clients
      const titles = configs.map(({ client: name, title }) => [name, title] as const)
      setOptions(client, titles)
      show()
    } catch (error) {
      replace(snippets, fault(messageOf(error)))
    }
  }

  function show() {
    const config = configs.find(one => one.client === client.value)
    replace(snippets, config ? configView(config) : empty('There are no settings.'))
  }

  client.addEventListener('change', show)
  model.addEventListener('change', load)
  return {
    id: 'clients',
    title: 'Clients',
    element: panel(
      'Client configuration',
      [],
      h('div', { className: 'fields' }, labeled('Client', client), labeled('Model', model)),
      snippets,
    ),
    show() {
      void loadModels().then(([first = '']) => {
        if (model.value === '') model.value = first
        return load()
      })
      return undefined
    },
  }
}

function configView({ keyEnv, snippets, remarks }: ClientConfig): Child[] {
  const items = remarks.map(remark => h('li', {}, worded(remark)))
  return [
    empty(
      `The key is read from the environment variable ${keyEnv}. The settings never contain it.`,
    ),
    snippets.map(snippetView),
    items.length > 0 && h('ul', { className: 'remarks' }, ...items),
  ]
}

function snippetView({ title, file, text }: ClientConfig['snippets'][number]): HTMLElement {
  const name = file !== undefined && h('code', { textContent: file })
  const copy = copyButton(() => text)
  return h(
    'div',
    { className: 'snippet' },
    h('h3', {}, title, name, copy),
    h('pre', { tabIndex: 0, textContent: text }),
  )
}
