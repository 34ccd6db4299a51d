// The package as others install it: every door opens in both module kinds, and what is behind it works.
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { build } from 'esbuild'

const require = createRequire(import.meta.url)
const doors = [
  'wireglot',
  'wireglot/connect',
  'wireglot/fetch',
  'wireglot/gateway',
  'wireglot/verify',
  'wireglot/testing',
  'wireglot/schemas',
  'wireglot/notes',
  'wireglot/between',
  'wireglot/clients',
  'wireglot/protocols',
  'wireglot/records',
  'wireglot/console',
  'wireglot/operations',
  'wireglot/cassettes',
  'wireglot/models',
]

for (const load of [name => import(name), async name => require(name)]) {
  const [
    library,
    connect,
    fetchHost,
    gateway,
    verify,
    testing,
    schemas,
    ,
    between,
    clients,
    registry,
  ] = await Promise.all(doors.map(load))
  const { body } = library.translateRequest(
    { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
    { from: 'chat-completions', to: 'messages' },
  )
  assert.equal(body.messages[0].content, 'hi')
  for (const [name, protocol] of Object.entries(registry.protocols)) {
    const alone = await load(`wireglot/protocols/${name}`)
    assert.ok(
      Object.values(alone).some(exported => exported?.name === protocol.name),
      `${name} is behind its own door`,
    )
  }
  const { chatCompletions } = await load('wireglot/protocols/chat-completions/client')
  const { messages } = await load('wireglot/protocols/messages/upstream')
  const pair = between.translateBetween(chatCompletions, messages)
  assert.deepEqual(
    pair.translateRequest({ model: 'm', messages: [{ role: 'user', content: 'hi' }] }).body,
    body,
    'one pair is the same as all',
  )
  assert.equal(
    clients.addressFor('https://api.example/v1', {
      protocol: 'messages',
      appends: 'version-and-endpoint',
    }),
    'https://api.example',
  )
  assert.equal(typeof connect.gateway, 'function')
  assert.equal(typeof fetchHost.fetchGateway, 'function')
  assert.equal(typeof gateway.createGateway, 'function')
  const demo = fetchHost.fetchGateway({
    auth: 'none',
    channels: [{ name: 'demo', embedded: 'demo' }],
  })
  assert.equal((await demo(new Request('http://packed.test/v1/models'))).status, 200)
  assert.deepEqual(testing.strictOf('messages').checkRequest({ model: 'm' }).length > 0, true)
  const { z } = await load('zod')
  const Call = z.object({ tenant: z.string(), body: schemas.MessagesRequest })
  assert.equal(
    Call.safeParse({ tenant: 't', body }).success,
    true,
    'the schemas work inside of those of the installed zod',
  )
  assert.deepEqual(
    Call.safeParse({ tenant: 't', body: { ...body, messages: 3 } }).error.issues[0].path,
    ['body', 'messages'],
  )
  assert.equal((await verify.verify({ base: 'no-address', model: 'm' })).ok, false)
}

const { metafile } = await build({
  entryPoints: ['dist/index.js'],
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  logLevel: 'error',
})
const imported = Object.values(metafile.outputs).flatMap(({ imports }) =>
  imports.map(({ path }) => path),
)
assert.deepEqual(imported, [], 'the root import needs nothing of Node')
assert.ok(
  !Object.keys(metafile.inputs).some(file => file.includes('node_modules/zod/')),
  'the root import holds what it needs of zod, which takes longer to load as a package than all of it',
)

const uncaught = spawnSync(
  process.execPath,
  [
    '--input-type=module',
    '-e',
    "import('wireglot').then(({ translateRequest }) => translateRequest(3, { from: 'messages', to: 'responses' }))",
  ],
  {
    encoding: 'utf8',
  },
).stderr
assert.match(uncaught, /^TranslationError: messages: /m)
assert.ok(
  uncaught.length < 2_000,
  'an uncaught error prints a line of the source, not the whole package',
)

const { wireglot: program } = JSON.parse(readFileSync('package.json', 'utf8')).bin
const help = execFileSync(process.execPath, [program, '--help'], { encoding: 'utf8' })
assert.match(help, /translate/)

const served = spawn(process.execPath, [program, 'serve', '--port', '0'], {
  stdio: ['ignore', 'pipe', 'inherit'],
})
const ended = once(served, 'exit')
try {
  let printed = ''
  const address = await new Promise(resolve =>
    served.stdout.on('data', chunk => {
      printed += chunk
      const [, url] = /listening on (\S+)/.exec(printed) ?? []
      if (url) resolve(url)
    }),
  )
  const request = {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'hi' }] }),
  }
  const { choices } = await (await fetch(`${address}/v1/chat/completions`, request)).json()
  assert.ok(choices[0].message.content, 'the program of npm start responds')
  assert.match(await (await fetch(`${address}/console`)).text(), /<title>wireglot console/)
} finally {
  served.kill('SIGTERM')
}
assert.deepEqual(await ended, [0, null], 'and ends on a signal')
