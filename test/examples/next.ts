// app/llm/[...path]/route.ts, or any place that wants (Request) → Promise<Response>: Bun, Deno,
// workers.
import { fetchGateway } from 'wireglot/fetch'

const handler = fetchGateway(
  { auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] },
  {},
  { basePath: '/llm' },
)

export { handler as DELETE, handler as GET, handler as HEAD, handler as POST }
