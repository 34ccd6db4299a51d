import type { ListedChannel, ListedModel } from '../../records/index.ts'
import type { Check } from '../../verify/check.ts'
import { call, queryOf } from './calls.ts'
import { checkTable } from './checks.ts'
import {
  button,
  type Cell,
  chip,
  empty,
  fault,
  h,
  messageOf,
  panel,
  replace,
  table,
  wrapped,
} from './dom.ts'
import { loadModels } from './known-models.ts'
import type { Session, Tab } from './types.ts'

type Channel = ListedChannel & { learned: string[] }
type Model = Omit<ListedModel, 'channels'> & { channels: Channel[] }
/** What a client sees of a model. */
type OwnModel = Omit<ListedModel, 'channels' | 'aliases' | 'groups'> & {
  protocols: string[]
  refused: string[]
}
type Learned = {
  channel: string
  model: string
  field: string
  shape: string[]
  secondsLeft: number
}
type State = {
  channels: { name: string; breaker: 'closed' | 'open' | 'probing'; lastError?: string }[]
}

const refreshMs = 5000

/**
 * Models and channels, with their circuit breakers, a check of each, and refused fields. A client
 * sees the models of its key.
 */
export function modelsTab({ role }: Session): Tab {
  const channels = h('div')
  const models = h('div', { className: 'dense' })
  const result = h('div', { attributes: { role: 'status' } })
  const faults = h('div')
  const isOperator = role === 'operator'

  const showFault = (error: unknown) => replace(faults, fault(messageOf(error)))
  const refused = refusedFields(showFault)

  async function loadChannels() {
    const state = await call<State>('console/api/state')
    replace(channels, channelTable(state))
  }

  async function loadOwnModels() {
    const ids = await loadModels()
    // A console without a configuration knows only what is listed.
    const { models: known } = await call<{ models: OwnModel[] }>('console/api/models').catch(
      () => ({
        models: [],
      }),
    )
    replace(
      models,
      ids.length === 0 ? empty('No model is listed for this key.') : ownModelTable(ids, known),
    )
  }

  async function loadAllModels() {
    const { models: all } = await call<{ models: Model[] }>('console/api/models')
    replace(
      models,
      all.length === 0
        ? empty('No models are configured: every id goes to all channels.')
        : modelTable(all, verifyButton),
    )
  }

  async function load() {
    try {
      if (!isOperator) return await loadOwnModels()
      await loadChannels()
      await refused.load()
      await loadAllModels()
    } catch (error) {
      showFault(error)
    }
  }

  function verifyButton({ name, model }: Channel): HTMLElement {
    const element = button('Verify', verify, 'small')
    element.setAttribute('aria-label', `Verify ${model} of ${name}`)
    const title = `${name}: ${model}`
    const path = `console/api/channels/${encodeURIComponent(name)}/verify`

    async function verify() {
      element.disabled = true
      replace(faults)
      replace(result, panel(title, [], empty('A few small requests are sent …')))
      try {
        const { checks } = await call<{ checks: Check[] }>(path, { body: { model } })
        replace(result, panel(title, [], checkTable(name, checks)))
      } catch (error) {
        replace(result, fault(messageOf(error)))
      } finally {
        element.disabled = false
      }
    }
    return element
  }

  return {
    id: 'models',
    title: 'Models',
    element: h(
      'div',
      { className: 'stack' },
      faults,
      isOperator && panel('Channels', [], channels),
      panel('Models', [], models),
      isOperator && panel('Refused fields', [], refused.element),
      result,
    ),
    show() {
      void load()
      if (!isOperator) return undefined
      const refresh = () => Promise.all([loadChannels(), refused.load()])
      const timer = setInterval(() => void refresh().catch(() => {}), refreshMs)
      return () => clearInterval(timer)
    },
  }
}

/** The fields that are left out of requests, each with a button to forget that. */
function refusedFields(showFault: (error: unknown) => void) {
  const element = h('div')

  async function load() {
    const { learned } = await call<{ learned: Learned[] }>('console/api/learned')
    replace(
      element,
      learned.length === 0
        ? empty('No field is left out: no upstream has refused one lately.')
        : learnedTable(learned, forgetButton),
    )
  }

  function forgetButton({ channel, model, field }: Learned): HTMLElement {
    const path = `console/api/learned${queryOf({ channel, model, field })}`
    const forget = () => call(path, { method: 'DELETE' }).then(load).catch(showFault)
    const element = button('Forget', forget, 'small')
    element.setAttribute('aria-label', `Forget ${field} of ${model} at ${channel}`)
    return element
  }

  return { element, load }
}

const breakerChips = {
  closed: () => chip('well', 'closed: gets requests'),
  probing: () => chip('approximated', 'probing'),
  open: () => chip('dropped', 'open: gets no requests'),
}

const channelTable = ({ channels }: State): HTMLElement =>
  table(
    'Channels',
    ['Channel', 'Circuit breaker', 'Last error'],
    channels.map(({ name, breaker, lastError }) => [
      name,
      breakerChips[breaker](),
      wrapped(lastError ?? 'none'),
    ]),
  )

const learnedTable = (
  all: readonly Learned[],
  forgetButton: (one: Learned) => HTMLElement,
): HTMLElement =>
  table(
    'Refused fields',
    ['Channel', 'Upstream model', 'Field', 'Left out of requests with', 'Minutes left', ''],
    all.map(one => [
      one.channel,
      one.model,
      one.field,
      wrapped(one.shape.join(', ')),
      Math.ceil(one.secondsLeft / 60),
      forgetButton(one),
    ]),
  )

const limitHeads = ['Context', 'Output', 'Streaming']

const limitCells = ({
  contextTokens,
  maxOutputTokens,
  streaming,
}: Pick<ListedModel, 'contextTokens' | 'maxOutputTokens' | 'streaming'>): Cell[] => [
  numberOf(contextTokens),
  numberOf(maxOutputTokens),
  streaming === undefined || streaming === 'both' ? 'yes' : streaming,
]

/** A column of limits has numbers, also where none is known. */
const numberOf = (limit: number | undefined) => ({ number: limit?.toLocaleString('en') ?? '–' })

/** A row for each channel of a model. */
function modelTable(
  all: readonly Model[],
  verifyButton: (channel: Channel) => HTMLElement,
): HTMLElement {
  const rows = all.flatMap(model =>
    model.channels.map((channel): Cell[] => {
      const { id, aliases, groups = [] } = model
      const { name, model: served, price, protocols = [], refused = [], learned } = channel
      return [
        h('span', { className: 'named' }, id, aliases.length > 0 && quiet(aliases.join(', '))),
        h('span', { className: 'named' }, name, served !== id && quiet(served)),
        listOf(protocols),
        ...limitCells(model),
        listOf([...refused, ...learned.map(field => `${field} (learned)`)]),
        listOf(groups),
        price ? `${price.input} in, ${price.output} out` : null,
        served.includes('*') ? null : verifyButton(channel),
      ]
    }),
  )
  const heads = [
    'Id',
    'Channel',
    'Protocols',
    ...limitHeads,
    'Left out',
    'Groups',
    'Dollars per million tokens',
    'Check',
  ]
  return table('Models', heads, rows)
}

const quiet = (text: string) => h('code', { textContent: text })
const listOf = (words: readonly string[]) =>
  words.length === 0 ? null : wrapped([...new Set(words)].join(', '))

/** A listed id is one of the configuration, or matches the longest pattern of it. */
function ownModelTable(ids: readonly string[], known: readonly OwnModel[]): HTMLElement {
  const fitting = (id: string) =>
    known
      .filter(one => one.id === id || (one.id.endsWith('*') && id.startsWith(one.id.slice(0, -1))))
      .sort((one, other) => other.id.length - one.id.length)[0]
  const rows = ids.map((id): Cell[] => {
    const model = fitting(id)
    if (!model) return [id, null, numberOf(undefined), numberOf(undefined), null, null]
    return [id, listOf(model.protocols), ...limitCells(model), listOf(model.refused)]
  })
  return table('Models', ['Id', 'Passed on unchanged', ...limitHeads, 'Left out'], rows)
}
