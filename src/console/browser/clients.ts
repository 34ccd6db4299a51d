import type { ClientConfig } from '../../clients/index.ts'
import { call, queryOf, root } from './calls.ts'
import {
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
      configs = (
        await call<{ clients: ClientConfig[] }>(
          `console/api/clients${queryOf({ base: root, model: model.value })}`,
        )
      ).clients
      setOptions(
        client,
        configs.map(({ client: name, title }) => [name, title] as const),
      )
      show()
    } catch (error) {
      replace(snippets, fault(messageOf(error)))
    }
  }

  function show() {
    const config = configs.find(one => one.client === client.value)
    replace(
      snippets,
      config
        ? empty(
            `The key is read from the environment variable ${config.keyEnv}. The settings never contain it.`,
          )
        : empty('There are no settings.'),
      config?.snippets.map(({ title, file, text }) =>
        h(
          'div',
          { className: 'snippet' },
          h(
            'h3',
            {},
            title,
            file !== undefined && h('code', { textContent: file }),
            copyButton(() => text),
          ),
          h('pre', { tabIndex: 0, textContent: text }),
        ),
      ),
      config &&
        config.remarks.length > 0 &&
        h(
          'ul',
          { className: 'remarks' },
          ...config.remarks.map(remark => h('li', { textContent: remark })),
        ),
    )
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
