import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { expect, test } from 'vitest'
import { after, hosts, one, paths, post, requests, responses, wait } from './support.ts'

const start = hosts[0]?.[1] ?? expect.fail('no host')

// Servers of Python close it after 5 seconds, perhaps while a request is being sent, and do not say
// so before.
test('an idle connection without TLS is closed before its server does so', async () => {
  const server = createServer((request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(responses.messages))
  })
  // Without this, the response has the header `keep-alive`.
  server.keepAliveTimeout = 0
  const closed: Socket[] = []
  server.on('connection', (socket: Socket) => socket.on('end', () => closed.push(socket)))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const ask = await start(one(url, 'messages'))
  expect((await ask(paths.messages, post(requests.messages))).status).toBe(200)
  await wait(4900)
  expect(closed).toHaveLength(1)
})
