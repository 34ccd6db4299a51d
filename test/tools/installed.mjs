// The tarball as others get it: what is in it, and that it installs into empty projects of every kind and works there.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const tarball = resolve(process.argv[2])
const root = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'wireglot-installed-'))
const run = (cwd, command, ...args) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
const doors = {
  '': 'translateRequest',
  '/between': 'translateBetween',
  '/bridge': 'createBridge',
  '/clients': 'addressFor',
  '/models': 'knownModel',
  '/protocols': 'protocols.messages.decodeRequest',
  '/connect': 'gateway',
  '/fetch': 'fetchGateway',
  '/gateway': 'createGateway',
  '/verify': 'verify',
  '/testing': 'strictOf',
  '/schemas': 'MessagesRequest.safeParse',
  '/records': 'openRecords',
  '/cassettes': 'readCassettes',
  '/notes': "noteCatalog['field.unknown'].meaning.at",
}

try {
  const files = run(folder, 'tar', '-tzf', tarball).trim().split('\n')
  // The pages show the examples and two images.
  const strangers = files.filter(
    file =>
      !/^package\/(package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md|docs\/.+\.md|docs\/config\.schema\.json|docs\/llms\.txt|docs\/console\.png|docs\/deploy\/[\w.]+|test\/examples\/(?:[\w-]+\.ts|cassettes\/[\w-]+\.json)|bench\/\w+\.svg|dist\/.+\.(js|cjs|d\.ts|d\.cts)(\.map)?)$/.test(
        file,
      ),
  )
  assert.deepEqual(strangers, [], 'only what users need is in the package')
  for (const file of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md'])
    assert.ok(files.includes(`package/${file}`), `${file} is in the package`)

  // One install is enough: every kind of project finds it from its own folder. The packages of `npm ci` are still there.
  writeFileSync(join(folder, 'package.json'), '{}')
  run(
    folder,
    'npm',
    'install',
    '--prefer-offline',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    tarball,
    fastCheck(),
  )
  const installed = JSON.parse(
    readFileSync(join(folder, 'node_modules/wireglot/package.json'), 'utf8'),
  )
  assert.match(
    run(folder, process.execPath, join('node_modules/wireglot', installed.bin.wireglot), '--help'),
    /translate/,
  )

  const uses = load => [
    ...Object.entries(doors).map(
      ([door, name]) =>
        `if (typeof (${load(`wireglot${door}`)}).${name} !== 'function') throw new Error('wireglot${door}')`,
    ),
    `if (!('messages' in ${load('wireglot/protocols/messages')})) throw new Error('wireglot/protocols/messages')`,
  ]
  write('esm/package.json', '{ "type": "module" }')
  write('esm/index.js', uses(door => `await import('${door}')`).join('\n'))
  write('cjs/package.json', '{}')
  write('cjs/index.js', uses(door => `require('${door}')`).join('\n'))
  run(join(folder, 'esm'), process.execPath, 'index.js')
  // As Jest and older releases of Node load it: no ES module may be behind a `require`.
  run(join(folder, 'cjs'), process.execPath, '--no-experimental-require-module', 'index.js')

  write(
    'cjs/doors.test.js',
    `test('every door opens', () => {\n${uses(door => `require('${door}')`).join('\n')}\n})`,
  )
  run(
    join(folder, 'cjs'),
    process.execPath,
    createRequire(import.meta.url).resolve('jest/bin/jest'),
    '--silent',
  )

  const typed = `import { translateRequest, type Note, type TranslateOptions } from 'wireglot'
import { gateway } from 'wireglot/connect'
import { fetchGateway } from 'wireglot/fetch'
import { createGateway, type GatewayConfig } from 'wireglot/gateway'
import { messages } from 'wireglot/protocols/messages'
import { MessagesRequest } from 'wireglot/schemas'
import { requestOf, strictOf } from 'wireglot/testing'
import { verify } from 'wireglot/verify'
import { z } from 'zod'
const options: TranslateOptions = { from: 'chat-completions', to: 'messages' }
export const notes: Note[] = translateRequest({}, options).notes
export const config: GatewayConfig = { channels: [{ name: 'demo', embedded: 'demo' }] }
export const all = [gateway(config), fetchGateway(config), createGateway(config), messages.name, requestOf('messages'), strictOf('messages'), verify]
const Call = z.object({ tenant: z.string(), body: MessagesRequest })
export const turns = (call: z.infer<typeof Call>, also: MessagesRequest) => call.body.messages.length + also.messages.length
// @ts-expect-error: the limit is a number
export const wrong: MessagesRequest = { messages: [], max_tokens: 'many' }
// @ts-expect-error: no protocol of this name
translateRequest({}, { from: 'morse', to: 'messages' })
`
  // Runtimes without Node have not its types either: all but middleware does without.
  const nodeless = { types: [], skipLibCheck: false }
  const resolutions = [
    ['node16', 'module', { module: 'node16', moduleResolution: 'node16' }],
    ['node16', 'commonjs', { module: 'node16', moduleResolution: 'node16' }],
    ['bundler', 'module', { module: 'esnext', moduleResolution: 'bundler' }],
    ['node10', 'commonjs', { module: 'commonjs', moduleResolution: 'node10' }],
    ['node16', 'module', { module: 'node16', moduleResolution: 'node16', ...nodeless }],
    ['bundler', 'module', { module: 'esnext', moduleResolution: 'bundler', ...nodeless }],
  ]
  for (const [name, type, options] of resolutions) {
    const project = `typed-${name}-${type}${options.types ? '-nodeless' : ''}`
    write(`${project}/package.json`, JSON.stringify({ type }))
    write(
      `${project}/index.ts`,
      options.types
        ? typed.replace(/import .+ 'wireglot\/connect'\n/, '').replace('gateway(config), ', '')
        : typed,
    )
    const compilerOptions = {
      strict: true,
      exactOptionalPropertyTypes: true,
      target: 'es2022',
      lib: ['es2023', 'dom', 'dom.asynciterable'],
      noEmit: true,
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
      skipLibCheck: true,
      ...options,
    }
    write(`${project}/tsconfig.json`, JSON.stringify({ compilerOptions, files: ['index.ts'] }))
    run(
      join(folder, project),
      process.execPath,
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      '.',
    )
  }
  // The examples of the package, as they are in it, against the package itself.
  const examples = files
    .map(file => /^package\/test\/examples\/(.+\.ts)$/.exec(file)?.[1])
    .filter(Boolean)
  assert.ok(examples.length > 5, 'the examples are in the package')
  for (const file of examples)
    write(
      `examples/${file}`,
      readFileSync(join(folder, 'node_modules/wireglot/test/examples', file), 'utf8'),
    )
  write('examples/package.json', '{ "type": "module" }')
  for (const name of [
    '@ai-sdk',
    '@anthropic-ai',
    '@google',
    '@langchain',
    '@types',
    'ai',
    'connect',
    'express',
    'express4',
    'hono',
    'openai',
    'vitest',
  ]) {
    mkdirSync(join(folder, 'examples/node_modules'), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), join(folder, 'examples/node_modules', name))
  }
  const compilerOptions = {
    strict: true,
    target: 'es2023',
    module: 'nodenext',
    lib: ['es2023', 'dom', 'dom.asynciterable'],
    types: ['node'],
    skipLibCheck: true,
  }
  write(
    'examples/tsconfig.json',
    JSON.stringify({ compilerOptions: { ...compilerOptions, outDir: 'out' }, include: ['*.ts'] }),
  )
  run(
    join(folder, 'examples'),
    process.execPath,
    join(root, 'node_modules/typescript/bin/tsc'),
    '-p',
    '.',
  )
  assert.match(
    run(join(folder, 'examples'), process.execPath, 'out/translate.js'),
    /max_tokens: 32000/,
    'an example of the package runs',
  )
  // The sample applications, in both module kinds, with the strictest types.
  const apps = readdirSync(join(root, 'test/apps'))
  for (const type of ['module', 'commonjs']) {
    const project = `apps-${type}`
    write(`${project}/package.json`, JSON.stringify({ type }))
    for (const file of apps)
      write(`${project}/${file}`, readFileSync(join(root, 'test/apps', file), 'utf8'))
    mkdirSync(join(folder, project, 'node_modules'))
    for (const name of ['@types', 'express', 'openai'])
      symlinkSync(join(root, 'node_modules', name), join(folder, project, 'node_modules', name))
    const strictest = {
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noPropertyAccessFromIndexSignature: true,
      noImplicitReturns: true,
    }
    write(
      `${project}/tsconfig.json`,
      JSON.stringify({
        compilerOptions: { ...compilerOptions, ...strictest, outDir: 'out' },
        include: ['*.ts'],
      }),
    )
    run(
      join(folder, project),
      process.execPath,
      join(root, 'node_modules/typescript/bin/tsc'),
      '-p',
      '.',
    )
    for (const file of apps) {
      const printed = run(
        join(folder, project),
        process.execPath,
        '--no-experimental-require-module',
        join('out', file.replace('.ts', '.js')),
      )
      assert.match(printed, /: ok\n$/, `${file} runs as ${type}`)
    }
  }
  // The worker as a bundle, with nothing of Node.
  const bundle = join(folder, 'worker.mjs')
  run(
    folder,
    join(root, 'node_modules/.bin/esbuild'),
    'apps-module/out/worker.js',
    '--bundle',
    '--minify',
    '--format=esm',
    '--platform=browser',
    '--log-level=error',
    `--outfile=${bundle}`,
  )
  assert.match(run(folder, process.execPath, bundle), /^worker: ok\n$/)
  assert.ok(
    !/\bfrom"node:|require\("node:/.test(readFileSync(bundle, 'utf8')),
    'the worker needs nothing of Node',
  )
  console.log(
    `installed: ${files.length} files; ${apps.length} applications; ESM, CJS, ${resolutions.length} TypeScript projects and ${examples.length} examples work`,
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function write(file, text) {
  mkdirSync(dirname(join(folder, file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

/** The optional peer, in the version that is tested here. */
function fastCheck() {
  return `fast-check@${JSON.parse(readFileSync(join(root, 'node_modules/fast-check/package.json'), 'utf8')).version}`
}
