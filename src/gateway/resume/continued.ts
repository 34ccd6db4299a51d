import type { Message } from '../../canonical/message.ts'
import { takesPrefill } from '../../models/claude.ts'
import type { ReadBody } from '../body/body.ts'
import { changedRequest } from '../body/changed-request.ts'
import type { RequestContext } from '../request-context.ts'
import type { Deployment } from '../upstream/catalog.ts'

/** What a model is told that cannot continue its own text. */
const instruction =
  'The connection broke in the middle of your last message. Continue it: write only what comes after its last character, without an introduction, and repeat nothing of it.'

/**
 * The request that continues a response whose stream broke after this text. Models that take the
 * beginning of their answer get it as that, others as their last message, with an instruction.
 */
export function continuedBody(
  asked: Pick<RequestContext, 'protocol' | 'body' | 'request'>,
  text: string,
  { model }: Pick<Deployment, 'model'>,
): ReadBody {
  const begun = text.trimEnd()
  if (begun === '') return asked.body
  const more: Message[] = [message('assistant', begun)]
  if (!takesPrefill(model)) more.push(message('user', instruction))
  return changedRequest(asked, request => ({
    ...request,
    messages: [...request.messages, ...more],
  }))
}

const message = (role: Message['role'], text: string): Message => ({
  role,
  origin: 'message',
  parts: [{ type: 'text', text }],
})
