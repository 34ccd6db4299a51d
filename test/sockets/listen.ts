import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ConnectGateway } from '../../src/hosts/connect.ts'
import { after } from '../gateway/support.ts'
import { serverOptions } from '../support/server-options.ts'

/** A server with a gateway that also gets the upgrades. Returns its URL. */
export async function listenUpgrades(handler: ConnectGateway): Promise<string> {
  const server = createServer(serverOptions, handler)
    .on('upgrade', handler.upgrade)
    .listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  after(async () => {
    await handler.close(200)
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
