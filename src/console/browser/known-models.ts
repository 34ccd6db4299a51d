import { call } from './calls.ts'
import { h, replace } from './dom.ts'

const list = h('datalist', { id: 'known-models' })

/** A field for a model, with those that the key sees as suggestions. */
export const modelField = (placeholder = ''): HTMLInputElement =>
  h('input', {
    type: 'text',
    spellcheck: false,
    autocomplete: 'off',
    placeholder,
    attributes: { list: list.id },
  })

/** The ids of the models that the key sees. Empty: none are listed, or the gateway does not say. */
export async function loadModels(): Promise<string[]> {
  if (!list.isConnected) document.body.append(list)
  const { data } = await call<{ data: { id: string }[] }>('v1/models').catch(() => ({ data: [] }))
  const ids = data.map(({ id }) => id)
  replace(
    list,
    ids.map(id => h('option', { value: id })),
  )
  return ids
}
