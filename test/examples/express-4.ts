// @ts-expect-error: here is a second version of Express beside the newer one; elsewhere it is 'express'
import express from 'express4'
import { gateway } from 'wireglot/connect'

const app = express()
app.use('/llm', gateway({ channels: [{ name: 'demo', embedded: 'demo' }] })) // clients use http://127.0.0.1:4000/llm
app.listen(Number(process.env['PORT'] ?? 4000), '127.0.0.1')
