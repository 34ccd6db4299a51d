import { expect, test } from 'vitest'
import { createConsole } from '../../src/console/index.ts'
import type { GatewayConfig } from '../../src/gateway/gateway.ts'
import { createServer } from '../../src/hosts/connect.ts'
import { fetchGateway } from '../../src/hosts/fetch.ts'
import { createOperations } from '../../src/operations/index.ts'
import { openRecords } from '../../src/records/index.ts'

test('an option that does not exist is refused, and so is a path that would match nothing', () => {
  const config: GatewayConfig = { auth: 'none', channels: [{ name: 'demo', embedded: 'demo' }] }
  const withOptions = (options: unknown) => () => fetchGateway(config, {}, options as never)
  expect(withOptions({ basepath: '/llm' })).toThrow(
    /at options\.basepath: there is no such option; there are basePath; did you mean basePath\?$/,
  )
  expect(withOptions('/llm')).toThrow('at options: expected an object with basePath')
  expect(withOptions({ basePath: 'llm' })).toThrow('at options.basePath: expected a path')
  expect(() => createServer(() => {}, { maxConcurrentStream: 3 } as never)).toThrow(
    'did you mean maxConcurrentStreams?',
  )
  expect(() => createOperations({ state: () => ({}), logs: 'json' } as never)).toThrow(
    'did you mean log?',
  )
  expect(() => createConsole({ gateway: () => ({}), admin_key: 'x' } as never)).toThrow(
    'did you mean adminKey?',
  )
})

test('an option of records that does not exist is refused', async () => {
  await expect(openRecords({ file: ':memory:' }, { keepDay: 3 } as never)).rejects.toThrow(
    'did you mean keepDays?',
  )
})
