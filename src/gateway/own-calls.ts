import type { Ask, Service, Trace } from './ask.ts'
import { openFirst } from './attempts.ts'
import { readText } from './call.ts'
import { refusalOf, refuse } from './error.ts'
import { estimateTokens } from './estimate.ts'
import { recall } from './recall.ts'
import { type GatewayAnswer, jsonAnswer } from './request.ts'

/** Calls about a conversation that only a provider of the caller's own protocol can answer; nothing of them is translated. */

/** How many tokens a request has: told by an upstream that can, else an estimate that says so. @throws Refusal */
export async function countTokens(service: Service, ask: Ask, trace: Trace): Promise<GatewayAnswer> {
  const { protocol, body } = ask
  const candidates = able(ask)
  if (candidates.length > 0)
    try {
      return await passOn(service, { ...ask, candidates }, trace)
    } catch (error) {
      const { status } = refusalOf(error, 'upstream').error
      // Many compatible upstreams lack just this call.
      if (status !== 404 && status !== 405 && status !== 501) throw error
    }
  if (!protocol.address.tokenCount) throw refuse(404, 'not_found', 'this protocol counts no tokens')
  return jsonAnswer(protocol.address.tokenCount(estimateTokens(body.value)), { 'wireglot-estimate': 'true' })
}

/** A conversation in a shorter form, which its provider alone can read. @throws Refusal */
export async function compact(service: Service, ask: Ask, trace: Trace): Promise<GatewayAnswer> {
  const candidates = able(ask)
  if (candidates.length === 0)
    throw refuse(404, 'not_found', 'only a provider of this protocol can compact a conversation, and no channel of this model is one: shorten it by yourself')
  return passOn(service, await recall(service, { ...ask, candidates }, trace.identity ?? {}), trace)
}

const able = ({ protocol, operation, candidates }: Ask) =>
  candidates.filter(
    ({ protocol: spoken, channel, model }) =>
      spoken === protocol && !channel.embedded && spoken.address.target({ operation, model, stream: false }) !== undefined,
  )

async function passOn(service: Service, ask: Ask, trace: Trace): Promise<GatewayAnswer> {
  const opened = await openFirst(service, ask, trace).opened
  return { status: 200, headers: { 'content-type': 'application/json' }, body: await readText(opened) }
}
