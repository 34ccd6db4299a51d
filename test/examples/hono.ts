import { Hono } from 'hono'
import { fetchGateway } from 'wireglot/fetch'

const gateway = fetchGateway(
  { auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] },
  {},
  { basePath: '/llm' },
)

const app = new Hono()
app.get('/', context => context.text('the application'))
app.all('/llm/*', context => gateway(context.req.raw))

export default app
