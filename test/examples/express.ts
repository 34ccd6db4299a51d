import express from 'express'
import { gateway } from 'wireglot/connect'

const apiKey = process.env['ANTHROPIC_API_KEY'] // Without it, the demo model responds.
const app = express().use(
  gateway(apiKey ? { auth: 'none', channels: [{ vendor: 'anthropic', apiKey }] } : undefined),
)
const port = Number(process.env['PORT'] ?? 4000)
app.listen(port, '127.0.0.1', error => console.log(error ?? `listening on port ${port}`))
