import express from 'express'
import { gateway } from 'wireglot/connect'

const app = express()
app.use(
  gateway({
    auth: 'none', // or keys: [{ name: 'alice', key: 'env:ALICE_KEY' }]
    channels: [
      { name: 'anthropic', protocols: ['messages'], baseUrl: 'https://api.anthropic.com', apiKey: 'env:ANTHROPIC_API_KEY' },
      { name: 'demo', embedded: 'demo' },
    ],
    models: [
      { id: 'sonnet', channels: [{ name: 'anthropic', model: 'claude-sonnet-5' }] },
      { id: 'demo', channels: [{ name: 'demo' }] },
    ],
  }),
)
app.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1')
