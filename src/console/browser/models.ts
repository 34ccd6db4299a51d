import type { Check } from '../../verify/check.ts'
import { call, queryOf } from './calls.ts'
import { button, chip, empty, fault, h, messageOf, panel, replace, table } from './dom.ts'
import { loadModels } from './known-models.ts'
import type { Session, Tab } from './types.ts'

type Channel = { name: string; model: string; price?: { input: number; output: number } }
type Model = { id: string; aliases: string[]; channels: Channel[] }
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

const tones = { passed: 'well', warned: 'approximated', failed: 'dropped', skipped: '' }
const refreshMs = 5000

/**
 * Models and channels, with their circuit breakers, a check of each, and refused fields. A client
 * sees the models of its key.
 */
export function modelsTab({ role, canManageKeys }: Session): Tab {
  const channels = h('div')
  const models = h('div')
  const learned = h('div')
  const result = h('div', { attributes: { role: 'status' } })
  const faults = h('div')
  const isOperator = role === 'operator'

  async function loadChannels() {
    const state = await call<State>('console/api/state')
    replace(
      channels,
      table(
        'Channels',
        ['Channel', 'Circuit breaker', 'Last error'],
        state.channels.map(({ name, breaker, lastError }) => [
          name,
          chip(
            { closed: 'well', probing: 'approximated', open: 'dropped' }[breaker],
            { closed: 'closed: gets requests', probing: 'probing', open: 'open: gets no requests' }[
              breaker
            ],
          ),
          h('span', { className: 'wrap', textContent: lastError ?? 'none' }),
        ]),
      ),
    )
  }

  async function loadLearned() {
    const { learned: all } = await call<{ learned: Learned[] }>('console/api/learned')
    replace(
      learned,
      all.length === 0
        ? empty('No field is left out: no upstream has refused one lately.')
        : table(
            'Refused fields',
            ['Channel', 'Upstream model', 'Field', 'Left out of requests with', 'Minutes left', ''],
            all.map(one => [
              one.channel,
              one.model,
              one.field,
              h('span', { className: 'wrap', textContent: one.shape.join(', ') }),
              Math.ceil(one.secondsLeft / 60),
              forgetButton(one),
            ]),
          ),
    )
  }

  function forgetButton({ channel, model, field }: Learned): HTMLElement {
    const query = queryOf({ channel, model, field })
    const forget = () => call(`console/api/learned${query}`, { method: 'DELETE' }).then(loadLearned)
    const element = button(
      'Forget',
      () => forget().catch((error: unknown) => replace(faults, fault(messageOf(error)))),
      'small',
    )
    element.setAttribute('aria-label', `Forget ${field} of ${model} at ${channel}`)
    return element
  }

  async function load() {
    try {
      if (!isOperator) {
        const ids = await loadModels()
        replace(
          models,
          ids.length === 0
            ? empty('No model is listed for this key.')
            : table(
                'Models',
                ['Id'],
                ids.map(id => [id]),
              ),
        )
        return
      }
      await loadChannels()
      await loadLearned()
      // The admin API knows prices.
      const { models: all } = await call<{ models: Model[] }>(
        canManageKeys ? 'admin/models' : 'console/api/models',
      )
      replace(
        models,
        all.length === 0
          ? empty('No models are configured: every id goes to all channels.')
          : table(
              'Models',
              ['Id', 'Aliases', 'Channel', 'Upstream model', 'Dollars per million tokens', 'Check'],
              all.flatMap(({ id, aliases, channels: serving }) =>
                serving.map(channel => [
                  id,
                  aliases.join(', ') || null,
                  channel.name,
                  channel.model,
                  channel.price ? `${channel.price.input} in, ${channel.price.output} out` : null,
                  channel.model.includes('*') ? null : verifyButton(channel),
                ]),
              ),
            ),
      )
    } catch (error) {
      replace(faults, fault(messageOf(error)))
    }
  }

  function verifyButton({ name, model }: Channel): HTMLElement {
    const element = button(
      'Verify',
      async () => {
        element.disabled = true
        replace(faults)
        replace(result, panel(`${name}: ${model}`, [], empty('A few small requests are sent …')))
        try {
          const { checks } = await call<{ checks: Check[] }>(
            `console/api/channels/${encodeURIComponent(name)}/verify`,
            { body: { model } },
          )
          replace(
            result,
            panel(
              `${name}: ${model}`,
              [],
              table(
                `Check of ${name}`,
                ['Check', 'Scope', 'Result', 'What was found', 'What to do', 'ms'],
                checks.map(({ name: check, scope, result: outcome, detail, fix, ms }) => [
                  check,
                  scope,
                  chip(tones[outcome], outcome),
                  h('span', { className: 'wrap', textContent: detail }),
                  h('span', { className: 'wrap', textContent: fix ?? '' }),
                  ms,
                ]),
              ),
            ),
          )
        } catch (error) {
          replace(result, fault(messageOf(error)))
        } finally {
          element.disabled = false
        }
      },
      'small',
    )
    element.setAttribute('aria-label', `Verify ${model} of ${name}`)
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
      isOperator && panel('Refused fields', [], learned),
      result,
    ),
    show() {
      void load()
      if (!isOperator) return undefined
      const refresh = () => Promise.all([loadChannels(), loadLearned()])
      const timer = setInterval(() => void refresh().catch(() => {}), refreshMs)
      return () => clearInterval(timer)
    },
  }
}
