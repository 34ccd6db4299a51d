// node normalize.ts < responses.jsonl: one response per line, in any protocol → one line in one
// shape.
import { createInterface } from 'node:readline'
import { normalize, reasoningOf, textOf, toolCallsOf, usageOf } from 'wireglot'

for await (const line of createInterface({ input: process.stdin })) {
  const { protocol, response } = await normalize(line)
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
