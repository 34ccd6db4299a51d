import { collectStream, normalizeResponse } from '../src/api.ts'
import { textOf, toolCallsOf } from '../src/canonical/read.ts'
import type { CanonicalRequest } from '../src/canonical/request.ts'
import { type ProtocolName, protocols } from '../src/protocols/index.ts'
import { expected } from './fixtures.ts'

/** What is timed has to be right first: each of these gives what is wrong, or nothing. */

type Kind = keyof typeof expected

export async function wrongInStream(
  text: string,
  protocol: ProtocolName,
  kind: Kind,
): Promise<string | undefined> {
  const { body } = await collectStream([text], { protocol })
  return wrongInResponse(body, protocol, kind)
}

export function wrongInResponse(
  body: unknown,
  protocol: ProtocolName,
  kind: Kind,
): string | undefined {
  const got = normalizeResponse(body, { protocol })
  const calls = (response: typeof got) =>
    JSON.stringify(toolCallsOf(response).map(({ name, input }) => [name, input]))
  if (textOf(got) !== textOf(expected[kind])) return 'the text is not the same'
  return calls(got) === calls(expected[kind]) ? undefined : 'the calls are not the same'
}

export function wrongInRequest(
  received: unknown,
  from: ProtocolName,
  body: unknown,
  to: ProtocolName,
): string | undefined {
  const [before, after] = [
    contentOf(protocols[from].decodeRequest(received).value),
    contentOf(protocols[to].decodeRequest(body).value),
  ]
  if (before.texts !== after.texts) return 'the texts are not the same'
  return before.rest === after.rest ? undefined : 'calls, results or tools are not the same'
}

/** All texts, and all calls, results and tools of a request, in order. */
function contentOf({ messages, tools }: CanonicalRequest): { texts: string; rest: string } {
  const parts = messages.flatMap(({ parts }) => parts)
  const texts = parts.flatMap(part => (part.type === 'text' ? [part.text] : []))
  const others = parts.flatMap(part => {
    if (part.type === 'text') return []
    if (part.type === 'tool-call') return [[part.name, JSON.parse(part.input)]]
    return [
      part.type === 'tool-result' ? part.content.map(one => 'text' in one && one.text) : part.type,
    ]
  })
  return {
    texts: JSON.stringify(texts),
    rest: JSON.stringify([others, tools?.map(tool => 'name' in tool && tool.name)]),
  }
}
