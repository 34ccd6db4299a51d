import { codeView, noteList, parsed, type WritableView } from './code.ts'
import { type Child, chip, empty, h } from './dom.ts'
import type { SeenExchange, Session } from './types.ts'

type SentAttempt = SeenExchange['attempts'][number]

/** What an exchange sent to upstreams, with the notes of its request. `body`: the client's. */
export function sentView(
  { attempts, requestNotes }: SeenExchange,
  body: string,
  role: Session['role'],
): Child[] {
  const own = codeView('Your request')
  own.json(parsed(body))
  const views = attempts.map(attempt => {
    const view = codeView(`Request to ${attempt.channel}`)
    view.jsonOrText(attempt.body)
    return { attempt, view }
  })
  const last = views.at(-1)?.view
  const isOfOwn = ({ kind }: { kind: string }) => kind !== 'synthesized'
  return [
    attempts.length === 0 &&
      empty(
        role === 'operator'
          ? 'Nothing was sent to an upstream.'
          : 'Only the operator sees requests to upstreams.',
      ),
    requestNotes.length > 0 &&
      noteList('Notes of the request', requestNotes, note => (isOfOwn(note) ? own : last)),
    ...views.map(({ attempt, view }) => attemptView(attempt, view)),
    requestNotes.some(isOfOwn) && [
      h('h3', { className: 'rule', textContent: 'Your request' }),
      own.element,
    ],
  ]
}

function attemptView(
  { channel, model, protocol, ms, failure, isCut }: SentAttempt,
  view: WritableView,
): Child[] {
  const result = failure ? chip('dropped', String(failure.status)) : chip('well', 'done')
  const heading = `${channel} · ${protocol} · ${model} `
  return [
    h('h3', { className: 'rule' }, heading, result, chip('', `${ms} ms`)),
    failure &&
      h('p', { className: 'fault', textContent: failure.upstreamMessage ?? failure.message }),
    isCut && empty('The request is longer than what is kept.'),
    view.element,
  ]
}
