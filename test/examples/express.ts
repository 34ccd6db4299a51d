import express from 'express'
import { gateway } from 'wireglot/connect'

const apiKey = process.env['ANTHROPIC_API_KEY'] // Without it, the demo model responds.
const app = express()
app.use(
  gateway({
    auth: 'none',
    channels: [apiKey ? { vendor: 'anthropic', apiKey } : { name: 'demo', embedded: 'demo' }],
  }),
)
app.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1')
