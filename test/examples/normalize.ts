// node normalize.ts < responses.jsonl: one response per line, in any protocol → one line in one
// shape.
import { createInterface } from 'node:readline'
import {
  detectProtocol,
  normalizeResponse,
  reasoningOf,
  textOf,
  toolCallsOf,
  usageOf,
} from 'wireglot'

for await (const line of createInterface({ input: process.stdin })) {
  const body: unknown = JSON.parse(line)
  const { protocol, reasons } = detectProtocol(body)
  if (!protocol)
    throw new Error(`no response of a known protocol; its signs: ${reasons.join(', ') || 'none'}`)
  const response = normalizeResponse(body, { protocol })
  console.log(
    JSON.stringify({
      protocol,
      text: textOf(response),
      reasoning: reasoningOf(response),
      calls: toolCallsOf(response).map(({ name, input }) => ({ name, input })),
      finish: response.candidates[0]?.finish?.reason,
      usage: usageOf(response),
    }),
  )
}
