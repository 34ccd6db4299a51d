// The gateway in Express, behind the login of the application.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import express from 'express'
import { gateway, type UsageRecord } from 'wireglot/connect'

type Authenticated = express.Request & { user?: { name: string } }

async function main(): Promise<void> {
  const records: UsageRecord[] = []
  const app = express()
  app.use((request: Authenticated, _response, next) => {
    if (request.headers.authorization === 'Bearer from-my-login') request.user = { name: 'alice' }
    next()
  })
  const models = gateway<Authenticated>(
    { channels: [{ name: 'demo', embedded: 'demo' }] },
    {
      authenticate: (_credential, { raw }) => raw.user ?? null,
      onUsage(record) {
        records.push(record)
      },
      logger: false,
    },
  )
  app.use(models)
  app.get('/hello', (_request, response) => void response.send('the application'))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  assert.ok(typeof address === 'object' && address)
  const base = `http://127.0.0.1:${address.port}`

  const ask = (authorization: string) =>
    fetch(`${base}/v1/messages`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'demo',
        max_tokens: 100,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
  assert.equal((await ask('Bearer wrong')).status, 401)
  const result = await ask('Bearer from-my-login')
  assert.equal(result.status, 200)
  assert.match(await result.text(), /Hello! You said: Hello/)
  assert.equal(await (await fetch(`${base}/hello`)).text(), 'the application')
  assert.equal(records.at(-1)?.key, 'alice')

  await models.close()
  server.closeAllConnections()
  server.close()
  console.log('express: ok')
}

void main()
