import type { Ask, Service, Trace } from './ask.ts'
import { openFirst } from './attempts.ts'
import { readText } from './call.ts'
import { refusalOf, refuse } from './error.ts'
import { estimateTokens } from './estimate.ts'
import { type GatewayAnswer, jsonAnswer } from './request.ts'

/** How many tokens a request has: told by an upstream that can, else an estimate that says so. @throws Refusal */
export async function countTokens(service: Service, ask: Ask, trace: Trace): Promise<GatewayAnswer> {
  const { protocol, candidates, body } = ask
  const able = candidates.filter(
    ({ protocol: spoken, channel, model }) =>
      spoken === protocol && !channel.embedded && spoken.address.target({ operation: 'count-tokens', model, stream: false }),
  )
  if (able.length > 0)
    try {
      const opened = await openFirst(service, { ...ask, candidates: able }, trace).opened
      return { status: 200, headers: { 'content-type': 'application/json' }, body: await readText(opened) }
    } catch (error) {
      const { status } = refusalOf(error, 'upstream').error
      // Many compatible upstreams lack just this call.
      if (status !== 404 && status !== 405 && status !== 501) throw error
    }
  if (!protocol.address.tokenCount) throw refuse(404, 'not_found', 'this protocol counts no tokens')
  return jsonAnswer(protocol.address.tokenCount(estimateTokens(body.value)), { 'wireglot-estimate': 'true' })
}
